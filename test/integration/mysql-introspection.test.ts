import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { PROPERTY_KEY } from '../../src/core/names.js'
import { qualifiedName, type SchemaModel, type Table, type ValueType } from '../../src/core/schema-model.js'
import { testDriver } from '../support/driver.js'
import { MARIADB, MYSQL_TARGETS, type MysqlTestServer, READER_ACCOUNT, type TestDatabase } from '../support/mariadb.js'
import { mysqlTestServer } from '../support/mariadb-server.js'
import { introspected, introspection } from '../support/mysql-catalog.js'
import {
  LONGEST_MYSQL_NAME,
  NASTY_MYSQL_REVOKES,
  NASTY_MYSQL_SCHEMA,
  ODD_MYSQL_TABLE,
} from '../support/nasty-mysql-schema.js'
import { validatedMutation } from '../support/plans.js'
import { findMariadb, startThrowawayMariadb } from '../support/throwaway-mariadb.js'

const COMPARABLE = { equality: true, ordered: true }
const OPAQUE = { equality: false, ordered: false }
const INT = { logical: 'integer', range: [-2_147_483_648, 2_147_483_647], ...COMPARABLE }
const BOOLEAN = { logical: 'boolean', range: [-128, 127], ...COMPARABLE }
const BYTES = { logical: 'bytes', ...COMPARABLE }
const LOOSE = { logical: 'text', looseEquality: true, padsSpaces: true, ...COMPARABLE }
const MOMENT = { logical: 'timestamp', zeroParts: true, ...COMPARABLE }

/** Without the native names, in which the servers differ. */
const EVERY_TYPE = {
  id: INT,
  n1: { logical: 'integer', range: [-128, 127], ...COMPARABLE },
  flag: BOOLEAN,
  bool_column: BOOLEAN,
  n2: { logical: 'integer', range: [0, 65_535], ...COMPARABLE },
  n3: { logical: 'integer', range: [-8_388_608, 8_388_607], ...COMPARABLE },
  n8: { logical: 'bigint', ...COMPARABLE },
  u8: { logical: 'bigint', unsigned: true, ...COMPARABLE },
  b1: { logical: 'boolean', range: [0, 1], ...COMPARABLE },
  b5: { logical: 'integer', range: [0, 31], ...COMPARABLE },
  b64: { logical: 'bigint', unsigned: true, ...COMPARABLE },
  price: { logical: 'decimal', fractionDigitsMax: 3, digitsMax: 65, ...COMPARABLE },
  f4: { logical: 'float', finite: true, single: true, ...COMPARABLE },
  f8: { logical: 'float', finite: true, ...COMPARABLE },
  y: { logical: 'integer', range: [1901, 2155], alsoZero: true, ...COMPARABLE },
  d: { logical: 'date', zeroParts: true, ...COMPARABLE },
  dt: { ...MOMENT, withZone: false, fractionDigitsMax: 3 },
  ts: { ...MOMENT, withZone: true, fractionDigitsMax: 6 },
  tm: { logical: 'time', withZone: false, span: true, fractionDigitsMax: 2, ...COMPARABLE },
  bc: { ...LOOSE, charsMax: 5 },
  vc: { ...LOOSE, charsMax: 40 },
  t: LOOSE,
  tiny: LOOSE,
  folded: { ...LOOSE, charsMax: 9, foldsCase: true },
  narrow: { ...LOOSE, charsMax: 9, repertoire: 'latin1' },
  plain: { ...LOOSE, charsMax: 9, foldsCase: true, repertoire: 'ascii' },
  fixed: BYTES,
  vb: BYTES,
  bl: BYTES,
  js: { logical: 'json', ...OPAQUE },
  mood: { logical: 'enum', labels: ['first', 'b,c', "d'e", 'f\\g', 'h"i', '', '(x)', 'ü'], ...COMPARABLE },
  lost: { logical: 'unknown', equality: true, ordered: false, form: { kind: 'words', shown: ['ok'] } },
  tags: { logical: 'unknown', equality: true, ordered: false, form: { kind: 'set', members: ['x', 'y'] } },
  at_point: { logical: 'unknown', form: { kind: 'geometry' }, ...OPAQUE },
  doubled: INT,
  kept: INT,
  filled: INT,
  empty_default: INT,
  text_default: { ...LOOSE, charsMax: 9 },
  computed_default: INT,
  required: INT,
  touched: { ...MOMENT, withZone: true, fractionDigitsMax: 0 },
  told: INT,
}

