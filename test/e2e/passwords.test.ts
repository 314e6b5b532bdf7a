import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { oneOfEachKind, WHOLE_PATH_TARGETS } from '../support/engines.js'
import { callTool, type GatewayFolder, prepareGateway, type RunningGateway, startGateway } from '../support/gateway.js'
import { NOTES_POLICY, notesSetup } from '../support/notes.js'
import { policyFor } from '../support/security-sql.js'
import { eventually } from '../support/test-server.js'

const WRONG = 'Hunter-wrong-3'
/** As the configuration writes it. */
const KEYS = { file: 'password_file', command: 'password_command' } as const
const IDS = ['file', 'command'] as const

for (const target of oneOfEachKind(WHOLE_PATH_TARGETS))
  describe(`a gateway before the ${target.label} server whose passwords are read anew`, () => {
    const secrets = mkdtempSync(join(tmpdir(), 'runku-secrets-'))
    const file = join(secrets, 'database.password')
    let folder: GatewayFolder
    let running: RunningGateway
    let right: string
    const answers: string[] = []

    before(async () => {
      const server = await target.start()
      const database = await server.createDatabase(notesSetup(server))
      const settings = database.reader()
      const { password = '', ...connection } = settings.connection
      right = password
      writeFileSync(file, WRONG)
      const passwords = {
        file: { passwordFile: file },
        command: { passwordCommand: { argv: ['cat', '--', file], ttlMs: 60_000 } },
      }
      folder = await prepareGateway({
        connectors: IDS.map((id) => ({
          id,
          settings: { ...settings, connection: { ...connection, ...passwords[id] } },
          policy: policyFor(target.engine, NOTES_POLICY),
        })),
        identities: { reader: { roles: ['reader'] } },
      })
      running = await startGateway(folder)
    })

    after(async () => {
      await running?.stop()
      await folder?.remove()
      rmSync(secrets, { recursive: true, force: true })
    })

    async function search(connector: string): Promise<boolean> {
      const key = folder.keys['reader'] ?? ''
      const { text, isError } = await callTool(running.endpoint(connector), key, 'search_notes', { columns: ['id'] })
      answers.push(text)
      return !isError
    }

    /** What the operator was told of the connector, as far as it has come. */
    const told = (connector: string) =>
      running.observations.flatMap((seen) =>
        seen.kind === 'connector.unavailable' && seen.connector === connector ? [seen.reason] : [],
      )

    test('a wrong one leaves its connector unavailable', async () => {
      for (const id of IDS) {
        await eventually('the operator is told', () => told(id).some((reason) => /connecting failed/.test(reason)))
        assert.equal(await search(id), false)
      }
    })

    test('the operator is told which place gives none, and why', async () => {
      rmSync(file)
      for (const id of IDS) {
        const expected = id === 'file' ? `the file ${file} does not exist` : 'cat ended with exit code 1'
        await eventually('the operator is told', () =>
          told(id).includes(`no password: the ${KEYS[id]} cannot be used: ${expected}`),
        )
        assert.equal(await search(id), false)
      }
    })

    test('the right one is used as soon as it is there, with neither restart nor reload', async () => {
      writeFileSync(file, right)
      for (const id of IDS) await eventually(`${id} is served`, () => search(id))
    })

    test('no password, and no path of one, is in an answer, an entry or the log', () => {
      assert.ok(right.length > 0 && answers.length > 0 && folder.entries().length > 0)
      const shown = JSON.stringify([answers, folder.entries()])
      for (const text of [shown, JSON.stringify(running.observations)]) {
        for (const secret of [WRONG, right]) assert.equal(text.includes(secret), false)
      }
      assert.equal(shown.includes(secrets), false)
    })
  })
