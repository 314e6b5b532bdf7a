import { numbers } from './security-sql.js'
import type { SetupSql } from './two-databases-setup.js'

const upTo = (last: number): string => numbers('sqlserver', 1, last)

/**
 * This engine's own danger is text that is equal and looks different, and moments that are equal and have other offsets:
 * names, countries and codes differ in case, and countries in spaces at their ends, which no collation here regards. Rows lie
 * in the order of their primary key, or of a clustered index: that of `ledger` begins with a hidden column, and that of
 * `visits` is one. A column of many NULLs is unique only by an index that leaves them out. `tickets` is read back, since it
 * has a trigger.
 */
const LOOSE = 'COLLATE Latin1_General_CI_AS'
/** Of a number below 1009 another one, so that the order of what is hidden is not that of the keys. */
const scrambled = (number: string): string => `${number} * 919 % 1009`
const uuid = (number: string): string =>
  `CONVERT(uniqueidentifier, CONCAT('00000000-0000-4000-8000-', RIGHT(CONCAT('000000000000', ${number}), 12)))`

const described = (text: string, table: string, column: string): string =>
  `EXEC sp_addextendedproperty 'MS_Description', N'${text}', 'schema', 'dbo', 'table', '${table}', 'column', '${column}'`
const undescribed = (table: string, column?: string): string =>
  `EXEC sp_dropextendedproperty 'MS_Description', 'schema', 'dbo', 'table', '${table}'${
    column === undefined ? '' : `, 'column', '${column}'`
  }`

const LABEL_WORDS = (hint: string) => `
GO
CREATE PROCEDURE label_words @words nvarchar(500), @times int, @kind nvarchar(10) AS
BEGIN
  SET NOCOUNT ON;
  SELECT CONCAT(s.value, t.n, @kind) AS word, LEN(s.value) AS size${hint}
  FROM STRING_SPLIT(@words, N' ') AS s JOIN (VALUES (1), (2), (3)) AS t (n) ON t.n <= @times
  ORDER BY CONCAT(s.value, t.n, @kind) COLLATE Latin1_General_100_BIN2;
END
GO
EXEC sp_addextendedproperty 'MS_Description', N'Labels each word', 'schema', 'dbo', 'procedure', 'label_words'
GO
`
const FILE_NOTE = (refusal: string, journal: string) => `
GO
CREATE PROCEDURE file_note @body nvarchar(500), @weight decimal(10,2) AS
BEGIN
  SET NOCOUNT ON;
  DECLARE @why nvarchar(200) = ${refusal};
  IF @weight > 700 THROW 50000, @why, 1;
  ${journal}
END
GO
`
/** That a parameter gives something as well is no secret, since one that does may be left out; what it gives is. */
const SWAP = (kept: string) => `
GO
CREATE PROCEDURE swap @first nvarchar(500) OUTPUT, @second nvarchar(500) OUTPUT AS
BEGIN
  SET NOCOUNT ON;
  DECLARE @kept nvarchar(500) = @first;
  SET @first = @second;
  ${kept}
END
GO
`

