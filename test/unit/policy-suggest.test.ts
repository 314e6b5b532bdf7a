import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Column, catalogName, type Table } from '../../src/core/schema-model.js'
import { compileDocument } from '../../src/policy/compile-document.js'
import { parsePolicy } from '../../src/policy/policy-document.js'
import { suggestPolicy } from '../../src/policy/suggest.js'
import { holdingOf, wordsOf } from '../../src/policy/suggest-columns.js'
import { refOf, routineOf, schemaOf, type TYPES, tableOf, withRoutines } from '../support/policy-schema.js'

function columnOf(name: string, type: keyof typeof TYPES): Column {
  const [column] = tableOf('s', 't', { columns: { [name]: type } }).columns
  assert.ok(column !== undefined)
  return column
}

const holding = (name: string, type: keyof typeof TYPES = 'text') => holdingOf(columnOf(name, type), false)

describe('what a column seems to hold', () => {
  test('words are told apart in every style of names', () => {
    assert.deepEqual(wordsOf('usr_passwd'), ['usr', 'passwd'])
    assert.deepEqual(wordsOf('PasswordHash'), ['password', 'hash'])
    assert.deepEqual(wordsOf('strAPIKey2'), ['str', 'api', 'key', '2'])
    assert.deepEqual(wordsOf('zip code'), ['zip', 'code'])
  })

  test('secrets are told in every style, and where nobody parted the words', () => {
    const names =
      'password, PasswordHash, usr_passwd, pwd, strPassword, userpassword, apiKey, api_key, APIKEY, access_token, RefreshToken, salt, vc_secret, client_secret, pin, card_pin, cvv, otp_secret, recovery_codes, privateKey, jwt'
    for (const name of names.split(', ')) assert.equal(holding(name), 'secret', name)
    assert.equal(holding('pin', 'integer'), 'secret')
    assert.equal(holding('token', 'uuid'), 'secret')
  })

  test('what is sensitive and what is personal are told apart', () => {
    for (const name of 'ssn, TaxId, passport_no, iban, card_number, CreditCardNumber, national_id'.split(', ')) {
      assert.equal(holding(name), 'sensitive', name)
    }
    assert.deepEqual(
      [holding('birth_date', 'date'), holding('DateOfBirth', 'date'), holding('dob')],
      ['sensitive', 'sensitive', 'sensitive'],
    )
    assert.equal(holding('salary', 'decimal'), 'sensitive')
    for (const name of 'email, EmailAddress, phone_number, mobile, first_name, LastName, address2, zip code, ip_address'.split(
      ', ',
    )) {
      assert.equal(holding(name), 'personal', name)
    }
  })

  test('short forms and other languages are known as well', () => {
    for (const name of [
      'login_pw',
      'pass',
      'mdp',
      'kennwort',
      'session_id',
      'cookie',
      'dsn',
      'pincode',
      'private_pem',
    ]) {
      assert.equal(holding(name), 'secret', name)
    }
    for (const name of ['cc_num', 'bic', 'prescription', 'nationality']) assert.equal(holding(name), 'sensitive', name)
    for (const name of ['mail', 'tel', 'vorname', 'display_name', 'imei']) assert.equal(holding(name), 'personal', name)
  })

  test('what is only about such a thing is not it', () => {
    const names =
      'token_type, card_brand, password_policy, email_status, content_hash, file_hash, country, company, spinner, opinion, tokenizer_name, shipping_method, key, hashtag, pint, mapping, description, ip_version'
    for (const name of names.split(', ')) assert.equal(holding(name), undefined, name)
    assert.equal(holding('password_changed_at', 'timestamp'), undefined)
    assert.equal(holding('token_count', 'integer'), undefined)
    assert.equal(holding('has_password', 'boolean'), undefined)
    assert.equal(holdingOf(columnOf('address_id', 'integer'), true), undefined)
    assert.equal(holding('email_id', 'integer'), undefined)
  })
})

const reading = (table: Table, from: string, columns: readonly string[]): Table => ({
  ...table,
  reads: [{ table: refOf('public', from), columns: columns.map(catalogName) }],
})