function tableNamed(model: SchemaModel, name: string): Table {
  const table = model.tables.find((each) => each.ref.name === name)
  assert.ok(table, `table ${name}`)
  return table
}

function types(table: Table): Readonly<Record<string, Omit<ValueType, 'native'>>> {
  return Object.fromEntries(table.columns.map(({ name, type: { native: _, ...type } }) => [name, type]))
}

function names(model: SchemaModel): readonly string[] {
  return model.tables.map((table) => table.ref.name)
}

/** A login of its own for one test, whose rights end with it. */
async function asLogin<T>(
  server: MysqlTestServer,
  database: TestDatabase,
  options: string,
  work: (account: string, introspect: () => Promise<SchemaModel>) => Promise<T>,
): Promise<T> {
  const user = `login_${randomBytes(4).toString('hex')}`
  const account = `'${user}'@'%'`
  await server.query(`CREATE USER ${account} IDENTIFIED BY 'only-for-tests' ${options}`)
  try {
    const settings = database.reader({ connection: { user, password: 'only-for-tests' } })
    return await work(account, () => introspected(settings))
  } finally {
    await server.query(`DROP USER ${account}`)
  }
}

for (const target of MYSQL_TARGETS) {
  describe(`introspection by a SELECT-only login, ${target.label} server`, () => {
    const nasty = async (): Promise<TestDatabase> => {
      const server = await target.start()
      return server.createDatabase(NASTY_MYSQL_SCHEMA, NASTY_MYSQL_REVOKES)
    }
    const model = async (): Promise<SchemaModel> => introspected((await nasty()).reader())

    test('the model holds the readable tables of the one database, in order, without broken views', async () => {
      const server = await target.start()
      const database = await nasty()
      await server.createDatabase('CREATE TABLE elsewhere (id int PRIMARY KEY)')
      const { tables, engine, serverVersion } = await introspected(database.reader())
      assert.equal(engine, 'mysql')
      assert.match(serverVersion, server.product === 'mariadb' ? /^\d+\.\d+\.\d+-MariaDB$/ : /^\d+\.\d+\.\d+$/)
      assert.deepEqual(
        tables.map((table) => [table.ref.name, table.kind]),
        [
          ['Zebra', 'table'],
          ['counted', 'table'],
          ['customers', 'table'],
          ['every_type', 'table'],
          ['moods', 'view'],
          [ODD_MYSQL_TABLE.replaceAll('``', '`'), 'table'],
          ['orders', 'table'],
          ['parents', 'table'],
          ['parts', 'table'],
          ['quick', 'table'],
        ],
      )
      for (const table of tables) {
        assert.equal(table.ref.schema, database.name)
        assert.equal(table.catalogId, table.ref.name)
      }
    })

    test('every type has its logical form and what it can be compared by', async () => {
      const everyType = tableNamed(await model(), 'every_type')
      assert.deepEqual(types(everyType), EVERY_TYPE)
      const native = new Map(everyType.columns.map(({ name, type }) => [String(name), type.native]))
      assert.equal(native.get('price'), 'decimal(12,3)')
      assert.match(native.get('u8') ?? '', /^bigint(\(20\))? unsigned$/)
    })

    test('columns say what may be null, what has a default and what the database makes itself', async () => {
      const { columns, comment } = tableNamed(await model(), 'every_type')
      const facts = Object.fromEntries(columns.map((c) => [c.name, [c.nullable, c.hasDefault, c.generated]]))
      assert.deepEqual(facts['id'], [false, true, 'by_default'])
      assert.deepEqual(facts['n2'], [true, false, 'no'])
      assert.deepEqual(facts['doubled'], [true, false, 'computed'])
      assert.deepEqual(facts['kept'], [true, false, 'computed'])
      assert.deepEqual(facts['filled'], [false, true, 'no'])
      assert.deepEqual(facts['empty_default'], [true, false, 'no'])
      assert.deepEqual(facts['text_default'], [true, true, 'no'], 'a text that reads NULL')
      assert.deepEqual(facts['computed_default'], [true, true, 'no'])
      assert.deepEqual(facts['required'], [false, false, 'no'])
      assert.deepEqual(facts['touched'], [false, true, 'no'])
      assert.equal(comment, 'One of each.')
      assert.equal(columns.find((c) => c.name === 'n2')?.comment, undefined)
      assert.equal(columns.find((c) => c.name === 'told')?.comment, 'It\'s\nthe "number".')
    })

    test('a view has no comment, no keys and no count, and its columns may be null', async () => {
      const moods = tableNamed(await model(), 'moods')
      assert.equal(moods.comment, undefined)
      assert.equal(moods.rowEstimate, undefined)
      assert.equal(moods.notTransactional, undefined)
      assert.deepEqual([moods.primaryKey, moods.uniqueKeys, moods.foreignKeys, moods.indexes], [[], [], [], []])
      assert.ok(moods.columns.every((column) => column.nullable))
      assert.deepEqual(types(moods)['mood'], EVERY_TYPE.mood)
    })

    test('keys are seen without any privilege but SELECT, and part of a text or of the columns is none', async () => {
      const schema = await model()
      const customers = tableNamed(schema, 'customers')
      assert.deepEqual(
        customers.columns.map((column) => column.name),
        ['tenant', 'id', 'email', 'nick', 'story'],
      )
      assert.deepEqual(customers.primaryKey, ['tenant', 'id'])
      assert.deepEqual(customers.uniqueKeys, [['email'], ['id', 'tenant']])
      assert.deepEqual(tableNamed(schema, 'parts').primaryKey, ['id', 'place'])
      assert.deepEqual(tableNamed(schema, 'Zebra').primaryKey, [])
    })

    test('indexes end at the start of a text or an unreadable column, and only trees are listed', async () => {
      const schema = await model()
      const listed = (table: string): unknown =>
        tableNamed(schema, table)
          .indexes.filter((index) => index.name !== 'by_secret')
          .map((index) => [index.name, index.columns, index.unique, index.partial])
      assert.deepEqual(listed('customers'), [
        ['PRIMARY', ['tenant', 'id'], true, false],
        ['by_email', ['email'], true, false],
        ['by_nick', ['nick'], true, false],
        ['started', ['nick'], false, false],
        ['swapped', ['id', 'tenant'], true, false],
      ])
      // MariaDB hides an index with a column that the login may not read; MySQL shows it.
      const secret = tableNamed(schema, 'customers').indexes.find((index) => index.name === 'by_secret')
      if (secret !== undefined) assert.deepEqual([secret.columns, secret.unique], [['id'], false])
      assert.deepEqual(listed('quick'), [['treed', ['a'], false, false]])
      assert.deepEqual(tableNamed(schema, 'quick').primaryKey, ['id'], 'a key whatever carries it')
    })

    test('foreign keys keep their column order and each other apart', async () => {
      const { name, reader } = await nasty()
      const orders = tableNamed(await introspected(reader()), 'orders')
      assert.deepEqual(
        orders.foreignKeys.map((key) => [key.name, key.columns, qualifiedName(key.references), key.referencedColumns]),
        [
          ['bought', ['tenant', 'buyer'], `${name}.customers`, ['tenant', 'id']],
          ['by_other', ['other'], `${name}.parents`, ['other']],
          ['follows', ['parent'], `${name}.orders`, ['id']],
          ['received', ['receiver', 'tenant'], `${name}.customers`, ['id', 'tenant']],
        ],
      )
    })

    test('half of a foreign key is none', async () => {
      const server = await target.start()
      const database = await server.createDatabase(
        `CREATE TABLE parents (a int, b int, PRIMARY KEY (a, b), alone int NOT NULL, UNIQUE KEY by_alone (alone));
         CREATE TABLE children (a int, b int, alone int, x int,
           CONSTRAINT half FOREIGN KEY (a, b) REFERENCES parents (a, b),
           CONSTRAINT whole FOREIGN KEY (alone) REFERENCES parents (alone))`,
        `REVOKE SELECT ON children FROM ${READER_ACCOUNT}; GRANT SELECT (a, alone) ON children TO ${READER_ACCOUNT}`,
      )
      const { foreignKeys } = tableNamed(await introspected(database.reader()), 'children')
      // To a login that may read some columns alone, MariaDB shows no foreign key of the table at all.
      assert.deepEqual(
        foreignKeys.map((key) => key.name),
        server.product === 'mariadb' ? [] : ['whole'],
      )
    })

    test('a foreign key into another database keeps that name', async () => {
      const server = await target.start()
      const other = await server.createDatabase('CREATE TABLE owners (id int PRIMARY KEY)')
      const database = await server.createDatabase(
        `CREATE TABLE owned (id int PRIMARY KEY, owner int, CONSTRAINT away FOREIGN KEY (owner) REFERENCES ${other.name}.owners (id))`,
      )
      const [key] = tableNamed(await introspected(database.reader()), 'owned').foreignKeys
      assert.deepEqual(key?.references, { schema: other.name, name: 'owners' })
      // The parent cannot go before the child does.
      await database.drop()
    })

    test('tables say how many rows they had, and whether a change of them can be undone', async () => {
      const schema = await model()
      assert.equal(tableNamed(schema, 'counted').rowEstimate, 3)
      const undoable = Object.fromEntries(schema.tables.map((table) => [table.ref.name, table.notTransactional]))
      assert.deepEqual([undoable['counted'], undoable['quick']], [true, true])
      assert.deepEqual([undoable['orders'], undoable['parts'], undoable['moods']], [undefined, undefined, undefined])
    })

    test('only MariaDB gives a new row back by itself', async () => {
      const server = await target.start()
      const expected = server.product === 'mariadb' ? undefined : 'by_key'
      assert.equal(tableNamed(await model(), 'orders').insertReadBack, expected)
    })

    test('odd names arrive as the catalog spells them, with a name that agents can use', async () => {
      const { columns } = tableNamed(await model(), ODD_MYSQL_TABLE.replaceAll('``', '`'))
      assert.deepEqual(
        columns.map((column) => column.name),
        ['__proto__', 'constructor', 'a.b c', LONGEST_MYSQL_NAME, 'Ünï', 'select', 'quo"te'],
      )
      assert.deepEqual(
        columns.map((column) => column.catalogId),
        [1, 2, 3, 4, 5, 6, 7],
      )
      for (const column of columns) {
        assert.match(column.agentName, PROPERTY_KEY)
        assert.notEqual(column.agentName, '__proto__')
      }
      assert.equal(new Set(columns.map((column) => column.agentName)).size, columns.length)
    })

    test('as many queries are asked for one table as for all of them', async () => {
      const server = await target.start()
      const count = async (database: TestDatabase): Promise<number> => {
        const texts: string[] = []
        await introspection(database.reader(), database.name, (text) => texts.push(text))
        return texts.length
      }
      const one = await server.createDatabase('CREATE TABLE one (id int PRIMARY KEY, j json)')
      assert.equal(await count(await nasty()), await count(one))
    })

    test('the login facts tell a reader from a superuser', async () => {
      const server = await target.start()
      const grants = [
        `GRANT UPDATE (nick) ON customers TO ${READER_ACCOUNT}`,
        `GRANT DELETE ON orders TO ${READER_ACCOUNT}`,
        `GRANT ALTER ON parts TO ${READER_ACCOUNT}`,
        `GRANT DROP ON parents TO ${READER_ACCOUNT}`,
      ]
      const database = await server.createDatabase(NASTY_MYSQL_SCHEMA, grants.join(';'))
      const reader = (await introspected(database.reader())).login
      const owned = ['parents', 'parts'].map((table) => `${database.name}.${table}`)
      const written = ['customers', 'orders'].map((table) => `${database.name}.${table}`)
      assert.deepEqual([reader.superuser, reader.owns, reader.ownsCount], [false, owned, 2])
      assert.deepEqual([reader.writes, reader.writesCount], [written, 2])
      const [[connections = ''] = []] = await server.query('SELECT @@max_connections')
      assert.equal(reader.connectionsMax, Number(connections))
      const superuser = await introspected(database.superuser())
      assert.equal(superuser.login.superuser, true)
      assert.equal(superuser.login.writesCount, 13)
      assert.equal(superuser.login.ownsCount, 13)
    })

    test('a row comes back from its insert where the login may insert every column, and by its key where it may not', async (t) => {
      const server = await target.start()
      const database = await server.createDatabase(
        `CREATE TABLE whole (id int PRIMARY KEY AUTO_INCREMENT, note varchar(9));
         CREATE TABLE parts (id int PRIMARY KEY AUTO_INCREMENT, note varchar(9))`,
      )
      await asLogin(server, database, '', async (account, introspect) => {
        await server.query(`GRANT SELECT, INSERT ON ${database.name}.whole TO ${account}`)
        await server.query(`GRANT SELECT, INSERT (note) ON ${database.name}.parts TO ${account}`)
        const { tables } = await introspect()
        const whole = server.product === 'mariadb' ? undefined : 'by_key'
        assert.deepEqual(
          tables.map(({ ref, insertReadBack }) => [ref.name, insertReadBack]),
          [
            ['parts', 'by_key'],
            ['whole', whole],
          ],
        )
        const [, user = ''] = /^'(.*?)'/.exec(account) ?? []
        const { mutate, driver } = testDriver(t, database.writer({ connection: { user, password: 'only-for-tests' } }))
        for (const table of tables) {
          const parts = { values: { note: 'made' }, returning: ['id', 'note'] }
          const { outcome } = await mutate(validatedMutation(table, 'create', parts))
          assert.deepEqual(outcome.ok && outcome.value, { kind: 'written', rows: [['1', 'made']], affected: 1 })
        }
        await driver.close()
      })
    })

    test('a view whose function writes is a view like others, and introspection does not run it', async (t) => {
      const server = await target.start()
      const database = await server.createDatabase(
        `CREATE TABLE log (n int);
         CREATE FUNCTION noted() RETURNS int MODIFIES SQL DATA BEGIN INSERT INTO log VALUES (1); RETURN 1; END;
         CREATE VIEW counted AS SELECT n, noted() AS seen FROM log;
         CREATE ALGORITHM = TEMPTABLE VIEW counted_once AS SELECT noted() AS seen;
         CREATE TABLE gone (x int); CREATE VIEW broken AS SELECT x FROM gone; DROP TABLE gone`,
      )
      const { schema } = testDriver(t, database.reader())
      const { tables } = await schema()
      assert.deepEqual(
        tables.map(({ ref, columns }) => [ref.name, columns.map(({ name, type }) => [name, type.logical])]),
        [
          [
            'counted',
            [
              ['n', 'integer'],
              ['seen', 'integer'],
            ],
          ],
          ['counted_once', [['seen', 'integer']]],
          ['log', [['n', 'integer']]],
        ],
      )
      assert.deepEqual(await database.query('SELECT * FROM log'), [])
    })

    test('rights of a whole database, of a role and a limit of connections count as well', async () => {
      const server = await target.start()
      const database = await server.createDatabase(
        'CREATE TABLE a (id int PRIMARY KEY); CREATE TABLE b (id int PRIMARY KEY)',
      )
      const both = ['a', 'b'].map((table) => `${database.name}.${table}`)
      await asLogin(server, database, 'WITH MAX_USER_CONNECTIONS 7', async (account, introspect) => {
        const pattern = database.name.replaceAll('_', '\\_')
        await server.query(`GRANT SELECT, DELETE ON \`${pattern}\`.* TO ${account}`)
        const { login } = await introspect()
        assert.deepEqual([login.superuser, login.writes, login.owns], [false, both, []])
        assert.equal(login.connectionsMax, 7)
      })
      const role = `role_${randomBytes(4).toString('hex')}`
      await server.query(`CREATE ROLE ${role}`)
      try {
        await server.query(`GRANT SELECT, DELETE ON ${database.name}.* TO ${role}`)
        await server.query(`GRANT ALTER ON ${database.name}.b TO ${role}`)
        await asLogin(server, database, '', async (account, introspect) => {
          await server.query(`GRANT ${role} TO ${account}`)
          const to = server.product === 'mariadb' ? 'FOR' : 'TO'
          await server.query(`SET DEFAULT ROLE ${role} ${to} ${account}`)
          const schema = await introspect()
          assert.deepEqual(names(schema), ['a', 'b'])
          assert.deepEqual([schema.login.writes, schema.login.owns], [both, both.slice(1)])
        })
      } finally {
        await server.query(`DROP ROLE ${role}`)
      }
    })

    test('a login sees the tables that it may SELECT, and those alone', async () => {
      const server = await target.start()
      const database = await server.createDatabase('CREATE TABLE a (id int, x int); CREATE TABLE b (id int)')
      await asLogin(server, database, '', async (account, introspect) => {
        await server.query(`GRANT INSERT ON ${database.name}.b TO ${account}`)
        await server.query(`GRANT SELECT (x), UPDATE (id) ON ${database.name}.a TO ${account}`)
        const schema = await introspect()
        assert.deepEqual(
          schema.tables.map((table) => [table.ref.name, table.columns.map((column) => column.name)]),
          [['a', ['x']]],
        )
        assert.deepEqual(schema.tables[0]?.columns[0]?.catalogId, 2)
        assert.equal(schema.login.writesCount, 2)
      })
    })

    test('a database that does not exist, is spelt otherwise or may not be used is named in the reason', async () => {
      const server = await target.start()
      const database = await server.createDatabase('CREATE TABLE t (id int)')
      const closed = await server.createDatabase(
        'CREATE TABLE t (id int)',
        [`REVOKE SELECT ON t FROM ${READER_ACCOUNT}`, `REVOKE EXECUTE ON * FROM ${READER_ACCOUNT}`].join(';'),
      )
      const folds = (await server.query('SELECT @@lower_case_table_names'))[0]?.[0] !== '0'
      const missing = ['no_such', closed.name, ...(folds ? [] : [database.name.toUpperCase()])]
      for (const name of missing) {
        const outcome = await introspection(database.reader(), name)
        assert.ok(!outcome.ok, name)
        assert.equal(outcome.error.code, 'CONNECTOR_UNAVAILABLE')
        assert.match(outcome.error.reason ?? '', new RegExp(`"${name}"`))
      }
    })

    test('objects named like those of the catalog do not mislead introspection', async () => {
      const server = await target.start()
      const database = await server.createDatabase('CREATE TABLE `TABLES` (id int); CREATE TABLE `columns` (id int)')
      assert.deepEqual(names(await introspected(database.reader())), ['TABLES', 'columns'])
    })
  })

  test(`functions and procedures have parameters and results, and only those that may be run (${target.label})`, async () => {
    const server = await target.start()
    const database = await server.createDatabase(
      `
      CREATE FUNCTION added(a int, \`the b\` varchar(9) CHARACTER SET latin1) RETURNS varchar(20) CHARACTER SET utf8mb3
        DETERMINISTIC READS SQL DATA COMMENT 'Adds.' RETURN 'x';
      CREATE PROCEDURE \`Work\`(job enum('q','r,s'), INOUT done tinyint(1), OUT total decimal(10,3)) SQL SECURITY INVOKER
        SELECT 1;
      CREATE PROCEDURE added() NO SQL BEGIN END;
      CREATE PROCEDURE closed() BEGIN END;`,
      [
        `REVOKE EXECUTE ON * FROM ${READER_ACCOUNT}`,
        `GRANT EXECUTE ON FUNCTION added TO ${READER_ACCOUNT}`,
        `GRANT EXECUTE ON PROCEDURE added TO ${READER_ACCOUNT}`,
        `GRANT EXECUTE ON PROCEDURE \`Work\` TO ${READER_ACCOUNT}`,
        `GRANT ALTER ROUTINE ON PROCEDURE closed TO ${READER_ACCOUNT}`,
      ].join(';'),
    )
    const { routines } = await introspected(database.reader())
    assert.deepEqual(
      routines.map(({ ref, catalogId, declaredReadOnly, securityDefiner, comment }) => [
        qualifiedName(ref),
        catalogId,
        declaredReadOnly,
        securityDefiner,
        comment,
      ]),
      [
        [`${database.name}.Work`, 'procedure:Work', false, false, undefined],
        [`${database.name}.added`, 'procedure:added', true, true, undefined],
        [`${database.name}.added`, 'function:added', true, true, 'Adds.'],
      ],
    )
    const [work, procedure, added] = routines
    assert.deepEqual(
      work?.parameters.map(({ name, mode, type, hasDefault }) => [name, mode, type.logical, hasDefault]),
      [
        ['job', 'in', 'enum', false],
        ['done', 'inout', 'boolean', false],
        ['total', 'out', 'decimal', false],
      ],
    )
    assert.deepEqual(work?.parameters[0]?.type.labels, ['q', 'r,s'])
    assert.equal(work?.signature, "enum('q','r,s'), tinyint(1)")
    assert.ok(work?.result.kind === 'sets')
    assert.deepEqual(
      work.result.fields.map(({ name, agentName, type }) => [name, agentName, type.logical]),
      [
        ['done', 'done', 'boolean'],
        ['total', 'total', 'decimal'],
      ],
    )
    assert.deepEqual(
      [procedure?.kind, procedure?.parameters, procedure?.result],
      ['procedure', [], { kind: 'sets', fields: [] }],
    )
    assert.deepEqual(
      added?.parameters.map(({ name, agentName, type }) => [name, PROPERTY_KEY.test(agentName), type.repertoire]),
      [
        ['a', true, undefined],
        ['the b', true, 'latin1'],
      ],
    )
    assert.ok(added?.result.kind === 'scalar')
    const { set, type } = added.result
    assert.deepEqual([set, type.logical, type.charsMax, type.repertoire], [false, 'text', 20, 'bmp'])
  })
}