const BASE = `
CREATE TABLE customers (
  id int CONSTRAINT customers_pk PRIMARY KEY, tenant nvarchar(40) NOT NULL, name nvarchar(80) ${LOOSE} NOT NULL,
  country nvarchar(40) ${LOOSE}, tier nvarchar(10), score decimal(8,2), weight float, born date, joined datetimeoffset(0),
  active bit, ref uniqueidentifier, tags nvarchar(400), extra nvarchar(400), note nvarchar(200),
  points money, wakes time(3), handle varchar(40) COLLATE Latin1_General_CI_AS, seen datetime, raw varbinary(20),
  ssn nvarchar(80), password_hash nvarchar(80) NOT NULL, email nvarchar(80), risk int);
CREATE UNIQUE INDEX customers_ssn ON customers (ssn) WHERE ssn IS NOT NULL;
CREATE INDEX country_ssn ON customers (country, ssn);
CREATE INDEX tenant_risk ON customers (tenant, risk);
CREATE INDEX hashed ON customers (password_hash);
CREATE UNIQUE INDEX name_email ON customers (name, email) WHERE email IS NOT NULL;
EXEC sp_addextendedproperty 'MS_Description', N'People who buy', 'schema', 'dbo', 'table', 'customers';
${described('Full name', 'customers', 'name')};
${described('Written after a look at ssn', 'customers', 'note')}
GO
INSERT INTO customers
SELECT i, IIF(i <= 120, 'acme', 'beta'), CONCAT(IIF(i > 90, 'Name ', 'name '), i % 90),
  CHOOSE(1 + i % 8, 'de', 'fr', 'us', NULL, 'DE', 'Fr', 'us  ', NULL), CHOOSE(1 + i % 4, 'bronze', 'silver', 'gold', NULL),
  (i * 7 % 50) / 4.0, (i * 37 % 40) / 8.0, IIF(i % 5 > 0, DATEADD(day, i, CONVERT(date, '1980-01-01')), NULL),
  DATEADD(day, i % 7, TODATETIMEOFFSET(
    CONVERT(datetime2(0), IIF(i % 2 = 0, '2024-01-01 09:00:00', '2024-01-01 11:00:00')), IIF(i % 2 = 0, '+00:00', '+02:00'))),
  IIF(i % 3 = 0, 1, 0), ${uuid(scrambled('i'))}, CONCAT('["t', i % 3, '",null]'), CONCAT('{"n": ', i % 7, '}'),
  IIF(i % 6 > 0, CONCAT('note ', i % 10), NULL),
  (i % 6) * 100000000.0001, CONVERT(time(3), CONCAT('0', i % 9, ':10:20.125')), CONCAT(IIF(i % 2 = 0, 'h', 'H'), i % 4),
  DATEADD(minute, i % 12, CONVERT(datetime, '20240201')),
  CONVERT(varbinary(20), CHOOSE(1 + i % 3, 0x01, 0x0100, 0x02)),
  CONCAT('ssn-', ${scrambled('i')}), CONCAT('hash-', ${scrambled('i')}), CONCAT('mail', i, '@left.example'), i % 10
FROM ${upTo(160)};

CREATE TABLE orders (
  region nvarchar(40) NOT NULL, number int NOT NULL, customer_id int, status nvarchar(40) ${LOOSE}, total decimal(10,2),
  margin decimal(10,2), placed datetime2(6), memo nvarchar(200), CONSTRAINT orders_pk PRIMARY KEY (region, number),
  CONSTRAINT ordered_by FOREIGN KEY (customer_id) REFERENCES customers (id));
CREATE UNIQUE INDEX margin_number ON orders (margin, number);
CREATE INDEX by_margin ON orders (margin);
EXEC sp_addextendedproperty 'MS_Description', N'What was bought, the margin excepted', 'schema', 'dbo', 'table', 'orders';
${described('Without tax', 'orders', 'total')}
GO
INSERT INTO orders
SELECT CHOOSE(1 + i % 4, 'eu', 'us', 'asia', 'south'), i, 1 + i % 120,
  CHOOSE(1 + i % 6, 'open', 'paid', 'sent', 'Open', 'PAID', 'sent '), (i * 13 % 100) / 4.0, i * 1.5,
  DATEADD(day, i % 20, CONVERT(datetime2(6), '2024-03-01')), CONCAT('memo left ', i)
FROM ${upTo(200)}
GO
CREATE VIEW open_orders AS SELECT region, number, status, total FROM orders WHERE status = 'open'
GO
CREATE TABLE ledger (
  shard int NOT NULL, entry int NOT NULL, tenant nvarchar(40), amount bigint, kind nvarchar(40),
  CONSTRAINT ledger_pk PRIMARY KEY (shard, entry));
CREATE INDEX tenant_amount ON ledger (tenant, amount);
INSERT INTO ledger
SELECT i % 5, i / 5, IIF(i <= 60, 'acme', 'beta'), i % 9, CHOOSE(1 + i % 3, 'in', 'out', NULL) FROM ${upTo(90)};

CREATE TABLE visits (
  token uniqueidentifier NOT NULL, page nvarchar(40), referrer nvarchar(40) ${LOOSE}, at datetime2(0), ip nvarchar(40),
  ms float, cost decimal(10,2));
CREATE UNIQUE CLUSTERED INDEX visits_token ON visits (token);
CREATE INDEX ip_page ON visits (ip, page);
${described('Where a token went', 'visits', 'page')}
GO
INSERT INTO visits
SELECT ${uuid(scrambled('i'))}, CONCAT('page ', i % 6), CHOOSE(1 + i % 6, 'a', 'b', NULL, 'A', 'B ', NULL),
  DATEADD(day, i % 4, CONVERT(datetime2(0), '2024-05-01')), CONCAT('10.0.0.', i % 200), i % 8 * 0.25, i % 4
FROM ${upTo(150)};

CREATE TABLE employees (
  id int CONSTRAINT employees_pk PRIMARY KEY, name nvarchar(80), team nvarchar(40) ${LOOSE},
  salary decimal(10,2) CONSTRAINT salaries UNIQUE, manager_id int CONSTRAINT managed_by REFERENCES employees (id));
INSERT INTO employees
SELECT i, CONCAT('worker ', i), CHOOSE(1 + i % 4, 'red', 'blue', 'Red', 'BLUE'), 1000 + i * 10, NULLIF(i / 2, 0)
FROM ${upTo(40)};

CREATE TABLE payroll (id int PRIMARY KEY, employee_id int REFERENCES employees (id), paid decimal(10,2));
INSERT INTO payroll SELECT i, 1 + i % 40, i * 100 FROM ${upTo(50)};
CREATE TABLE secrets (id int PRIMARY KEY, customer_id int REFERENCES customers (id), body nvarchar(200));
INSERT INTO secrets SELECT i, i, CONCAT('secret left ', i) FROM ${upTo(10)};

CREATE TABLE tickets (
  id int IDENTITY CONSTRAINT tickets_pk PRIMARY KEY, tenant nvarchar(40) NOT NULL,
  title nvarchar(200) ${LOOSE} NOT NULL, priority int CONSTRAINT low_priority CHECK (priority < 100), due date,
  labels nvarchar(40), gone bit NOT NULL CONSTRAINT not_gone DEFAULT 0, secret nvarchar(80) NOT NULL, touched_at datetime2(0),
  rank int);
CREATE UNIQUE INDEX ticket_ranks ON tickets (rank) WHERE rank IS NOT NULL;
${described('Anything', 'tickets', 'labels')}
GO
SET IDENTITY_INSERT tickets ON;
INSERT INTO tickets (id, tenant, title, priority, due, labels, gone, secret, touched_at, rank)
SELECT i, IIF(i <= 40, 'acme', 'beta'), CONCAT(IIF(i > 20, 'Ticket ', 'ticket '), i % 20), i % 9,
  DATEADD(day, i % 5, CONVERT(date, '2024-06-01')), CONCAT('l', i % 3), IIF(i % 10 = 0, 1, 0),
  IIF(i % 2 = 0, 'seen', 'secret left'), NULL, i
FROM ${upTo(60)};
SET IDENTITY_INSERT tickets OFF;
DBCC CHECKIDENT ('tickets', RESEED, 1000000)
GO
CREATE TRIGGER touched ON tickets AFTER UPDATE AS
BEGIN
  SET NOCOUNT ON;
  IF TRIGGER_NESTLEVEL() > 1 RETURN;
  UPDATE t SET touched_at = SYSUTCDATETIME() FROM tickets AS t JOIN inserted AS n ON n.id = t.id;
END
GO
CREATE TABLE letters (
  code nvarchar(80) ${LOOSE} CONSTRAINT letters_pk PRIMARY KEY, body nvarchar(200), weight decimal(6,2), closed_at datetime2(6),
  opener nvarchar(80));
INSERT INTO letters
SELECT CONCAT(IIF(i % 2 = 0, 'letter-', 'Letter-'), i), CONCAT('body ', i % 4), i / 4.0,
  IIF(i % 7 = 0, CONVERT(datetime2(6), '2024-01-01'), NULL), 'opener left'
FROM ${upTo(30)};

CREATE TABLE remarks (
  id int CONSTRAINT remarks_pk PRIMARY KEY, customer_id int CONSTRAINT remarks_customer REFERENCES customers (id),
  body nvarchar(200), scribble nvarchar(200));
INSERT INTO remarks
SELECT i, IIF(i % 8 > 0, 1 + i * 13 % 150, NULL), CONCAT('remark ', i % 6), 'scribble left' FROM ${upTo(90)};

CREATE TABLE journal (id int IDENTITY PRIMARY KEY, body nvarchar(500), weight decimal(10,2), note nvarchar(200));
${LABEL_WORDS(', (SELECT MAX(CONCAT(c.ssn, c.email)) FROM customers AS c) AS hint')}
${FILE_NOTE(
  "CONCAT('too heavy: ', (SELECT MAX(c.ssn) FROM customers AS c))",
  'INSERT INTO journal (body, weight, note) VALUES (@body, @weight, (SELECT MAX(c.ssn) FROM customers AS c));',
)}
${SWAP('SET @second = CONCAT(@kept, (SELECT MAX(c.ssn) FROM customers AS c));')}
CREATE PROCEDURE wipe AS DELETE FROM journal
GO
`