const SCHEMA = withRoutines(
  schemaOf(
    tableOf('public', 'Customer', {
      columns: {
        CustomerId: 'integer',
        FirstName: 'text',
        Email: 'text',
        PasswordHash: 'text',
        BirthDate: 'date',
        TenantId: 'integer',
        DeletedAt: 'timestamp',
        CreatedAt: 'timestamp',
        Country: 'text',
      },
      key: ['CustomerId'],
      generated: { CustomerId: 'always' },
      notNull: ['CustomerId', 'FirstName'],
      defaults: ['CreatedAt'],
    }),
    reading(
      tableOf('public', 'customer_list', { kind: 'view', columns: { CustomerId: 'integer', label: 'text' } }),
      'Customer',
      ['CustomerId', 'FirstName'],
    ),
    reading(tableOf('public', 'logins', { kind: 'view', columns: { who: 'integer', proof: 'text' } }), 'Customer', [
      'PasswordHash',
    ]),
    reading(tableOf('public', 'countries', { kind: 'view', columns: { Country: 'text', n: 'bigint' } }), 'Customer', [
      'Country',
    ]),
    tableOf('public', 'orders', {
      columns: { id: 'bigint', customer_id: 'integer', total: 'decimal', is_deleted: 'boolean' },
      key: ['id'],
      notNull: ['is_deleted'],
      foreignKeys: [
        { columns: ['customer_id'], references: ['public', 'Customer'], referencedColumns: ['CustomerId'] },
      ],
    }),
    tableOf('public', 'order_product', {
      columns: { order_id: 'bigint', product_id: 'integer' },
      key: ['order_id', 'product_id'],
      foreignKeys: [
        { columns: ['order_id'], references: ['public', 'orders'], referencedColumns: ['id'] },
        { columns: ['product_id'], references: ['public', 'product'], referencedColumns: ['id'] },
      ],
    }),
    tableOf('public', 'product', { columns: { id: 'integer', name: 'text' }, key: ['id'] }),
    {
      ...tableOf('public', 'rates', { columns: { code: 'text', rate: 'decimal' }, notNull: ['code'] }),
      uniqueKeys: [['code'].map(catalogName)],
    },
    tableOf('public', 'schema_migrations', { columns: { version: 'text' }, key: ['version'] }),
    tableOf('public', 'odd "name"\n# x: y', { columns: { id: 'integer', 'a: b': 'text' }, key: ['id'] }),
  ),
  {
    ...routineOf('public', 'report', { fields: { n: 'integer' } }),
    reads: [{ table: refOf('public', 'Customer'), columns: 'all' }],
  },
)

