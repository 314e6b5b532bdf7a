import type { PerEngine } from './engines.js'
import { numbers } from './security-sql.js'

/** What one caller sees, and what is then done to objects that it does not see. */
export interface ShownTables {
  readonly setup: string
  readonly hiddenChanges: Readonly<Record<HiddenChange, string>>
}

type HiddenChange =
  | 'tables that look like its own are added'
  | 'columns are added, first among them one that is near to its own'
  | 'a hidden table refers to its own, and its own to a hidden one'
  | 'hidden objects are renamed and removed'

export const SHOWN_POLICY = `
version: 1
defaults: { row_cap: 20 }
tables: { public.books: { columns: [id, title, writer_id, price] }, public.writers: {} }
roles: { reader: { read: ['*'] } }
`

export const SHOWN: PerEngine<ShownTables> = {
  postgres: {
    setup: `
CREATE TABLE books (id int PRIMARY KEY, title text, writer_id int, price int, shelf text);
CREATE TABLE writers (id int PRIMARY KEY, name text);
ALTER TABLE books ADD FOREIGN KEY (writer_id) REFERENCES writers;
COMMENT ON TABLE books IS 'All that can be lent';
COMMENT ON COLUMN books.title IS 'As printed';
INSERT INTO writers SELECT i, 'writer ' || i FROM ${numbers('postgres', 1, 5)};
INSERT INTO books SELECT i, 'title ' || i % 7, 1 + i % 5, i % 4, 'shelf ' || i % 3 FROM ${numbers('postgres', 1, 30)};
`,
    hiddenChanges: {
      'tables that look like its own are added': `CREATE SCHEMA other; CREATE TABLE other.books (id int PRIMARY KEY, isbn text);
      CREATE TABLE book (id int PRIMARY KEY); CREATE TABLE "Books" (id int PRIMARY KEY, title text);
      CREATE TABLE search_books (id int PRIMARY KEY); CREATE VIEW all_books AS SELECT * FROM books;`,
      'columns are added, first among them one that is near to its own': `ALTER TABLE books ADD COLUMN titles text DEFAULT 'x', ADD COLUMN prize int DEFAULT 5, ADD COLUMN "title_" text;
      CREATE UNIQUE INDEX ON books (titles, id); CREATE INDEX ON books (prize); UPDATE books SET prize = 100 - id;`,
      'a hidden table refers to its own, and its own to a hidden one': `CREATE TABLE loans (id int PRIMARY KEY, book_id int REFERENCES books);
      INSERT INTO loans SELECT i, i FROM ${numbers('postgres', 1, 9)};
      ALTER TABLE books ADD COLUMN loan_id int REFERENCES loans; COMMENT ON COLUMN books.loan_id IS 'the loan';`,
      'hidden objects are renamed and removed': `ALTER TABLE books RENAME COLUMN shelf TO title_two; ALTER TABLE books ADD COLUMN gone int; ALTER TABLE books DROP COLUMN gone;
      CREATE TABLE aa (id int); ALTER TABLE aa RENAME TO zz; DROP TABLE zz; CREATE TYPE mood AS ENUM ('title'); ANALYZE;`,
    },
  },
  mysql: {
    setup: `
CREATE TABLE writers (id int PRIMARY KEY, name varchar(50));
CREATE TABLE books (
  id int PRIMARY KEY, title varchar(50) COMMENT 'As printed', writer_id int, price int, shelf varchar(50),
  FOREIGN KEY (writer_id) REFERENCES writers (id)) COMMENT 'All that can be lent';
INSERT INTO writers SELECT i, CONCAT('writer ', i) FROM ${numbers('mysql', 1, 5)};
INSERT INTO books SELECT i, CONCAT('title ', i % 7), 1 + i % 5, i % 4, CONCAT('shelf ', i % 3) FROM ${numbers('mysql', 1, 30)};
`,
    hiddenChanges: {
      'tables that look like its own are added': `CREATE TABLE book (id int PRIMARY KEY); CREATE TABLE books_ (id int PRIMARY KEY, title text);
      CREATE TABLE search_books (id int PRIMARY KEY); CREATE VIEW all_books AS SELECT * FROM books;
      CREATE PROCEDURE books_of(IN writer int) SELECT * FROM books WHERE writer_id = writer;`,
      'columns are added, first among them one that is near to its own': `ALTER TABLE books ADD COLUMN titles varchar(50) DEFAULT 'x' FIRST, ADD COLUMN prize int DEFAULT 5 AFTER titles,
        ADD COLUMN title_ varchar(50), ADD COLUMN twice int AS (price * 2) VIRTUAL;
      CREATE UNIQUE INDEX books_titles ON books (titles, id); CREATE INDEX books_prize ON books (prize);
      UPDATE books SET prize = 100 - id;`,
      'a hidden table refers to its own, and its own to a hidden one': `CREATE TABLE loans (id int PRIMARY KEY, book_id int, FOREIGN KEY (book_id) REFERENCES books (id));
      INSERT INTO loans SELECT i, i FROM ${numbers('mysql', 1, 9)};
      ALTER TABLE books ADD COLUMN loan_id int COMMENT 'the loan', ADD FOREIGN KEY (loan_id) REFERENCES loans (id);`,
      'hidden objects are renamed and removed': `ALTER TABLE books RENAME COLUMN shelf TO title_two; ALTER TABLE books ADD COLUMN gone int; ALTER TABLE books DROP COLUMN gone;
      CREATE TABLE aa (id int); ALTER TABLE aa RENAME TO zz; DROP TABLE zz;
      ALTER TABLE books MODIFY COLUMN title_two enum('shelf 0', 'shelf 1', 'shelf 2', 'title'); ANALYZE TABLE books, writers;`,
    },
  },
  sqlserver: {
    setup: `
CREATE TABLE writers (id int PRIMARY KEY, name nvarchar(50));
CREATE TABLE books (
  id int PRIMARY KEY, title nvarchar(50), writer_id int REFERENCES writers (id), price int, shelf nvarchar(50));
EXEC sp_addextendedproperty 'MS_Description', N'All that can be lent', 'schema', 'dbo', 'table', 'books';
EXEC sp_addextendedproperty 'MS_Description', N'As printed', 'schema', 'dbo', 'table', 'books', 'column', 'title'
GO
INSERT INTO writers SELECT i, CONCAT('writer ', i) FROM ${numbers('sqlserver', 1, 5)};
INSERT INTO books SELECT i, CONCAT('title ', i % 7), 1 + i % 5, i % 4, CONCAT('shelf ', i % 3) FROM ${numbers('sqlserver', 1, 30)}
GO
`,
    hiddenChanges: {
      'tables that look like its own are added': `CREATE SCHEMA other
      GO
      CREATE TABLE other.books (id int PRIMARY KEY, isbn nvarchar(50)); CREATE TABLE book (id int PRIMARY KEY);
      CREATE TABLE books_ (id int PRIMARY KEY, title nvarchar(50)); CREATE TABLE search_books (id int PRIMARY KEY)
      GO
      CREATE VIEW all_books AS SELECT * FROM books
      GO
      CREATE PROCEDURE books_of @writer int AS SELECT * FROM books WHERE writer_id = @writer
      GO
      CREATE FUNCTION books_by(@writer int) RETURNS TABLE AS RETURN (SELECT id FROM books WHERE writer_id = @writer)`,
      'columns are added, first among them one that is near to its own': `ALTER TABLE books ADD titles nvarchar(50) DEFAULT 'x';
      ALTER TABLE books ADD prize int DEFAULT 5; ALTER TABLE books ADD title_ nvarchar(50); ALTER TABLE books ADD twice AS (price * 2)
      GO
      CREATE UNIQUE INDEX books_titles ON books (titles, id); CREATE INDEX books_prize ON books (prize);
      UPDATE books SET prize = 100 - id`,
      'a hidden table refers to its own, and its own to a hidden one': `CREATE TABLE loans (id int PRIMARY KEY, book_id int REFERENCES books (id));
      INSERT INTO loans SELECT i, i FROM ${numbers('sqlserver', 1, 9)};
      ALTER TABLE books ADD loan_id int CONSTRAINT lent REFERENCES loans (id)
      GO
      EXEC sp_addextendedproperty 'MS_Description', N'the loan', 'schema', 'dbo', 'table', 'books', 'column', 'loan_id'`,
      'hidden objects are renamed and removed': `EXEC sp_rename 'books.shelf', 'title_two', 'COLUMN'
      GO
      ALTER TABLE books ADD gone int
      GO
      ALTER TABLE books DROP COLUMN gone; CREATE TABLE aa (id int)
      GO
      EXEC sp_rename 'aa', 'zz', 'OBJECT'
      GO
      DROP TABLE zz; EXEC sp_updatestats`,
    },
  },
}