const STRANGERS = (rows: number) => `
GO
INSERT INTO customers (id, tenant, name, country, score, weight, ssn, password_hash, email, risk, active)
SELECT 10000 + i, 'zeta', CONCAT('name ', i % 300), 'zz', i * 3, i / 3.0, CONCAT('ssn-z', i), CONCAT('hash-z', i),
  CONCAT('z', i, '@z.example'), 99, 1
FROM ${upTo(rows)};
INSERT INTO remarks SELECT 10000 + i, 10000 + i, CONCAT('remark ', i % 9), 'zeta' FROM ${upTo(rows)};
INSERT INTO ledger SELECT 900 + i, i, 'zeta', 1000 + i, 'zeta' FROM ${upTo(rows)};
SET IDENTITY_INSERT tickets ON;
INSERT INTO tickets (id, tenant, title, priority, due, labels, gone, secret, touched_at, rank)
SELECT 10000 + i, 'zeta', CONCAT('ticket ', i), 5, NULL, NULL, IIF(i % 2 = 0, 1, 0), 'zeta', SYSUTCDATETIME(), 10000 + i
FROM ${upTo(rows)};
SET IDENTITY_INSERT tickets OFF;
DBCC CHECKIDENT ('tickets', RESEED, ${1_000_000 + rows * 10})
GO
`

