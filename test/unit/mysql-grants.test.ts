import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Grant,
  type GrantTarget,
  holds,
  holdsByColumn,
  holdsEverywhere,
  parseGrant,
} from '../../src/engines/mysql/grants.js'

function grants(...lines: readonly string[]): readonly Grant[] {
  return lines.flatMap((line) => parseGrant(line) ?? [])
}

function table(object: string, schema = 'shop'): GrantTarget {
  return { on: 'table', schema, object }
}

test('a right holds on its table, its schema or the whole server', () => {
  const held = grants(
    'GRANT SELECT, DELETE ON `shop`.`items` TO `r`@`%`',
    'GRANT ALTER ON `shop`.* TO `role`',
    "GRANT PROCESS ON *.* TO `r`@`%` IDENTIFIED BY PASSWORD '*7B84'",
  )
  assert.equal(holds(held, 'DELETE', table('items'), false), true)
  assert.equal(holds(held, 'DELETE', table('other'), false), false)
  assert.equal(holds(held, 'DELETE', table('items', 'other'), false), false)
  assert.equal(holds(held, 'ALTER', table('other'), false), true)
  assert.equal(holds(held, 'PROCESS', table('any', 'any'), false), true)
  assert.equal(holdsEverywhere(held, 'PROCESS'), true)
  assert.equal(holdsEverywhere(held, 'ALTER'), false)
})

test('all privileges are every one of them, where they were given', () => {
  const everywhere = grants('GRANT ALL PRIVILEGES ON *.* TO `root`@`%` WITH GRANT OPTION')
  assert.equal(holdsEverywhere(everywhere, 'SUPER'), true)
  const inSchema = grants('GRANT ALL PRIVILEGES ON `shop`.* TO `r`@`%`')
  assert.equal(holdsEverywhere(inSchema, 'SUPER'), false)
  assert.equal(holds(inSchema, 'EXECUTE', { on: 'procedure', schema: 'shop', object: 'p' }, false), true)
})

test('names are read whole, whatever they hold, and columns are not taken for rights', () => {
  const held = grants(
    'GRANT SELECT (`DELETE`, `a) ON ``x``.``y`` TO`), UPDATE (`c,d`) ON `shop`.`we``ird. TO (t)` TO `r`@`%`',
    'GRANT INSERT ON "shop"."quo""te" TO "r"@"%"',
    'GRANT DROP ON shop.plain TO r@`%`',
  )
  const weird = table('we`ird. TO (t)')
  assert.equal(holds(held, 'UPDATE', weird, false), true)
  assert.equal(holds(held, 'DELETE', weird, false), false)
  assert.equal(holds(held, 'UPDATE', table('y', 'x'), false), false)
  assert.equal(holds(held, 'INSERT', table('quo"te'), false), true)
  assert.equal(holds(held, 'DROP', table('plain'), false), true)
})

test('a right on columns one by one is told apart from one on their table', () => {
  const held = grants(
    'GRANT SELECT (`id`), INSERT (`a`, `b`) ON `shop`.`items` TO `r`@`%`',
    'GRANT SELECT, INSERT (`a`) ON `shop`.`both` TO `r`@`%`',
    'GRANT INSERT ON `shop`.`both` TO `role`',
  )
  assert.equal(holdsByColumn(held, 'INSERT', table('items'), false), true)
  assert.equal(holdsByColumn(held, 'UPDATE', table('items'), false), false, 'it is not held at all')
  assert.equal(holdsByColumn(held, 'INSERT', table('both'), false), false)
  assert.equal(holdsByColumn(held, 'SELECT', table('both'), false), false)
  const inSchema = grants(
    'GRANT INSERT (`a`) ON `shop`.`items` TO `r`@`%`',
    'GRANT ALL PRIVILEGES ON `shop`.* TO `r`@`%`',
  )
  assert.equal(holdsByColumn(inSchema, 'INSERT', table('items'), false), false)
})

test('a schema is granted as a pattern, a table is not', () => {
  const held = grants('GRANT SELECT ON `a\\_b%`.* TO `r`@`%`', 'GRANT DELETE ON `a_b`.`t` TO `r`@`%`')
  assert.equal(holds(held, 'SELECT', table('t', 'a_bcd'), false), true)
  assert.equal(holds(held, 'SELECT', table('t', 'axb'), false), false)
  assert.equal(holds(held, 'DELETE', table('t', 'axb'), false), false)
  const dotted = grants('GRANT SELECT ON `a.c_`.* TO `r`@`%`')
  assert.equal(holds(dotted, 'SELECT', table('t', 'a.cd'), false), true)
  assert.equal(holds(dotted, 'SELECT', table('t', 'abcd'), false), false)
})

test('routines are granted without regard to case, tables by what the server says', () => {
  const held = grants(
    'GRANT EXECUTE ON PROCEDURE `shop`.`myproc` TO `r`@`%`',
    'GRANT EXECUTE ON FUNCTION `shop`.`f` TO `r`@`%`',
    'GRANT DROP ON `shop`.`Items` TO `r`@`%`',
  )
  assert.equal(holds(held, 'EXECUTE', { on: 'procedure', schema: 'shop', object: 'MyProc' }, false), true)
  assert.equal(holds(held, 'EXECUTE', { on: 'function', schema: 'shop', object: 'MyProc' }, false), false)
  assert.equal(holds(held, 'DROP', table('items'), false), false)
  assert.equal(holds(held, 'DROP', table('items', 'SHOP'), true), true)
})

test('what was taken back in one schema still holds in the others', () => {
  const held = grants('GRANT SELECT, DELETE ON *.* TO `r`@`%`', 'REVOKE DELETE ON `shop`.* FROM `r`@`%`')
  assert.equal(holds(held, 'DELETE', table('items'), false), false)
  assert.equal(holds(held, 'SELECT', table('items'), false), true)
  assert.equal(holds(held, 'DELETE', table('items', 'other'), false), true)
})

test('roles, proxies and defaults are no rights on objects', () => {
  const lines = [
    'GRANT `reader` TO `r`@`%`',
    "GRANT PROXY ON ''@'%' TO 'root'@'localhost' WITH GRANT OPTION",
    'GRANT PROXY ON ``@`%` TO `root`@`localhost`',
    'SET DEFAULT ROLE `reader` FOR `r`@`%`',
    '',
  ]
  assert.deepEqual(grants(...lines), [])
})
