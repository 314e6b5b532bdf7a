import { z } from 'zod'
import {
  AUDIT_BUFFER_BYTES_MIN,
  AUDIT_BYTES_CEILING,
  AUDIT_FILE_BYTES_MAX,
  AUDIT_FILE_BYTES_MIN,
  AUDIT_FILES_CEILING,
  AUDIT_FILES_MAX,
  AUDIT_RETAIN_CEILING_HOURS,
  AUDIT_RETAIN_HOURS,
  SHIP_BATCH_CEILING,
  SHIP_BATCH_MAX,
  SHIP_HEADERS_MAX,
  SHIP_INTERVAL_CEILING_MS,
  SHIP_INTERVAL_MS,
  SHIP_TIMEOUT_CEILING_MS,
  SHIP_TIMEOUT_MS,
} from '../core/limits.js'
import { checked, matching, oneOf, text, truth, whole } from './schema-words.js'

const KEEPINGS = ['full', 'hash', 'none'] as const
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/
/** The shipper's own: a second one of these would contradict what is sent. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'host',
  'connection',
  'content-length',
  'content-type',
  'content-encoding',
  'transfer-encoding',
  'idempotency-key',
])

function isShipUrl(value: string): boolean {
  if (!URL.canParse(value)) return false
  const { protocol, username, password, hash } = new URL(value)
  return /^https?:$/.test(protocol) && username === '' && password === '' && hash === ''
}

const buffer = z
  .strictObject({
    path: text('the path of a file').describe('The SQLite file, made with mode 0600.'),
    durability: oneOf(['full', 'normal'])
      .default('full')
      .describe('`full`: an acknowledged entry survives a power cut. `normal`: it survives a crash of the process.'),
    retain_hours: whole(1, AUDIT_RETAIN_CEILING_HOURS)
      .default(AUDIT_RETAIN_HOURS)
      .describe('How long entries are kept. With a shipper they go when they are delivered as well.'),
    bytes_max: whole(AUDIT_BUFFER_BYTES_MIN, AUDIT_BYTES_CEILING)
      .optional()
      .describe('What entries may take on disk. Default: what the disk has.'),
    on_full: oneOf(['prune', 'block'])
      .default('prune')
      .describe(
        'At `bytes_max`: `prune` deletes the oldest entries that need not be delivered, `block` takes no more.',
      ),
  })
  .optional()
  .describe(
    'The durable buffer: with it an entry is on disk before the reply leaves. Without it calls that write are refused.',
  )

const file = z
  .strictObject({
    path: text('the path of a file').describe('One JSON line an entry, made with mode 0600.'),
    bytes_max: whole(AUDIT_FILE_BYTES_MIN, AUDIT_BYTES_CEILING)
      .default(AUDIT_FILE_BYTES_MAX)
      .describe('The size at which a new file is begun and this one gets a name of its own beside it.'),
    files_max: whole(1, AUDIT_FILES_CEILING)
      .default(AUDIT_FILES_MAX)
      .describe('Full files that are kept; the oldest is deleted beyond them.'),
  })
  .optional()
  .describe('The same lines in a file that is rotated.')

const headerValue = z.union(
  [
    text('a text').refine((value) => !/[\r\n\0]/.test(value), { error: 'expected a text of one line' }),
    z.strictObject({ file: text('the path of a file').describe('Its content, without line ends around it.') }),
  ],
  { error: 'expected a text, or file: with the path of one that holds it' },
)

const shipper = z
  .strictObject({
    url: checked(
      isShipUrl,
      'an http or https address without credentials, such as https://logs.example.com/ingest',
    ).describe('Where batches are posted. Redirects are refused.'),
    headers: z
      .record(
        matching(HEADER_NAME, 'the name of a header').refine((name) => !OWN_HEADERS.has(name.toLowerCase()), {
          error: 'expected a header that the shipper does not set itself',
        }),
        headerValue,
        {
          // What is wrong with a name is what its own rule says.
          error: (issue) =>
            issue.code === 'invalid_key' ? issue.issues[0]?.message : 'expected headers with their values',
        },
      )
      .refine((headers) => Object.keys(headers).length <= SHIP_HEADERS_MAX, {
        error: `expected at most ${SHIP_HEADERS_MAX} headers`,
      })
      .default({})
      .describe(
        'Sent with each batch, such as Authorization: a text, or `file:` with a path that is read again when it is refused.',
      ),
    format: oneOf(['json', 'ndjson', 'splunk_hec', 'elastic_bulk'])
      .default('ndjson')
      .describe('How a batch is written.'),
    gzip: truth().default(true).describe('Whether batches are compressed.'),
    batch_max: whole(1, SHIP_BATCH_CEILING).default(SHIP_BATCH_MAX).describe('Entries in one batch.'),
    interval_ms: whole(50, SHIP_INTERVAL_CEILING_MS)
      .default(SHIP_INTERVAL_MS)
      .describe('How long fewer entries than a batch may wait.'),
    timeout_ms: whole(100, SHIP_TIMEOUT_CEILING_MS)
      .default(SHIP_TIMEOUT_MS)
      .describe('How long the destination may take for one batch.'),
  })
  .optional()
  .describe('Sends entries from the buffer to a destination, in order, until it confirms them.')

export const audit = z
  .strictObject({
    stdout: truth().default(true).describe('One JSON line an entry on the standard output.'),
    buffer,
    file,
    shipper,
    on_failure: oneOf(['block', 'degrade'])
      .default('block')
      .describe('While entries cannot be taken: `block` refuses calls, `degrade` serves those that read.'),
    values: z
      .strictObject({
        filters: oneOf(KEEPINGS)
          .default('hash')
          .describe('How filter values are kept: as they are, as keyed hashes, or not at all.'),
        writes: oneOf(KEEPINGS)
          .default('hash')
          .describe('How values that are written, expected or passed to a procedure are kept.'),
        result_keys: oneOf(KEEPINGS)
          .default('hash')
          .describe(
            'How the keys of rows that were returned or changed are kept. Without them nobody can tell who saw a row.',
          ),
      })
      .prefault({})
      .describe('How values appear in entries.'),
    chain_key_file: text('the path of a file')
      .optional()
      .describe('The key of the hash chain, made with mode 0600. Default with a buffer: <buffer path>.key.'),
  })
  .prefault({})
  .describe('The trail: one entry a call.')