const UNSEEN_BY_ALL = `
UPDATE customers SET ssn = NULL WHERE tenant <> 'zeta' AND id % 3 = 0;
UPDATE customers SET ssn = CONCAT('ssn-right-', 1000 - id), password_hash = 'hash-right' WHERE tenant <> 'zeta' AND id % 3 = 1;
UPDATE orders SET margin = NULL WHERE number % 2 = 0;
UPDATE orders SET margin = 5000 - number WHERE number % 2 = 1;
UPDATE ledger SET shard = 700 - shard * 3 - entry WHERE tenant <> 'zeta' AND entry % 2 = 0;
UPDATE visits SET token = CONVERT(uniqueidentifier, STUFF(CONVERT(char(36), token), 25, 1, 'F')), ip = NULL WHERE ms < 1;
UPDATE employees SET salary = 9000 - id * 7, manager_id = NULL WHERE id % 3 > 0;
UPDATE secrets SET body = 'secret right';
INSERT INTO secrets SELECT i, 5, 'more' FROM ${numbers('sqlserver', 100, 400)};
UPDATE tickets SET secret = 'secret right', touched_at = SYSUTCDATETIME(), rank = 5000 - id
WHERE tenant <> 'zeta' AND id % 4 > 1;
UPDATE tickets SET title = 'buried', priority = 77 WHERE gone = 1;
UPDATE letters SET opener = NULL WHERE weight < 4;
UPDATE letters SET body = 'buried' WHERE closed_at IS NOT NULL;
UPDATE remarks SET scribble = 'scribble right' WHERE id % 3 = 0;
UPDATE remarks SET body = 'buried' WHERE customer_id IS NULL OR customer_id > 10000;
INSERT INTO journal (body) VALUES ('right');
`

const UNSEEN_BY_ANALYSTS = `
UPDATE customers SET email = CONCAT('mail', id * 7, '@right.example'), risk = 90 - id WHERE id % 4 = 0;
UPDATE customers SET email = NULL, risk = NULL WHERE id % 4 = 1;
UPDATE orders SET memo = 'memo right' WHERE number % 3 = 0;
DELETE FROM payroll WHERE id > 7;
`

const UNSEEN_BY_SUPPORT = `
UPDATE customers SET score = 1000 + id WHERE id % 5 > 1;
UPDATE customers SET name = 'other', country = 'other', email = CONVERT(nvarchar(80), id) WHERE tenant = 'beta' AND id % 2 = 0;
DELETE FROM orders WHERE region = 'asia' AND number % 3 = 0;
UPDATE orders SET total = 777, status = 'elsewhere' WHERE region IN ('asia', 'south');
INSERT INTO orders SELECT 'south', 5000 + i, 1, 'new', i, i + 90000, SYSUTCDATETIME(), 'new' FROM ${upTo(800)};
UPDATE ledger SET amount = 5555, kind = NULL WHERE tenant = 'beta';
UPDATE visits SET page = 'elsewhere';
DELETE FROM payroll;
UPDATE employees SET name = 'someone', team = 'green';
UPDATE tickets SET title = 'elsewhere';
DELETE FROM letters;
DELETE FROM remarks;
`

