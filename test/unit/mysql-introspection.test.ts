import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ok } from '../../src/core/result.js'
import type { SchemaModel, Table } from '../../src/core/schema-model.js'
import type { CatalogRow } from '../../src/engines/catalog/rows.js'
import {
  COLUMNS,
  DATABASES,
  FOREIGN_KEYS,
  GRANTS,
  MYSQL_INDEXES,
  PARAMETERS,
  RELATIONS,
  ROUTINE_TEXTS,
  ROUTINES,
  SERVER_FACTS,
  VIEW_TEXTS,
} from '../../src/engines/mysql/catalog-queries.js'
import { introspectCatalog } from '../../src/engines/mysql/introspector.js'
import { viewReads } from '../../src/engines/mysql/reads.js'

/** What MySQL's own server answers to a login that may read some columns of a table alone. */
const ANSWERS: Readonly<Record<string, readonly CatalogRow[]>> = {
  [SERVER_FACTS]: [['8.4.3-0ubuntu1', '0', '151', '20']],
  [DATABASES]: [['Shop'], ['shop']],
  [GRANTS]: [
    ['GRANT USAGE ON *.* TO `r`@`%`'],
    ['GRANT SELECT (`id`, `code`), INSERT (`code`) ON `shop`.`parents` TO `r`@`%`'],
    ['GRANT EXECUTE ON PROCEDURE `shop`.`run` TO `r`@`%`'],
  ],
  [RELATIONS]: [
    ['parents', 'BASE TABLE', '', '7', 'YES'],
    ['children', 'BASE TABLE', 'Of parents.', null, 'YES'],
    ['lost', 'BASE TABLE', '', null, null],
  ],
  [COLUMNS]: [
    column('children', 'parent_id', 1, 'int', { nullable: 'YES' }),
    column('children', 'doc', 2, 'json', { nullable: 'YES', default: 'NULL' }),
    column('lost', 'id', 1, 'int', {}),
    column('parents', 'id', 1, 'bigint unsigned', { extra: 'auto_increment' }),
    column('parents', 'code', 3, 'int', {
      default: '(1 + 2)',
      extra: 'DEFAULT_GENERATED',
      privileges: 'select,insert',
    }),
    column('parents', 'twice', 4, 'int', { extra: 'STORED GENERATED INVISIBLE' }),
    column('parents', 'hidden', 5, 'int', { privileges: 'insert,references' }),
  ],
  [MYSQL_INDEXES]: [
    indexPart('children', 'by_parent', '1', 'parent_id'),
    indexPart('parents', 'PRIMARY', '0', 'id'),
    indexPart('parents', 'PRIMARY', '0', 'hidden'),
    indexPart('parents', 'by_code', '0', 'code', 'NO'),
    indexPart('parents', 'by_sum', '0', 'id'),
    indexPart('parents', 'by_sum', '0', null),
  ],
  [FOREIGN_KEYS]: [
    ['children', 'coded', 'parent_id', '1', 'shop', 'parents', 'code'],
    // Its second column is one that the login may do nothing with.
    ['children', 'cut', 'parent_id', '1', 'shop', 'parents', 'id'],
    ['children', 'cut_before', 'parent_id', '2', 'shop', 'parents', 'code'],
  ],
  [ROUTINES]: [
    ['PROCEDURE', 'run', '', 'MODIFIES SQL DATA', 'DEFINER', null, null, null],
    ['PROCEDURE', 'seen', '', 'NO SQL', 'DEFINER', null, null, null],
  ],
  [PARAMETERS]: [['PROCEDURE run', 'OUT', 'n', 'int', null, null]],
  [VIEW_TEXTS]: [['unseen', '']],
  [ROUTINE_TEXTS]: [
    ['PROCEDURE run', 'begin select count(*) into n from Parents where `code` = 7; end'],
    ['PROCEDURE seen', null],
  ],
}

interface ColumnFacts {
  readonly nullable?: string
  readonly default?: string
  readonly extra?: string
  readonly privileges?: string
}

function column(table: string, name: string, place: number, type: string, facts: ColumnFacts): CatalogRow {
  const { nullable = 'NO', extra = '', privileges = 'select' } = facts
  const written = facts.default ?? null
  return [table, name, String(place), type, null, null, nullable, written, extra, '', '', privileges]
}

function indexPart(table: string, name: string, repeats: string, of: string | null, visible = 'YES'): CatalogRow {
  return [table, name, repeats, of, null, 'BTREE', visible]
}

async function introspected(): Promise<SchemaModel> {
  const model = await introspectCatalog(async (text) => {
    const rows = ANSWERS[text]
    assert.ok(rows, `MySQL is not asked this: ${text}`)
    return ok(rows)
  }, 'shop')
  assert.ok(model.ok)
  return model.value
}

