import { numbers } from './security-sql.js'
import type { SetupSql } from './two-databases-setup.js'

const upTo = (last: number): string => numbers('mysql', 1, last)

/**
 * This engine's own danger is text that is equal and looks different: names, countries and codes differ in case, and
 * countries in trailing spaces, under a collation that disregards both. Rows lie in the order of their primary key, or of a
 * unique key: that of `ledger` begins with a hidden column, and that of `visits` is one.
 */
const LOOSE = 'CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci'
const LABEL_WORDS = (hint: string) => `
CREATE PROCEDURE label_words(words varchar(500), times int, kind ENUM('bronze', 'silver', 'gold')) READS SQL DATA
COMMENT 'Labels each word'
BEGIN
  WITH RECURSIVE split (n, part, rest) AS (
    SELECT 0, CAST('' AS char(500)), CAST(CONCAT(words, ' ') AS char(501))
    UNION ALL
    SELECT n + 1, SUBSTRING_INDEX(rest, ' ', 1), SUBSTRING(rest, LOCATE(' ', rest) + 1) FROM split WHERE rest LIKE '% %'
  )
  SELECT CONCAT(s.part, t.n, kind) AS word, CHAR_LENGTH(s.part) AS size${hint}
  FROM split AS s JOIN (SELECT 1 AS n UNION ALL SELECT 2 UNION ALL SELECT 3) AS t ON t.n <= times
  WHERE s.n > 0 ORDER BY 1;
END;
`
const SWAP = (second: 'IN' | 'INOUT', kept: string) => `
CREATE PROCEDURE swap(INOUT first varchar(500), ${second} second varchar(500)) READS SQL DATA
BEGIN
  DECLARE kept varchar(500) DEFAULT first;
  SET first = second;
  ${kept}
END;
`
const FILE_NOTE = (refusal: string, journal: string) => `
CREATE FUNCTION file_note(body varchar(500), weight decimal(10,2)) RETURNS int DETERMINISTIC MODIFIES SQL DATA
BEGIN
  DECLARE why varchar(120);
  IF weight > 700 THEN
    SET why = ${refusal};
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = why;
  END IF;
  ${journal}
  RETURN CHAR_LENGTH(body);
END;
`