const UNSEEN_BY_BETA = `
UPDATE customers SET name = CONCAT('acme ', id), country = 'xx', tags = NULL, note = 'gone' WHERE tenant = 'acme';
UPDATE ledger SET amount = amount * 100 WHERE tenant = 'acme';
DELETE FROM ledger WHERE tenant = 'acme' AND entry % 3 = 0;
UPDATE tickets SET title = CONCAT('acme ', id), labels = NULL, gone = 1 - gone WHERE tenant = 'acme' AND id % 2 = 0;
DELETE FROM tickets WHERE tenant = 'acme' AND id % 3 = 0;
UPDATE remarks SET body = 'of acme' WHERE customer_id <= 120 AND id % 2 = 0;
DELETE FROM remarks WHERE customer_id <= 120 AND id % 5 = 0;
`

const DROP_MASKED = `
GO
${undescribed('customers', 'note')};
${undescribed('orders')};
${undescribed('visits', 'page')};
DROP INDEX customers_ssn ON customers;
DROP INDEX country_ssn ON customers;
DROP INDEX hashed ON customers;
ALTER TABLE customers DROP COLUMN ssn;
ALTER TABLE customers DROP COLUMN password_hash;
DROP INDEX margin_number ON orders;
DROP INDEX by_margin ON orders;
ALTER TABLE orders DROP COLUMN margin;
DROP INDEX visits_token ON visits;
DROP INDEX ip_page ON visits;
ALTER TABLE visits DROP COLUMN token;
ALTER TABLE visits DROP COLUMN ip;
DROP TABLE secrets;
DROP TABLE payroll;
DROP TABLE journal;
DROP PROCEDURE wipe;
DROP TRIGGER touched;
DROP INDEX ticket_ranks ON tickets;
ALTER TABLE tickets DROP COLUMN secret;
ALTER TABLE tickets DROP COLUMN touched_at;
ALTER TABLE tickets DROP COLUMN rank;
ALTER TABLE letters DROP COLUMN opener;
ALTER TABLE remarks DROP COLUMN scribble;
DROP PROCEDURE label_words;
DROP PROCEDURE file_note;
DROP PROCEDURE swap
${LABEL_WORDS('')}
${FILE_NOTE("'too heavy'", '')}
${SWAP('')}
`
const ONLY_ACME = `
GO
DELETE FROM remarks WHERE customer_id IS NULL OR customer_id > 120; DELETE FROM customers WHERE tenant <> 'acme';
DELETE FROM ledger WHERE tenant <> 'acme';
DELETE FROM tickets WHERE tenant <> 'acme' OR gone = 1;
DELETE FROM letters WHERE closed_at IS NOT NULL
GO
`
const DROP_SHARD = `
ALTER TABLE ledger DROP CONSTRAINT ledger_pk;
DROP INDEX tenant_amount ON ledger;
ALTER TABLE ledger DROP COLUMN shard;
ALTER TABLE ledger DROP COLUMN tenant;
`

export const SQLSERVER_SETUP: SetupSql = {
  base: BASE,
  strangers: STRANGERS,
  analyze: '\nGO\nEXEC sp_updatestats',
  unseenByAll: UNSEEN_BY_ALL,
  unseenByAnalysts: UNSEEN_BY_ANALYSTS,
  unseenBySupport: UNSEEN_BY_SUPPORT,
  unseenByBeta: UNSEEN_BY_BETA,
  dropMasked: DROP_MASKED,
  onlyAcme: ONLY_ACME,
  dropUnseenByAna: `
    DROP INDEX name_email ON customers;
    DROP INDEX tenant_risk ON customers;
    ALTER TABLE customers DROP COLUMN email;
    ALTER TABLE customers DROP COLUMN risk;
    ALTER TABLE orders DROP COLUMN memo;
    ${DROP_SHARD}
    ALTER TABLE employees DROP CONSTRAINT managed_by;
    ALTER TABLE employees DROP CONSTRAINT salaries;
    ALTER TABLE employees DROP COLUMN salary;
    ALTER TABLE employees DROP COLUMN manager_id;`,
  dropUnseenBySue: `
    DELETE FROM orders WHERE region NOT IN ('eu', 'us');
    ALTER TABLE customers DROP COLUMN score;
    ${DROP_SHARD}
    DROP TABLE employees; DROP TABLE visits; DROP VIEW open_orders; DROP TABLE tickets; DROP TABLE letters; DROP TABLE remarks;
    DROP PROCEDURE file_note; DROP PROCEDURE swap;`,
  dropUnseenByCora: `
    DROP TABLE employees; DROP VIEW open_orders; DROP TABLE ledger; DROP TABLE letters;
    DROP PROCEDURE label_words; DROP PROCEDURE file_note; DROP PROCEDURE swap;`,
}