describe('a suggested policy', () => {
  const { text, document } = suggestPolicy(SCHEMA, ['public'])

  test('is what its text says, and meets the catalog without a finding', () => {
    const parsed = parsePolicy(text)
    assert.ok(parsed.ok, JSON.stringify(parsed))
    assert.deepEqual(JSON.parse(JSON.stringify(parsed.value)), JSON.parse(JSON.stringify(document)))
    assert.deepEqual(compileDocument(parsed.value, SCHEMA, { schemas: ['public'] }).findings, [])
  })

  test('is the same for the same catalog', () => {
    assert.equal(suggestPolicy(SCHEMA, ['public']).text, text)
  })

  test('masks secrets and what is sensitive for everybody, and what is personal for those who need it not', () => {
    assert.deepEqual(document.tables['public.Customer']?.mask, ['PasswordHash', 'BirthDate'])
    for (const role of ['reader', 'analyst']) {
      assert.deepEqual({ ...document.roles[role]?.mask }, { 'public.Customer': ['FirstName', 'Email'] })
    }
    assert.equal(document.roles['support']?.mask, undefined)
    assert.ok(document.roles['support']?.read?.includes('public.orders'))
    assert.equal(document.roles['analyst']?.read, undefined)
  })

  test('leaves out a view that gives away a secret, and keeps one of personal columns for support', () => {
    assert.equal(document.tables['public.logins'], undefined)
    assert.match(text, /^# Left out:[\s\S]*^#\s+public\.logins\n#\s+"public\.logins" reads "PasswordHash"/m)
    assert.equal(document.roles['reader']?.read?.includes('public.customer_list'), false)
    assert.ok(document.roles['support']?.read?.includes('public.customer_list'))
    assert.match(text, /for support alone, since it reads public\.Customer\.FirstName/)
    assert.ok(document.roles['reader']?.read?.includes('public.countries'))
  })

  test('proposes keys, names of tools, filters of deleted rows and of tenants', () => {
    assert.deepEqual(document.tables['public.customer_list']?.key, ['CustomerId'])
    assert.deepEqual(document.tables['public.rates']?.key, ['code'])
    assert.equal(document.tables['public.Customer']?.tool_name, 'customer')
    assert.deepEqual(document.tables['public.Customer']?.row_filter, [{ column: 'DeletedAt', op: 'is_null' }])
    assert.deepEqual(document.tables['public.orders']?.row_filter, [{ column: 'is_deleted', op: 'eq', value: false }])
    assert.match(text, /# row_filter: \[ \{ column: TenantId, op: eq, value: \{ claim: tenant \} \}/)
    assert.match(text, /# joins public\.orders and public\.product/)
  })

  test('leaves framework tables out, and every change and call a comment', () => {
    assert.equal(document.tables['public.schema_migrations'], undefined)
    for (const table of Object.values(document.tables)) {
      assert.deepEqual([table.create, table.update, table.soft_delete], [undefined, undefined, undefined])
    }
    assert.deepEqual(Object.keys(document.procedures), [])
    assert.match(
      text,
      /^# {3}# may read public\.Customer\.PasswordHash, (?:.*|.*\n# {3}# .*)FirstName.*\n(?:# {3}# .*\n)*# {3}public\.report: \{ effect: read \}$/m,
    )
  })

  test('is still a policy once its proposals of changes are taken up', () => {
    const taken = text
      .split('\n')
      .map((line) => line.replace(/^ {4}# ((?:create|update|soft_delete): | {2}\w)/, '    $1'))
      .join('\n')
    assert.notEqual(taken, text)
    const parsed = parsePolicy(taken)
    assert.ok(parsed.ok, JSON.stringify(parsed))
    assert.deepEqual(parsed.value.tables['public.Customer']?.soft_delete, { column: 'DeletedAt', value: 'now' })
    const { findings } = compileDocument(parsed.value, SCHEMA, { schemas: ['public'] })
    assert.deepEqual(
      findings.filter(({ severity }) => severity === 'error'),
      [],
    )
  })
})

test('a catalog of nothing gives a policy of nothing', () => {
  const { text } = suggestPolicy(schemaOf(), ['public'])
  assert.ok(parsePolicy(text).ok, text)
})

test('names that several schemas share are told apart, and none is left with a hash where words would do', () => {
  const schema = schemaOf(
    tableOf('a', 'Long name of a table', { columns: { id: 'integer' }, key: ['id'] }),
    tableOf('b', 'Items', { columns: { id: 'integer' }, key: ['id'] }),
    tableOf('c', 'items', { columns: { id: 'integer' }, key: ['id'] }),
  )
  const { document } = suggestPolicy(schema, ['a', 'b', 'c'])
  assert.equal(document.tables['b.Items']?.tool_name, 'b_items')
  assert.equal(document.tables['c.items']?.tool_name, undefined)
  assert.equal(document.tables['a.Long name of a table']?.tool_name, 'a_long_name_of_a_table')
})

test('parts of a table are left out, because their rows are read through it; a table of another shape or with a key is not', () => {
  const columns = { id: 'integer', amount: 'decimal' } as const
  const tables = [
    tableOf('public', 'payment', { columns, key: ['id'] }),
    tableOf('public', 'payment_p2007_01', { columns }),
    tableOf('public', 'payment_2024', { columns }),
    tableOf('public', 'payment_default', { columns }),
    tableOf('public', 'payment_2023', { columns, key: ['id'] }),
    tableOf('public', 'payment_2022', { columns: { ...columns, note: 'text' } }),
    tableOf('public', 'payment_notes', { columns }),
  ]
  const { document, text } = suggestPolicy(schemaOf(...tables), [])
  assert.deepEqual(Object.keys(document.tables).sort(), [
    'public.payment',
    'public.payment_2022',
    'public.payment_2023',
    'public.payment_notes',
  ])
  assert.match(text, /payment_2024\n.*it seems to hold a part of "public\.payment", through which its rows are read/)
})

test('of a procedure whose body is not read the draft says so, and a view that may read more is kept', () => {
  const { reads, ...unread } = routineOf('public', 'report')
  const table = tableOf('public', 'people', { columns: { id: 'integer', ssn: 'text' }, key: ['id'] })
  const view: Table = {
    ...tableOf('public', 'seen', { kind: 'view', columns: { n: 'integer' } }),
    reads: [],
    readsUnsure: true,
  }
  const { document, text } = suggestPolicy(withRoutines(schemaOf(table, view), unread), [])
  assert.match(text, /^# {3}public\.report: .*# its body is not read$/m)
  assert.deepEqual(Object.keys(document.tables), ['public.people', 'public.seen'])
})