const BASE = `
CREATE TABLE customers (
  id int PRIMARY KEY, tenant varchar(40) NOT NULL, name varchar(80) ${LOOSE} NOT NULL COMMENT 'Full name',
  country varchar(40) ${LOOSE}, tier ENUM('bronze', 'silver', 'gold'), score decimal(8,2), weight double,
  born date, joined timestamp NULL DEFAULT NULL, active tinyint(1), ref char(36), tags json, extra json,
  note varchar(200) COMMENT 'Written after a look at ssn',
  points bigint unsigned, flag bit(1), wakes time(3), handle varchar(40) COLLATE utf8mb4_bin, seen datetime(6),
  ssn varchar(80) UNIQUE, password_hash varchar(80) NOT NULL, email varchar(80), risk int,
  KEY country_ssn (country, ssn), KEY tenant_risk (tenant, risk), KEY hashed (password_hash),
  UNIQUE KEY name_email (name, email)
) COMMENT 'People who buy';
INSERT INTO customers
SELECT i, IF(i <= 120, 'acme', 'beta'), CONCAT(IF(i > 90, 'Name ', 'name '), i % 90),
  ELT(1 + i % 8, 'de', 'fr', 'us', NULL, 'DE', 'Fr', 'us  ', NULL), ELT(1 + i % 4, 'bronze', 'silver', 'gold', NULL),
  (i * 7 % 50) / 4, (i * 37 % 40) / 8, IF(i % 5 > 0, DATE '1980-01-01' + INTERVAL i DAY, NULL),
  TIMESTAMP '2024-01-01 00:00:00' + INTERVAL (i % 30) HOUR, i % 3 = 0, MD5(i), JSON_ARRAY(CONCAT('t', i % 3), NULL),
  JSON_OBJECT('n', i % 7), IF(i % 6 > 0, CONCAT('note ', i % 10), NULL),
  18446744073709551615 - i % 6, i % 2, SEC_TO_TIME(i % 9 * 3000 - 6000), IF(i % 2 = 0, CONCAT('h', i % 4), CONCAT('H', i % 4)),
  TIMESTAMP '2024-02-01 00:00:00' + INTERVAL (i % 12) * 250000 MICROSECOND,
  CONCAT('ssn-', MD5(CONCAT('s', i))), CONCAT('hash-', MD5(CONCAT('p', i))), CONCAT('mail', i, '@left.example'), i % 10
FROM ${upTo(160)};

CREATE TABLE orders (
  region varchar(40), number int, customer_id int, status varchar(40) ${LOOSE}, total decimal(10,2) COMMENT 'Without tax',
  margin decimal(10,2), placed datetime(6), memo varchar(200), PRIMARY KEY (region, number),
  UNIQUE KEY margin_number (margin, number), KEY margin (margin),
  CONSTRAINT ordered_by FOREIGN KEY (customer_id) REFERENCES customers (id)
) COMMENT 'What was bought, the margin excepted';
INSERT INTO orders
SELECT ELT(1 + i % 4, 'eu', 'us', 'asia', 'south'), i, 1 + i % 120, ELT(1 + i % 6, 'open', 'paid', 'sent', 'Open', 'PAID', 'sent '),
  (i * 13 % 100) / 4, i * 1.5, TIMESTAMP '2024-03-01 00:00:00' + INTERVAL (i % 20) DAY, CONCAT('memo left ', i)
FROM ${upTo(200)};
CREATE VIEW open_orders AS SELECT region, number, status, total FROM orders WHERE status = 'open';

CREATE TABLE ledger (
  shard int, entry int, tenant varchar(40), amount bigint, kind varchar(40), PRIMARY KEY (shard, entry),
  KEY tenant_amount (tenant, amount));
INSERT INTO ledger
SELECT i % 5, i DIV 5, IF(i <= 60, 'acme', 'beta'), i % 9, ELT(1 + i % 3, 'in', 'out', NULL) FROM ${upTo(90)};

CREATE TABLE visits (
  token char(36) NOT NULL UNIQUE, page varchar(40) COMMENT 'Where a token went', referrer varchar(40) ${LOOSE}, at datetime,
  ip varchar(40), ms double, cost decimal(10,2), KEY ip_page (ip, page));
INSERT INTO visits
SELECT MD5(CONCAT('t', i)), CONCAT('page ', i % 6), ELT(1 + i % 6, 'a', 'b', NULL, 'A', 'B ', NULL),
  TIMESTAMP '2024-05-01 00:00:00' + INTERVAL (i % 4) DAY, CONCAT('10.0.0.', i % 200), i % 8 * 0.25, i % 4
FROM ${upTo(150)};

CREATE TABLE employees (
  id int PRIMARY KEY, name varchar(80), team varchar(40) ${LOOSE}, salary decimal(10,2) UNIQUE, manager_id int,
  CONSTRAINT managed_by FOREIGN KEY (manager_id) REFERENCES employees (id));
INSERT INTO employees
SELECT i, CONCAT('worker ', i), ELT(1 + i % 4, 'red', 'blue', 'Red', 'BLUE'), 1000 + i * 10, NULLIF(i DIV 2, 0)
FROM ${upTo(40)} ORDER BY i;

CREATE TABLE payroll (
  id int PRIMARY KEY, employee_id int, paid decimal(10,2), FOREIGN KEY (employee_id) REFERENCES employees (id));
INSERT INTO payroll SELECT i, 1 + i % 40, i * 100 FROM ${upTo(50)};
CREATE TABLE secrets (
  id int PRIMARY KEY, customer_id int, body varchar(200), FOREIGN KEY (customer_id) REFERENCES customers (id));
INSERT INTO secrets SELECT i, i, CONCAT('secret left ', i) FROM ${upTo(10)};

CREATE TABLE tickets (
  id int AUTO_INCREMENT PRIMARY KEY, tenant varchar(40) NOT NULL, title varchar(200) ${LOOSE} NOT NULL,
  priority int CHECK (priority < 100), due date, labels SET('l0', 'l1', 'l2') COMMENT 'Anything',
  gone tinyint(1) NOT NULL DEFAULT 0, secret varchar(80) NOT NULL,
  touched_at timestamp NULL DEFAULT NULL ON UPDATE CURRENT_TIMESTAMP, \`rank\` int UNIQUE) AUTO_INCREMENT = 1000001;
INSERT INTO tickets
SELECT i, IF(i <= 40, 'acme', 'beta'), CONCAT(IF(i > 20, 'Ticket ', 'ticket '), i % 20), i % 9,
  DATE '2024-06-01' + INTERVAL (i % 5) DAY, CONCAT('l', i % 3), i % 10 = 0, IF(i % 2 = 0, 'seen', 'secret left'), NULL, i
FROM ${upTo(60)};

CREATE TABLE letters (
  code varchar(80) ${LOOSE} PRIMARY KEY, body varchar(200), weight decimal(6,2), closed_at datetime(6), opener varchar(80));
INSERT INTO letters
SELECT CONCAT(IF(i % 2 = 0, 'letter-', 'Letter-'), i), CONCAT('body ', i % 4), i / 4,
  IF(i % 7 = 0, TIMESTAMP '2024-01-01 00:00:00', NULL), 'opener left'
FROM ${upTo(30)};

CREATE TABLE remarks (
  id int PRIMARY KEY, customer_id int, body varchar(200), scribble varchar(200),
  CONSTRAINT remarks_customer FOREIGN KEY (customer_id) REFERENCES customers (id));
INSERT INTO remarks
SELECT i, IF(i % 8 > 0, 1 + i * 13 % 150, NULL), CONCAT('remark ', i % 6), 'scribble left' FROM ${upTo(90)};

CREATE TABLE journal (id int AUTO_INCREMENT PRIMARY KEY, body varchar(500), weight decimal(10,2), note varchar(200));
${LABEL_WORDS(', (SELECT MAX(CONCAT(c.ssn, c.email)) FROM customers AS c) AS hint')}
${FILE_NOTE(
  "CONCAT('too heavy: ', (SELECT MAX(c.ssn) FROM customers AS c))",
  'INSERT INTO journal (body, weight, note) VALUES (body, weight, (SELECT MAX(c.ssn) FROM customers AS c));',
)}
${SWAP('INOUT', 'SET second = CONCAT(kept, (SELECT MAX(c.ssn) FROM customers AS c));')}
CREATE PROCEDURE wipe() MODIFIES SQL DATA DELETE FROM journal;
`