describe('introspection of what only MariaDB has', () => {
  test('versioned tables are tables, whose keys need no version; sequences and packages are left out', async () => {
    const server = await MARIADB.start()
    const database = await server.createDatabase(`
      CREATE TABLE plain_history (id int PRIMARY KEY, x int) WITH SYSTEM VERSIONING;
      CREATE TABLE shown_history (
        id int, code int NOT NULL, since timestamp(6) GENERATED ALWAYS AS ROW START, until timestamp(6) GENERATED ALWAYS AS ROW END,
        PERIOD FOR SYSTEM_TIME (since, until), PRIMARY KEY (id), UNIQUE KEY by_code (code)
      ) WITH SYSTEM VERSIONING;
      CREATE SEQUENCE numbers;
      SET sql_mode = 'ORACLE';
      CREATE PACKAGE pack AS FUNCTION inside RETURN int; END;
      CREATE PACKAGE BODY pack AS FUNCTION inside RETURN int AS BEGIN RETURN 1; END; END;`)
    for (const settings of [database.reader(), database.superuser()]) {
      const schema = await introspected(settings)
      assert.deepEqual(schema.routines, [])
      assert.deepEqual(names(schema), ['plain_history', 'shown_history'])
      assert.deepEqual(tableNamed(schema, 'plain_history').primaryKey, ['id'])
      const shown = tableNamed(schema, 'shown_history')
      assert.deepEqual([shown.primaryKey, shown.uniqueKeys], [['id'], [['code']]])
      assert.deepEqual(
        shown.columns.map((column) => [column.name, column.generated]),
        [
          ['id', 'no'],
          ['code', 'no'],
          ['since', 'computed'],
          ['until', 'computed'],
        ],
      )
    }
  })

  test('json is a long text with a check of its own column; a check of more, or of another, makes none', async () => {
    const server = await MARIADB.start()
    const database = await server.createDatabase(
      `CREATE TABLE docs (
        j json, \`o\`\`dd\` longtext CHECK (json_valid(\`o\`\`dd\`)), t longtext,
        long_list longtext CHECK (json_valid(long_list) OR long_list = ''), short varchar(99) CHECK (json_valid(short)),
        other longtext, CONSTRAINT other CHECK (json_valid(j)), u uuid, a inet6)`,
      `REVOKE SELECT ON docs FROM ${READER_ACCOUNT};
       GRANT SELECT (j, \`o\`\`dd\`, t, long_list, short, other, u) ON docs TO ${READER_ACCOUNT}`,
    )
    const docs = tableNamed(await introspected(database.reader()), 'docs')
    assert.deepEqual(
      docs.columns.map((column) => [column.name, column.type.logical]),
      [
        ['j', 'json'],
        ['o`dd', 'json'],
        ['t', 'text'],
        ['long_list', 'text'],
        ['short', 'text'],
        ['other', 'text'],
        ['u', 'uuid'],
      ],
    )
  })

  test('an index that is ignored still makes a key, but serves no query; invisible columns are columns', async () => {
    const server = await MARIADB.start()
    const database = await server.createDatabase(`CREATE TABLE t (
      key_of_all int PRIMARY KEY, id int NOT NULL, code int INVISIBLE NOT NULL DEFAULT 1, UNIQUE KEY by_id (id) IGNORED, KEY by_code (code),
      story text NOT NULL, UNIQUE KEY by_story (story))`)
    const t = tableNamed(await introspected(database.reader()), 't')
    assert.deepEqual(
      [t.uniqueKeys, t.indexes.map(({ name }) => name)],
      [
        [['id'], ['story']],
        ['PRIMARY', 'by_code'],
      ],
    )
    assert.deepEqual(
      t.columns.map((column) => [column.name, column.hasDefault]),
      [
        ['key_of_all', false],
        ['id', false],
        ['code', true],
        ['story', false],
      ],
    )
  })

  test('where the server disregards case, a database is found however it is spelt, and called what the catalog calls it', async () => {
    const settings = { 'lower-case-table-names': '1' }
    const server = await startThrowawayMariadb({ program: await findMariadb(), settings })
    try {
      const folding = await mysqlTestServer('folding', server, async () => {})
      const database = await folding.createDatabase('CREATE TABLE `Mixed` (id int PRIMARY KEY)')
      const model = await introspection(database.reader(), database.name.toUpperCase())
      assert.ok(model.ok)
      assert.deepEqual(
        model.value.tables.map((table) => qualifiedName(table.ref)),
        [`${database.name}.mixed`],
      )
    } finally {
      await server.stop()
    }
  })

  test('a foreign key to columns that are not unique is no way to one row', async () => {
    const server = await MARIADB.start()
    const database = await server.createDatabase(`
      CREATE TABLE parents (id int PRIMARY KEY, kind int NOT NULL, KEY by_kind (kind));
      CREATE TABLE children (kind int, id int,
        CONSTRAINT many FOREIGN KEY (kind) REFERENCES parents (kind), CONSTRAINT one FOREIGN KEY (id) REFERENCES parents (id))`)
    const { foreignKeys } = tableNamed(await introspected(database.reader()), 'children')
    assert.deepEqual(
      foreignKeys.map((key) => key.name),
      ['one'],
    )
  })
})
