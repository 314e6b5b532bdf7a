import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseDatabaseUrl } from '../../src/config/database-url.js'
import { MYSQL_URL } from '../../src/config/mysql-url.js'

function parsed(url: string) {
  const outcome = parseDatabaseUrl(url, MYSQL_URL)
  assert.ok(outcome.ok, outcome.ok ? '' : outcome.error)
  return outcome.value
}

function refusal(url: string): string {
  const outcome = parseDatabaseUrl(url, MYSQL_URL)
  assert.ok(!outcome.ok, `${url} was taken`)
  return outcome.error
}

test('both schemes are taken, the port has a default and ssl-mode becomes the tls mode', () => {
  assert.deepEqual(parsed('mysql://u:p@h/d'), { host: 'h', port: 3306, user: 'u', password: 'p', database: 'd' })
  assert.deepEqual(parsed('mariadb://u@h:3307/d?ssl-mode=VERIFY_IDENTITY&ssl-ca=/ca.pem'), {
    host: 'h',
    port: 3307,
    user: 'u',
    database: 'd',
    tls: 'verify',
    tlsCaFile: '/ca.pem',
  })
  assert.equal(parsed('mysql://u@h/d?ssl-mode=DISABLED').tls, 'disable')
  assert.equal(parsed('mysql://u@h/d?ssl-mode=REQUIRED').tls, 'require')
})

test('IPv6 hosts lose their brackets, and an encoded path is a socket', () => {
  assert.equal(parsed('mysql://u@[::1]/d').host, '::1')
  assert.equal(parsed('mysql://u@%2Frun%2Fmysqld%2Fmysqld.sock/d').host, '/run/mysqld/mysqld.sock')
})

test('what is missing or cannot be honoured is refused, saying what was expected', () => {
  assert.match(refusal('postgres://u@h/d'), /starts with mysql:\/\//)
  assert.match(refusal('mysql://h/d'), /names no user/)
  assert.match(refusal('mysql://u@h'), /one database name/)
  assert.match(refusal('mysql://u@h:x/d'), /expected mysql:\/\/user:password@host:port\/database/)
  for (const mode of ['PREFERRED', 'VERIFY_CA', 'disabled', ''])
    assert.match(
      refusal(`mysql://u@h/d?ssl-mode=${mode}`),
      /^ssl-mode of the address: expected DISABLED, REQUIRED or VERIFY_IDENTITY$/,
    )
  assert.match(refusal('mysql://u@h/d?ssl-ca=a&ssl-ca=b'), /ssl-ca of the address repeats/)
  assert.match(
    refusal('mysql://u@h/d?sslmode=require'),
    /sslmode of the address is not taken: did you mean "ssl-mode"\?/,
  )
  assert.match(
    refusal('mysql://u@h/d?charset=latin1'),
    /charset of the address is not taken: expected ssl-mode or ssl-ca/,
  )
  const secret = refusal('mysql://u:1?hunter2@h/d')
  assert.doesNotMatch(secret, /hunter2/)
})