const STRANGERS = (rows: number) => `
INSERT INTO customers (id, tenant, name, country, score, weight, ssn, password_hash, email, risk, active)
SELECT 10000 + i, 'zeta', CONCAT('name ', i % 300), 'zz', i * 3, i / 3, CONCAT('ssn-z', i), CONCAT('hash-z', i),
  CONCAT('z', i, '@z.example'), 99, TRUE
FROM ${upTo(rows)};
INSERT INTO ledger SELECT 900 + i, i, 'zeta', 1000 + i, 'zeta' FROM ${upTo(rows)};
INSERT INTO tickets SELECT 10000 + i, 'zeta', CONCAT('ticket ', i), 5, NULL, NULL, i % 2 = 0, 'zeta', NOW(), 10000 + i
FROM ${upTo(rows)};
INSERT INTO remarks SELECT 10000 + i, 10000 + i, CONCAT('remark ', i % 9), 'zeta' FROM ${upTo(rows)};
ALTER TABLE tickets AUTO_INCREMENT = ${1_000_001 + rows * 10};
`

const UNSEEN_BY_ALL = `
UPDATE customers SET ssn = NULL WHERE tenant <> 'zeta' AND id % 3 = 0;
UPDATE customers SET ssn = CONCAT('ssn-right-', 1000 - id), password_hash = 'hash-right' WHERE tenant <> 'zeta' AND id % 3 = 1;
UPDATE orders SET margin = NULL WHERE number % 2 = 0;
UPDATE orders SET margin = 5000 - number WHERE number % 2 = 1;
UPDATE ledger SET shard = 700 - shard * 3 - entry WHERE tenant <> 'zeta' AND entry % 2 = 0;
UPDATE visits SET token = MD5(CONCAT('right', token)), ip = NULL WHERE ms < 1;
UPDATE employees SET salary = 9000 - id * 7, manager_id = NULL WHERE id % 3 > 0;
UPDATE secrets SET body = 'secret right';
INSERT INTO secrets SELECT i, 5, 'more' FROM ${numbers('mysql', 100, 400)};
UPDATE tickets SET secret = 'secret right', touched_at = NOW(), \`rank\` = 5000 - id WHERE tenant <> 'zeta' AND id % 4 > 1;
UPDATE tickets SET title = 'buried', priority = 77 WHERE gone;
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
UPDATE customers SET name = 'other', country = 'other', email = CAST(id AS char) WHERE tenant = 'beta' AND id % 2 = 0;
DELETE FROM orders WHERE region = 'asia' AND number % 3 = 0;
UPDATE orders SET total = 777, status = 'elsewhere' WHERE region IN ('asia', 'south');
INSERT INTO orders SELECT 'south', 5000 + i, 1, 'new', i, i + 90000, NOW(), 'new' FROM ${upTo(800)};
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
UPDATE tickets SET title = CONCAT('acme ', id), labels = NULL, gone = NOT gone WHERE tenant = 'acme' AND id % 2 = 0;
DELETE FROM tickets WHERE tenant = 'acme' AND id % 3 = 0;
UPDATE remarks SET body = 'of acme' WHERE customer_id <= 120 AND id % 2 = 0;
DELETE FROM remarks WHERE customer_id <= 120 AND id % 5 = 0;
`

