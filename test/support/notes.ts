import { forEngine, type PerEngine } from './engines.js'
import { isGenuine } from './security-engines.js'
import { numbers } from './security-sql.js'
import type { TestServer } from './test-server.js'

/**
 * A database for whole-path tests: a table with a column of every kind, with NULLs and long cells; rows of four tenants;
 * a view whose query waits for as long as a test holds the advisory lock `HOLD`, and one that is slow by itself.
 */
export const HOLD = 4711
/** SQL Server's table of one row that is held in the place of a lock with a number. */
export const LATCH = 'CREATE TABLE latch (id int PRIMARY KEY); INSERT INTO latch VALUES (1);'

export const NOTES_SETUP = `
CREATE TYPE mood AS ENUM ('calm', 'loud');
CREATE TABLE notes (
  id integer PRIMARY KEY,
  tenant text NOT NULL,
  title text,
  body text,
  amount numeric(12,2),
  big bigint,
  mood mood,
  active boolean,
  weight double precision,
  day date,
  moment timestamptz,
  plain timestamp,
  uid uuid,
  took interval,
  tags text[],
  attributes jsonb,
  raw bytea,
  secret text
);
INSERT INTO notes
SELECT n, (ARRAY['acme', 'bolt', 'cone', 'dune'])[1 + n % 4], 'note ' || n,
       CASE WHEN n % 10 = 3 THEN repeat('long text ', 900) ELSE 'short' END,
       n * 1.25, 9007199254740993 + n, (ARRAY['calm', 'loud'])[1 + n % 2]::mood, n % 2 = 0, n / 7.0,
       date '2024-01-01' + n, timestamptz '2024-01-01 10:00:00+00' + n * interval '1 hour',
       timestamp '2024-01-01 10:00:00' + n * interval '1 hour',
       ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, n * interval '1 minute',
       ARRAY['t' || n, NULL], jsonb_build_object('n', n), convert_to(repeat('x', n), 'UTF8'), 'secret ' || n
FROM generate_series(1, 120) AS n;
INSERT INTO notes (id, tenant) VALUES (121, 'acme');
CREATE TABLE links (
  note_id integer NOT NULL REFERENCES notes,
  place text NOT NULL,
  PRIMARY KEY (note_id, place)
);
INSERT INTO links SELECT n, 'p' || n FROM generate_series(1, 20) AS n;
CREATE VIEW held AS SELECT 1 AS id, pg_advisory_xact_lock_shared(${HOLD}) IS NULL AS waited;
CREATE VIEW slow AS SELECT 1 AS id, pg_sleep(25) IS NULL AS slept;
ANALYZE;
`

/** The same for MySQL, which has no types for a mood, a uuid or a list of its own, and names its lock after the database. */
const MYSQL_NOTES_SETUP = `
CREATE TABLE notes (
  id int PRIMARY KEY,
  tenant varchar(40) NOT NULL,
  title varchar(200),
  body text,
  amount decimal(12,2),
  big bigint,
  mood enum('calm', 'loud'),
  active boolean,
  weight double,
  day date,
  moment timestamp(6) NULL,
  plain datetime(6),
  uid char(36),
  took time(6),
  tags json,
  attributes json,
  raw longblob,
  secret varchar(200)
);
INSERT INTO notes
WITH RECURSIVE counted (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < 120)
SELECT n, ELT(1 + n % 4, 'acme', 'bolt', 'cone', 'dune'), CONCAT('note ', n),
       CASE WHEN n % 10 = 3 THEN REPEAT('long text ', 900) ELSE 'short' END,
       n * 1.25, 9007199254740993 + n, ELT(1 + n % 2, 'calm', 'loud'), n % 2 = 0, n / 7e0,
       '2024-01-01' + INTERVAL n DAY, '2024-01-01 10:00:00' + INTERVAL n HOUR,
       '2024-01-01 10:00:00' + INTERVAL n HOUR,
       CONCAT('00000000-0000-4000-8000-', LPAD(n, 12, '0')), SEC_TO_TIME(n * 60),
       JSON_ARRAY(CONCAT('t', n), NULL), JSON_OBJECT('n', n), REPEAT('x', n), CONCAT('secret ', n)
FROM counted;
INSERT INTO notes (id, tenant) VALUES (121, 'acme');
CREATE TABLE links (
  note_id int NOT NULL,
  place varchar(40) NOT NULL,
  PRIMARY KEY (note_id, place),
  FOREIGN KEY (note_id) REFERENCES notes (id)
);
INSERT INTO links SELECT id, CONCAT('p', id) FROM notes WHERE id <= 20;
CREATE VIEW held AS
  SELECT 1 AS id, IF(GET_LOCK(CONCAT(DATABASE(), '.hold'), 600), RELEASE_LOCK(CONCAT(DATABASE(), '.hold')), 0) AS waited;
CREATE VIEW slow AS SELECT 1 AS id, SLEEP(25) AS slept;
ANALYZE TABLE notes, links;
`

