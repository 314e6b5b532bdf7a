/**
 * What introspection asks of `information_schema`, which both servers answer for a login that may only SELECT. Every query
 * is set-based and about one database, the value of its `?`, so that their number does not depend on the number of tables.
 * There is no snapshot of these: neither server versions its catalog. Valid for MySQL from 8.0.19 and MariaDB from 10.6.
 */

/**
 * One row: version; whether the server disregards case in the names of tables (0: it does not); connections that the
 * server, and this login, may have.
 */
export const SERVER_FACTS = `
SELECT VERSION(), @@lower_case_table_names, @@max_connections, @@max_user_connections`

/** Only databases that the login may do anything in. */
export const DATABASES = `
SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = ?`

/** The rights of the login and of its active roles, a line each. */
export const GRANTS = 'SHOW GRANTS'

/** Tables that the login may do anything with. Sequences, temporary tables and views of the system are of other types. */
export const RELATIONS = `
SELECT t.TABLE_NAME, t.TABLE_TYPE, t.TABLE_COMMENT, t.TABLE_ROWS, e.TRANSACTIONS
FROM information_schema.TABLES t
LEFT JOIN information_schema.ENGINES e ON e.ENGINE = t.ENGINE
WHERE t.TABLE_SCHEMA = ? AND t.TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED', 'VIEW')`

/** Columns that the login may do anything with, what that is among the cells. */
export const COLUMNS = `
SELECT TABLE_NAME, COLUMN_NAME, ORDINAL_POSITION, COLUMN_TYPE, CHARACTER_SET_NAME, COLLATION_NAME, IS_NULLABLE,
       COLUMN_DEFAULT, EXTRA, GENERATION_EXPRESSION, COLUMN_COMMENT, PRIVILEGES
FROM information_schema.COLUMNS
WHERE TABLE_SCHEMA = ?
ORDER BY TABLE_NAME, ORDINAL_POSITION`

/**
 * A row for each part of an index: table, index, whether values may be there twice, column (NULL for an expression), length
 * of a prefix, type of the index, whether the server uses it for queries.
 */
export const MYSQL_INDEXES = `
SELECT TABLE_NAME, INDEX_NAME, NON_UNIQUE, COLUMN_NAME, SUB_PART, INDEX_TYPE, IS_VISIBLE
FROM information_schema.STATISTICS
WHERE TABLE_SCHEMA = ?
ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX`

export const MARIADB_INDEXES = `
SELECT TABLE_NAME, INDEX_NAME, NON_UNIQUE, COLUMN_NAME, SUB_PART, INDEX_TYPE, IF(IGNORED = 'YES', 'NO', 'YES')
FROM information_schema.STATISTICS
WHERE TABLE_SCHEMA = ?
ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX`

/** A row for each column of a foreign key. MySQL leaves out the columns that the login may do nothing with. */
export const FOREIGN_KEYS = `
SELECT TABLE_NAME, CONSTRAINT_NAME, COLUMN_NAME, ORDINAL_POSITION,
       REFERENCED_TABLE_SCHEMA, REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME
FROM information_schema.KEY_COLUMN_USAGE
WHERE TABLE_SCHEMA = ? AND REFERENCED_TABLE_NAME IS NOT NULL
ORDER BY TABLE_NAME, CONSTRAINT_NAME, ORDINAL_POSITION`

/** Packages are of other types, and what they hold is not listed. */
export const ROUTINES = `
SELECT ROUTINE_TYPE, ROUTINE_NAME, ROUTINE_COMMENT, SQL_DATA_ACCESS, SECURITY_TYPE,
       DTD_IDENTIFIER, CHARACTER_SET_NAME, COLLATION_NAME
FROM information_schema.ROUTINES
WHERE ROUTINE_SCHEMA = ? AND ROUTINE_TYPE IN ('FUNCTION', 'PROCEDURE')`

/** Number 0 is what a function returns. */
export const PARAMETERS = `
SELECT CONCAT(ROUTINE_TYPE, ' ', SPECIFIC_NAME), PARAMETER_MODE, PARAMETER_NAME,
       DTD_IDENTIFIER, CHARACTER_SET_NAME, COLLATION_NAME
FROM information_schema.PARAMETERS
WHERE SPECIFIC_SCHEMA = ? AND ORDINAL_POSITION > 0
ORDER BY ROUTINE_TYPE, SPECIFIC_NAME, ORDINAL_POSITION`

/** The text of each view, with every name whole and quoted. It is empty, or not there, for a login without SHOW VIEW. */
export const VIEW_TEXTS = `
SELECT TABLE_NAME, VIEW_DEFINITION FROM information_schema.VIEWS WHERE TABLE_SCHEMA = ?`

/** The text of each routine, as it was written; NULL for a login that may only run it. */
export const ROUTINE_TEXTS = `
SELECT CONCAT(ROUTINE_TYPE, ' ', ROUTINE_NAME), ROUTINE_DEFINITION
FROM information_schema.ROUTINES
WHERE ROUTINE_SCHEMA = ? AND ROUTINE_TYPE IN ('FUNCTION', 'PROCEDURE')`
