import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseDatabaseUrl } from '../../src/config/database-url.js'
import { POSTGRES_URL } from '../../src/config/postgres-url.js'

function parsed(url: string) {
  const outcome = parseDatabaseUrl(url, POSTGRES_URL)
  assert.ok(outcome.ok, outcome.ok ? '' : outcome.error)
  return outcome.value
}

function refusal(url: string): string {
  const outcome = parseDatabaseUrl(url, POSTGRES_URL)
  assert.ok(!outcome.ok, `${url} was taken`)
  return outcome.error
}

test('both schemes are taken, the port has a default and sslmode becomes the tls mode', () => {
  assert.deepEqual(parsed('postgres://u:p@h/d'), { host: 'h', port: 5432, user: 'u', password: 'p', database: 'd' })
  assert.deepEqual(parsed('postgresql://u@h:6432/d?sslmode=verify-full&sslrootcert=/ca.pem'), {
    host: 'h',
    port: 6432,
    user: 'u',
    database: 'd',
    tls: 'verify',
    tlsCaFile: '/ca.pem',
  })
  assert.equal(parsed('postgres://u@h/d?sslmode=disable').tls, 'disable')
})

test('IPv6 hosts lose their brackets, and an encoded path is a folder of sockets', () => {
  assert.equal(parsed('postgres://u@[::1]:5433/d').host, '::1')
  assert.equal(parsed('postgres://u@%2Fvar%2Frun%2Fpostgresql/d').host, '/var/run/postgresql')
})

test('any user, password and database survive percent-encoding', () => {
  const text = fc.string({ minLength: 1, unit: 'grapheme' })
  fc.assert(
    fc.property(text, text, text, (user, password, database) => {
      const [u, p, d] = [user, password, database].map(encodeURIComponent)
      // A path of dots alone is resolved away by every address parser.
      fc.pre(!/^\.{1,2}$/.test(database))
      const address = parsed(`postgres://${u}:${p}@h/${d}`)
      assert.deepEqual([address.user, address.password, address.database], [user, password, database])
    }),
  )
})

test('what is missing or cannot be honoured is refused, saying what was expected', () => {
  assert.match(refusal('http://h/d'), /starts with postgres:\/\//)
  assert.match(refusal('postgres://h/d'), /names no user/)
  assert.match(refusal('postgres://u@h'), /one database name/)
  assert.match(refusal('postgres://u@h/a/b'), /one database name/)
  assert.match(refusal('postgres://u@/d'), /no usable host|not a valid address/)
  assert.match(refusal('postgres://u@a,b/d'), /no usable host/)
  assert.match(refusal('postgres://u@h/d?sslmode=prefer'), /disable, require or verify-full/)
  assert.match(refusal('postgres://u@h/d?sslmode=require&sslmode=disable'), /repeats/)
  assert.match(refusal('postgres://u@h/d?connect_timeout=3'), /connect_timeout of the address is not taken/)
  assert.match(refusal('postgres://u@h/d?sslmod=require'), /unknown parameter: did you mean "sslmode"\?/)
})