/**
 * The same for SQL Server, where no view can wait by itself: `held` waits for whoever has the table `latch`, and `slow` counts
 * until its time has passed. What merely speaks the protocol neither cuts long cells nor shows bytes, and has neither here.
 */
function sqlserverNotesSetup(genuine: boolean): string {
  const [body, raw, times] = genuine
    ? ['nvarchar(max)', 'varbinary(max)', 900]
    : ['nvarchar(4000)', 'varchar(200)', 400]
  return `
CREATE TABLE notes (
  id int PRIMARY KEY,
  tenant nvarchar(40) NOT NULL,
  title nvarchar(200),
  body ${body},
  amount decimal(12,2),
  big bigint,
  mood varchar(4) CHECK (mood IN ('calm', 'loud')),
  active bit,
  weight float,
  day date,
  moment datetimeoffset(6),
  plain datetime2(6),
  uid uniqueidentifier,
  took time(6),
  tags nvarchar(200),
  attributes nvarchar(200),
  raw ${raw},
  secret nvarchar(200)
);
INSERT INTO notes
SELECT i, CASE i % 4 WHEN 0 THEN 'acme' WHEN 1 THEN 'bolt' WHEN 2 THEN 'cone' ELSE 'dune' END, CONCAT('note ', i),
       CASE WHEN i % 10 = 3 THEN REPLICATE(CONVERT(nvarchar(max), 'long text '), ${times}) ELSE 'short' END,
       i * 1.25, 9007199254740993 + i, CASE i % 2 WHEN 0 THEN 'calm' ELSE 'loud' END, 1 - i % 2, i / 7e0,
       DATEADD(day, i, CONVERT(date, '2024-01-01')),
       DATEADD(hour, i, CONVERT(datetimeoffset(6), '2024-01-01 10:00:00 +00:00')),
       DATEADD(hour, i, CONVERT(datetime2(6), '2024-01-01 10:00:00')),
       CONVERT(uniqueidentifier, CONCAT('00000000-0000-4000-8000-', RIGHT(CONCAT('000000000000', i), 12))),
       DATEADD(minute, i, CONVERT(time(6), '00:00:00')),
       CONCAT('["t', i, '",null]'), CONCAT('{"n":', i, '}'), CONVERT(${raw}, REPLICATE('x', i)), CONCAT('secret ', i)
FROM ${numbers('sqlserver', 1, 120)};
INSERT INTO notes (id, tenant) VALUES (121, 'acme');
CREATE TABLE links (
  note_id int NOT NULL REFERENCES notes (id),
  place nvarchar(40) NOT NULL,
  PRIMARY KEY (note_id, place)
);
INSERT INTO links SELECT id, CONCAT('p', id) FROM notes WHERE id <= 20;
${LATCH}
GO
CREATE VIEW held AS SELECT id, 1 AS waited FROM dbo.latch WITH (READCOMMITTEDLOCK)
GO
CREATE FUNCTION dawdle(@ms int) RETURNS int AS
BEGIN
  DECLARE @until datetime2 = DATEADD(millisecond, @ms, SYSUTCDATETIME());
  WHILE SYSUTCDATETIME() < @until SET @ms = @ms;
  RETURN @ms;
END
GO
CREATE VIEW slow AS SELECT 1 AS id, dbo.dawdle(25000) AS slept
GO
`
}

/** What a database needs to make the notes on this server. */
export function notesSetup(server: TestServer): string {
  const setups: PerEngine<string> = {
    postgres: NOTES_SETUP,
    mysql: MYSQL_NOTES_SETUP,
    sqlserver: sqlserverNotesSetup(isGenuine(server)),
  }
  return forEngine(setups, server.engine)
}

/** `reader` sees all but `secret`; `clerk` sees notes of its own tenant alone, and no texts. */
export const NOTES_POLICY = `
version: 1
defaults: { query_timeout_ms: 30000 }
tables:
  public.notes: { mask: [secret] }
  public.links: {}
  public.held: { key: [id] }
  public.slow: { key: [id] }
roles:
  reader: { read: ['*'] }
  clerk:
    read: [public.notes]
    mask: { public.notes: [body] }
    row_filter: { public.notes: [ { column: tenant, op: eq, value: { claim: tenant } } ] }
`

/** A call whose statement waits for the lock. */
export const HELD_CALL = { name: 'get_held_by_pk', arguments: { id: 1 } }
/** A call whose statement takes longer than any test waits. */
export const SLOW_CALL = { name: 'get_slow_by_pk', arguments: { id: 1 } }
