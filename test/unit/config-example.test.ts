import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { parse } from 'yaml'
import { z } from 'zod'
import { packageRoot } from '../../src/cli/package-root.js'
import { configJsonSchema, faultText, loadConfig } from '../../src/config/config.js'
import { complaints, innerSchema, schemaAt } from '../../src/config/faults.js'
import { configSchema } from '../../src/config/schema.js'

const example = readFileSync(join(packageRoot(), 'config.example.yaml'), 'utf8')
const folder = mkdtempSync(join(tmpdir(), 'runku-example-'))
after(() => rmSync(folder, { recursive: true, force: true }))

/** Every key path of the schema, list items as `[]`. */
function schemaKeys(schema: unknown, at: string): readonly string[] {
  const inner = innerSchema(schema)
  if (inner instanceof z.ZodUnion) return inner.options.flatMap((option) => schemaKeys(option, at))
  if (inner instanceof z.ZodArray) return schemaKeys(inner.element, `${at}[]`)
  if (!(inner instanceof z.ZodObject)) return []
  return Object.entries(inner.shape).flatMap(([key, member]) => [`${at}.${key}`, ...schemaKeys(member, `${at}.${key}`)])
}

/** The names under `vars` and `headers` are the person's own. */
const OWN_NAMES = /\.(?:vars|headers)$/

function valueKeys(value: unknown, at: string): readonly string[] {
  if (OWN_NAMES.test(at)) return []
  if (Array.isArray(value)) return value.flatMap((item) => valueKeys(item, `${at}[]`))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, member]) => [`${at}.${key}`, ...valueKeys(member, `${at}.${key}`)])
}

describe('config.example.yaml', () => {
  test('it loads as it is', () => {
    const file = join(folder, 'config.yaml')
    writeFileSync(file, example)
    const env = { SHOP_DATABASE_URL: 'postgres://u:p@localhost/shop' }
    const outcome = loadConfig({ file, env })
    assert.ok(outcome.ok, outcome.ok ? '' : outcome.error.map(faultText).join('\n'))
    assert.deepEqual(outcome.value.connectorFaults, [])
    assert.deepEqual(
      outcome.value.config.connectors.map(({ id }) => id),
      ['shop'],
    )
  })

  const whole: unknown = parse(example.replace(/^( *)#(?=\S)/gm, '$1'))

  test('with every left-out key put in, it holds each accepted key and no other', () => {
    assert.deepEqual([...new Set(valueKeys(whole, ''))].sort(), [...new Set(schemaKeys(configSchema, ''))].sort())
    assert.deepEqual(complaints(configSchema, whole, []), [])
  })

  test('a left-out key with a default shows that default', () => {
    const defaults = configSchema.parse({ connectors: [{ id: 'shop', type: 'postgres' }] })
    assert.ok(typeof whole === 'object' && whole !== null && 'server' in whole && 'connectors' in whole)
    assert.deepEqual(Reflect.get(Object(whole.server), 'limits'), defaults.server.limits)
    const [shop] = z.array(z.looseObject({})).parse(whole.connectors)
    const [expected] = defaults.connectors
    const { buffer, file, shipper, ...audit } = z.looseObject({}).parse(Reflect.get(whole, 'audit'))
    const { path, bytes_max: _bytesMax, ...kept } = z.looseObject({}).parse(buffer)
    const filled = configSchema.parse({
      audit: { buffer: { path }, file: { path: 'a' }, shipper: { url: 'http://a' } },
    }).audit
    assert.deepEqual(audit['values'], filled.values)
    assert.deepEqual({ path, ...kept }, filled.buffer)
    assert.deepEqual({ ...Object(file), path: 'a' }, filled.file)
    assert.deepEqual({ ...Object(shipper), url: 'http://a', headers: {} }, filled.shipper)
    for (const key of ['pool', 'threads'] as const) assert.deepEqual(shop?.[key], expected?.[key], key)
  })

  test('the schemas that it names are those of a connector that names none', () => {
    const file = join(folder, 'bare.yaml')
    writeFileSync(file, 'connectors: [{ id: shop, type: postgres, url: "postgres://u@localhost/shop" }]\n')
    const outcome = loadConfig({ file, env: {} })
    assert.ok(outcome.ok)
    const [shop] = z.array(z.looseObject({})).parse(Reflect.get(Object(whole), 'connectors'))
    assert.deepEqual(shop?.['schemas'], outcome.value.config.connectors[0]?.schemas)
  })
})

test('every key of the JSON Schema has a description', () => {
  const bare: string[] = []
  for (const path of schemaKeys(configSchema, '')) {
    const steps = path
      .slice(1)
      .replaceAll('[]', '.[]')
      .split('.')
      .map((step) => (step === '[]' ? 0 : step))
    const parent = schemaAt(configSchema, steps.slice(0, -1))
    const member = parent instanceof z.ZodObject ? parent.shape[String(steps.at(-1))] : undefined
    if (!(member instanceof z.ZodType) || member.description === undefined) bare.push(path)
  }
  assert.deepEqual(bare, [])
  const json: unknown = configJsonSchema()
  assert.ok(typeof json === 'object' && json !== null && 'properties' in json && 'additionalProperties' in json)
  assert.equal(json.additionalProperties, false)
  assert.deepEqual(Object.keys(Object(json.properties)).sort(), Object.keys(configSchema.shape).sort())
})