const DROP_MASKED = `
ALTER TABLE customers DROP COLUMN ssn, DROP COLUMN password_hash, MODIFY note varchar(200);
ALTER TABLE orders DROP KEY margin_number, DROP COLUMN margin, COMMENT = '';
ALTER TABLE visits DROP COLUMN token, DROP COLUMN ip, MODIFY page varchar(40);
DROP TABLE secrets; DROP TABLE payroll; DROP TABLE journal; DROP PROCEDURE wipe;
ALTER TABLE tickets DROP COLUMN secret, DROP COLUMN touched_at, DROP COLUMN \`rank\`;
ALTER TABLE letters DROP COLUMN opener;
ALTER TABLE remarks DROP COLUMN scribble;
DROP PROCEDURE label_words;
${LABEL_WORDS('')}
DROP FUNCTION file_note;
${FILE_NOTE("'too heavy'", '')}
DROP PROCEDURE swap;
${SWAP('IN', '')}
`
const ONLY_ACME = `
DELETE FROM remarks WHERE customer_id IS NULL OR customer_id > 120; DELETE FROM customers WHERE tenant <> 'acme'; DELETE FROM ledger WHERE tenant <> 'acme';
DELETE FROM tickets WHERE tenant <> 'acme' OR gone; DELETE FROM letters WHERE closed_at IS NOT NULL;
`
const DROP_SHARD = 'ALTER TABLE ledger DROP PRIMARY KEY, DROP COLUMN shard, DROP COLUMN tenant;'

export const MYSQL_SETUP: SetupSql = {
  base: BASE,
  strangers: STRANGERS,
  analyze:
    'ANALYZE TABLE customers, orders, ledger, visits, employees, payroll, secrets, tickets, letters, remarks, journal;',
  unseenByAll: UNSEEN_BY_ALL,
  unseenByAnalysts: UNSEEN_BY_ANALYSTS,
  unseenBySupport: UNSEEN_BY_SUPPORT,
  unseenByBeta: UNSEEN_BY_BETA,
  dropMasked: DROP_MASKED,
  onlyAcme: ONLY_ACME,
  dropUnseenByAna: `
    ALTER TABLE customers DROP KEY name_email, DROP COLUMN email, DROP COLUMN risk;
    ALTER TABLE orders DROP COLUMN memo;
    ${DROP_SHARD}
    ALTER TABLE employees DROP FOREIGN KEY managed_by, DROP COLUMN salary, DROP COLUMN manager_id;`,
  dropUnseenBySue: `
    DELETE FROM orders WHERE region NOT IN ('eu', 'us');
    ALTER TABLE customers DROP COLUMN score;
    ${DROP_SHARD}
    DROP TABLE employees; DROP TABLE visits; DROP VIEW open_orders; DROP TABLE tickets; DROP TABLE letters; DROP TABLE remarks;
    DROP FUNCTION file_note; DROP PROCEDURE swap;`,
  dropUnseenByCora: `
    DROP TABLE employees; DROP VIEW open_orders; DROP TABLE ledger; DROP TABLE letters;
    DROP PROCEDURE label_words; DROP FUNCTION file_note; DROP PROCEDURE swap;`,
}
