import { READER_ACCOUNT } from './mariadb.js'

/** A name of 64 characters, the longest of both servers. */
export const LONGEST_MYSQL_NAME = `${'n'.repeat(63)}é`
export const ODD_MYSQL_TABLE = 'od"d. [t]``able``; ü'

/** Everything that introspection must get right, for every version of either server. */
export const NASTY_MYSQL_SCHEMA = `
CREATE TABLE every_type (
  id int AUTO_INCREMENT PRIMARY KEY,
  n1 tinyint, flag tinyint(1), bool_column boolean, n2 smallint unsigned, n3 mediumint, n8 bigint, u8 bigint unsigned,
  b1 bit, b5 bit(5), b64 bit(64),
  price decimal(12,3), f4 float, f8 double, y year,
  d date, dt datetime(3), ts timestamp(6) NULL, tm time(2),
  bc char(5), vc varchar(40), t text, tiny tinytext,
  folded varchar(9) COLLATE utf8mb4_general_ci, narrow varchar(9) CHARACTER SET latin1 COLLATE latin1_bin,
  plain varchar(9) CHARACTER SET ascii COLLATE ascii_general_ci,
  fixed binary(4), vb varbinary(9), bl blob,
  js json,
  mood enum('first','b,c','d''e','f\\\\g','h"i','','(x)','ü') NOT NULL, lost enum('ok','😀'), tags set('x','y'),
  at_point point,
  doubled int GENERATED ALWAYS AS (n2 * 2) VIRTUAL, kept int GENERATED ALWAYS AS (n2 * 3) STORED,
  filled int NOT NULL DEFAULT 4, empty_default int DEFAULT NULL, text_default varchar(9) DEFAULT 'NULL',
  computed_default int DEFAULT (1 + 2), required int NOT NULL,
  touched timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  told int COMMENT 'It''s\\nthe "number".'
) COMMENT 'One of each.';

CREATE TABLE customers (
  tenant int NOT NULL, id int NOT NULL, email varchar(100) NOT NULL, nick varchar(20), secret varchar(20), story text NOT NULL,
  PRIMARY KEY (tenant, id),
  UNIQUE KEY swapped (id, tenant),
  UNIQUE KEY by_email (email),
  UNIQUE KEY by_nick (nick),
  UNIQUE KEY by_start (story(10)),
  UNIQUE KEY by_secret (id, secret),
  KEY started (nick, story(5), id),
  FULLTEXT KEY words (story)
);

CREATE TABLE parents (id int PRIMARY KEY, kind int NOT NULL, other int, KEY by_kind (kind), UNIQUE KEY by_other (other));
CREATE TABLE orders (
  id bigint PRIMARY KEY,
  tenant int NOT NULL, buyer int NOT NULL, receiver int, parent bigint, kind int, other int,
  CONSTRAINT bought FOREIGN KEY (tenant, buyer) REFERENCES customers (tenant, id),
  CONSTRAINT received FOREIGN KEY (receiver, tenant) REFERENCES customers (id, tenant),
  CONSTRAINT follows FOREIGN KEY (parent) REFERENCES orders (id),
  CONSTRAINT by_other FOREIGN KEY (other) REFERENCES parents (other)
);
CREATE TABLE parts (id int, place int, PRIMARY KEY (id, place)) PARTITION BY HASH (place) PARTITIONS 3;
CREATE TABLE counted (id int PRIMARY KEY) ENGINE = MyISAM;
INSERT INTO counted VALUES (1), (2), (3);
CREATE TABLE quick (id int PRIMARY KEY, a int, KEY hashed (a) USING HASH, KEY treed (a) USING BTREE) ENGINE = MEMORY;

CREATE TABLE soon_gone (id int PRIMARY KEY);
CREATE VIEW moods AS SELECT e.id, e.mood, e.n2 FROM every_type e;
CREATE VIEW broken AS SELECT id FROM soon_gone;

CREATE TABLE \`${ODD_MYSQL_TABLE}\` (
  \`__proto__\` int, \`constructor\` int, \`a.b c\` int, \`${LONGEST_MYSQL_NAME}\` int, \`Ünï\` int, \`select\` int, \`quo"te\` int
);
CREATE TABLE \`Zebra\` (id int);
CREATE TABLE unreadable (id int PRIMARY KEY);
`

/** Takes from the reader what a careful operator would not have given it. */
export const NASTY_MYSQL_REVOKES = `
DROP TABLE soon_gone;
REVOKE SELECT ON unreadable FROM ${READER_ACCOUNT};
REVOKE SELECT ON customers FROM ${READER_ACCOUNT};
GRANT SELECT (tenant, id, email, nick, story) ON customers TO ${READER_ACCOUNT};
`