function tableNamed(model: SchemaModel, name: string): Table {
  const table = model.tables.find((each) => each.ref.name === name)
  assert.ok(table)
  return table
}

test('MySQL: a new row is read back by its key, and a table without an engine is never written', async () => {
  const model = await introspected()
  assert.equal(model.serverVersion, '8.4.3')
  assert.deepEqual(
    model.tables.map((table) => [table.ref.schema, table.ref.name, table.insertReadBack, table.notTransactional]),
    [
      ['shop', 'children', 'by_key', undefined],
      ['shop', 'lost', 'by_key', true],
      ['shop', 'parents', 'by_key', undefined],
    ],
  )
  assert.deepEqual([model.tables[0]?.comment, model.tables[0]?.rowEstimate], ['Of parents.', undefined])
  assert.equal(model.tables[2]?.rowEstimate, 7)
})

test('MySQL: a default that is computed makes no computed column, and a text that reads NULL is a default', async () => {
  const model = await introspected()
  const facts = [...tableNamed(model, 'parents').columns, ...tableNamed(model, 'children').columns]
  assert.deepEqual(
    facts.map(({ name, catalogId, generated, hasDefault }) => [name, catalogId, generated, hasDefault]),
    [
      ['id', 1, 'by_default', true],
      ['code', 3, 'no', true],
      ['twice', 4, 'computed', false],
      ['parent_id', 1, 'no', false],
      ['doc', 2, 'no', true],
    ],
  )
  assert.equal(tableNamed(model, 'children').columns[1]?.type.logical, 'json')
})

test('MySQL: an index ends at an expression or a hidden column, and an invisible one is a key alone', async () => {
  const parents = tableNamed(await introspected(), 'parents')
  assert.deepEqual([parents.primaryKey, parents.uniqueKeys], [[], [['code']]])
  assert.deepEqual(
    parents.indexes.map(({ name, columns, unique }) => [name, columns, unique]),
    [
      ['PRIMARY', ['id'], false],
      ['by_sum', ['id'], false],
    ],
  )
})

test('MySQL: a foreign key of which columns were left out is none, wherever they stood', async () => {
  const { foreignKeys } = tableNamed(await introspected(), 'children')
  assert.deepEqual(
    foreignKeys.map(({ name, columns, referencedColumns }) => [name, columns, referencedColumns]),
    [['coded', ['parent_id'], ['code']]],
  )
})

test('MySQL: a routine that may be seen is not one that may be run; the smaller limit of connections counts', async () => {
  const { routines, login } = await introspected()
  assert.deepEqual(
    routines.map(({ ref, signature, declaredReadOnly, parameters }) => [
      ref.name,
      signature,
      declaredReadOnly,
      parameters.map(({ mode }) => mode),
    ]),
    [['run', '', false, ['out']]],
  )
  assert.deepEqual([login.writes, login.owns, login.superuser], [['shop.parents'], [], false])
  assert.equal(login.connectionsMax, 20)
})

test('a query that fails ends introspection with its error', async () => {
  const error = { code: 'CONNECTOR_UNAVAILABLE', reason: 'gone' } as const
  for (const failing of Object.keys(ANSWERS)) {
    const outcome = await introspectCatalog(
      async (text) => (text === failing ? { ok: false, error } : ok(ANSWERS[text] ?? [])),
      'shop',
    )
    assert.deepEqual(outcome, { ok: false, error })
  }
})

test('MySQL: what a routine reads is told by the words of its text, and nothing is told of a text that is not shown', async () => {
  const model = await introspected()
  const told = model.routines.map(({ ref, reads }) => [
    ref.name,
    reads?.map(({ table, columns }) => [table.name, columns]),
  ])
  assert.deepEqual(told, [['run', [['parents', ['code']]]]])
})

test('MySQL: a view reads the columns that stand behind the aliases of its tables, and no others of the same names', () => {
  const text =
    'select `c`.`id` AS `email`,concat(`c`.`first`,`shop`.`orders`.`note`) AS `x``y` from ((`shop`.`customers` `c` ' +
    'join `shop`.`orders` on(`shop`.`orders`.`customer_id` = `c`.`id`)) left join `far`.`odd``name` `o` on(`o`.`email` = 1)) ' +
    'where `c`.`id` in (select `d`.`id` from `shop`.`deleted` `d`)'
  const reads = viewReads(text).map(({ schema, name, columns }) => [`${schema}.${name}`, columns])
  assert.deepEqual(reads, [
    ['shop.customers', ['id', 'first']],
    ['shop.orders', ['note', 'customer_id']],
    ['far.odd`name', ['email']],
    ['shop.deleted', ['id']],
  ])
})
