#!/usr/bin/env node
import { randomBytes } from 'node:crypto'
import { userInfo } from 'node:os'
import { Command, CommanderError, InvalidArgumentError } from 'commander'
import { lineJson } from './audit/entry-text.js'
import { addAudit } from './cli/audit-commands.js'
import { addBinding, removeBinding } from './cli/binding.js'
import { type CommandResult, notesText, refusalText, type Surroundings } from './cli/command.js'
import { configSchemaCommand, openApiCommand } from './cli/config-schema.js'
import { listConnectors, putConnector, removeConnector, renameConnector, showConnector } from './cli/connector.js'
import {
  createIdentity,
  deleteIdentity,
  listIdentities,
  setClaims,
  setIdentityDisabled,
  showIdentity,
} from './cli/identity.js'
import { init } from './cli/init.js'
import { createKey, listKeys, revokeKey } from './cli/key.js'
import { packageVersion } from './cli/package-root.js'
import { addPolicies } from './cli/policy-commands.js'
import { EXIT_NOT_APPLIED, reload } from './cli/reload.js'
import { createRole, deleteRole, listRoles } from './cli/role.js'
import { RELOAD_ANSWER_MAX_MS, RELOAD_WAIT_CEILING_S } from './core/limits.js'

const EXIT_OK = 0
const EXIT_REFUSED = 1
const EXIT_USAGE = 2

const EXIT_CODES = `
Exit codes: ${EXIT_OK} done, ${EXIT_REFUSED} refused or failed (the reason is on the standard error), ${EXIT_USAGE} wrong usage, 3 something would change ("policy diff --exit-code"),
${EXIT_NOT_APPLIED} a connector was kept, unavailable or disabled on some instance ("reload"), 5 the trail is not whole, or an entry is not genuine ("audit"), 130 ended by a second signal.`

interface CommonOptions {
  readonly config: string
  readonly json: boolean
}

/** Both options stand before the command as well as after it. */
function withCommon(command: Command): Command {
  return command
    .option('--config <file>', 'configuration file (default: ./config.yaml)')
    .option('--json', 'print JSON, errors too')
}

function common(command: Command): CommonOptions {
  const given = command.optsWithGlobals<Partial<CommonOptions>>()
  return { config: given.config ?? './config.yaml', json: given.json ?? false }
}

function surroundingsOf(options: CommonOptions, note: Surroundings['note']): Surroundings {
  return {
    configFile: options.config,
    env: process.env,
    clock: Date.now,
    randomBytes,
    author: `cli:${osUser()}`,
    note,
  }
}

function osUser(): string {
  try {
    return userInfo().username
  } catch {
    // A container may run under a number that has no name.
    return String(process.getuid?.() ?? 'unknown')
  }
}

/** Prints what a command did, and gives its exit code. */
function printResult(result: CommandResult, json: boolean, notes: readonly string[]): number {
  if (result.ok) {
    process.stderr.write(notesText(notes, json))
    // What callers wrote is in it, and must not act on a terminal.
    process.stdout.write(json ? `${lineJson(result.value.json)}\n` : lines(result.value.lines))
    return result.value.exitCode ?? EXIT_OK
  }
  process.stderr.write(refusalText(result.error.lines, json, notes))
  return EXIT_REFUSED
}

function lines(texts: readonly string[]): string {
  return `${texts.join('\n')}\n`
}

function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value]
}

type Run = (surroundings: Surroundings, command: Command) => CommandResult | Promise<CommandResult>

/** `complain` is told what the parser would print of wrong usage: its message, or the help where a command is missing. */
function buildProgram(setExit: (code: number) => void, complain: (text: string) => void): Command {
  const program = withCommon(new Command('runku'))
    .description('Gives AI agents typed, policy-checked, audited access to relational databases over MCP.')
    .version(packageVersion())
    .addHelpText('afterAll', EXIT_CODES)
    // Inherited by each command that is made after this.
    .configureOutput({ writeErr: complain, outputError: (text, write) => write(text) })
    .showSuggestionAfterError()
    // An option behind a command is that command's: `policy show --version 2` asks for no version of the program.
    .enablePositionalOptions()
    .exitOverride()

  const finish = (run: Run) => async (command: Command) => {
    const options = common(command)
    const notes: string[] = []
    const surroundings = surroundingsOf(options, (text) => notes.push(text))
    setExit(printResult(await run(surroundings, command), options.json, notes))
  }
  // Commander calls an action with its arguments, its options and the command, the command last.
  const act = (command: Command, run: Run) =>
    withCommon(command).action(async (...given: readonly unknown[]) => {
      const last = given.at(-1)
      if (last instanceof Command) await finish(run)(last)
    })

  addServing(program, setExit)
  act(program.command('init').description('write a config.yaml, make the admin store and a first key'), (from) =>
    init(from),
  )
  addRoles(program, act)
  addIdentities(program, act)
  addKeys(program, act)
  addBindings(program, act)
  addConnectors(program, act)
  addPolicies(program, act)
  addAudit(program, act, (command, run) =>
    withCommon(command).action(async (...given: readonly unknown[]) => {
      const last = given.at(-1)
      if (!(last instanceof Command)) return
      const options = common(last)
      const notes: string[] = []
      const done = await run(
        surroundingsOf(options, (text) => notes.push(text)),
        last,
        options.json,
      )
      if (done.ok) process.stderr.write(notesText(notes, options.json))
      else process.stderr.write(refusalText(done.error.lines, options.json, notes))
      setExit(done.ok ? (done.value.exitCode ?? EXIT_OK) : EXIT_REFUSED)
    }),
  )
  const config = program.command('config').description('the configuration file')
  act(config.command('schema').description('print the JSON Schema of config.yaml'), () => configSchemaCommand())
  act(config.command('openapi').description('print the OpenAPI description of the admin interface'), () =>
    openApiCommand(),
  )
  // The words between the program and a command take them as well: `runku role --json list`.
  for (const group of program.commands) if (group.commands.length > 0) withCommon(group)
  return program
}

type Act = (command: Command, run: Run) => Command

/** These run for long or load much, so their modules are loaded when they are called. */
function addServing(program: Command, setExit: (code: number) => void): void {
  withCommon(program.command('serve').description('run the gateway')).action(async (_options, command: Command) => {
    const { serve } = await import('./cli/serve.js')
    setExit(await serve(common(command)))
  })
  withCommon(program.command('check').description('say what would be served, and what is wrong')).action(
    async (_options, command: Command) => {
      const { check } = await import('./cli/check.js')
      setExit(await check(common(command)))
    },
  )
  const demo = program.command('demo').description('run a gateway on a throw-away database with made-up rows')
  withCommon(demo.option('--port <port>', 'port of the gateway', parsePort)).action(
    async (options: { readonly port?: number }, command: Command) => {
      const { demo: run } = await import('./cli/demo.js')
      const { json } = common(command)
      setExit(await run({ json, ...(options.port === undefined ? {} : { port: options.port }) }))
    },
  )
}

function parsePort(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) {
    throw new InvalidArgumentError('expected a number from 0 to 65535')
  }
  return Number(text)
}

function addRoles(program: Command, act: Act): void {
  const role = program.command('role').description('roles that policies grant to')
  act(role.command('create <role>').description('make a role'), (from, { args: [name = ''] }) => createRole(from, name))
  act(role.command('list').description('list the roles'), (from) => listRoles(from))
  const remove = withYes(role.command('delete <role>').description('delete a role')).option(
    '--unbind',
    'also take it from every identity that has it',
  )
  act(remove, (from, command) => {
    const { unbind = false } = command.opts<{ readonly unbind?: boolean }>()
    return deleteRole(from, command.args[0] ?? '', { unbind, yes: saidYes(command) })
  })
}

/** Of acts that cannot be undone. */
function withYes(command: Command): Command {
  return command.option('--yes', 'do not ask for confirmation')
}

function saidYes(command: Command): boolean {
  return command.opts<{ readonly yes?: boolean }>().yes ?? false
}

function addIdentities(program: Command, act: Act): void {
  const identity = program.command('identity').description('who may call')
  const create = identity
    .command('create <name>')
    .description('make an identity')
    .option('--role <role>', 'bind a role on every connector; may repeat', collect, [])
    .option(
      '--claim <name=value>',
      'a fact that row filters use; repeat it or give a JSON array for a list',
      collect,
      [],
    )
  act(create, (from, command) => {
    const { role, claim } = command.opts<{ readonly role: readonly string[]; readonly claim: readonly string[] }>()
    return createIdentity(from, { name: command.args[0] ?? '', roles: role, claims: claim })
  })
  act(identity.command('list').description('list the identities with roles and claims'), (from) => listIdentities(from))
  act(identity.command('show <name>').description('show one identity and its keys'), (from, { args: [name = ''] }) =>
    showIdentity(from, name),
  )
  const claims = identity
    .command('claims <name>')
    .description('put these claims in place of all that the identity had')
    .option('--claim <name=value>', 'as in "create"; none: it has no claims then', collect, [])
  act(claims, (from, command) =>
    setClaims(from, command.args[0] ?? '', command.opts<{ readonly claim: readonly string[] }>().claim),
  )
  for (const [name, description] of [
    ['disable', 'refuse all keys of an identity until it is enabled'],
    ['enable', 'take its keys again'],
  ] as const) {
    act(identity.command(`${name} <name>`).description(description), (from, { args: [who = ''] }) =>
      setIdentityDisabled(from, who, name === 'disable'),
    )
  }
  const remove = withYes(identity.command('delete <name>').description('delete an identity, its keys and its bindings'))
  act(remove, (from, command) => deleteIdentity(from, command.args[0] ?? '', saidYes(command)))
}

function addConnectors(program: Command, act: Act): void {
  const connector = program.command('connector').description('databases; those of the admin store can be changed here')
  act(connector.command('list').description('list the connectors, wherever they are configured'), (from) =>
    listConnectors(from),
  )
  act(connector.command('show <id>').description('show one connector, without secrets'), (from, { args: [id = ''] }) =>
    showConnector(from, id),
  )
  for (const [name, description] of [
    ['add', 'add a connector to the admin store'],
    ['set', 'add a connector to the admin store, or put this in place of what it was'],
  ] as const) {
    const put = connector
      .command(`${name} <id>`)
      .description(description)
      .requiredOption('--file <file>', 'YAML or JSON of what would stand under "connectors:"; - for the standard input')
    act(put, (from, command) =>
      putConnector(from, command.args[0] ?? '', command.opts<{ readonly file: string }>().file, name === 'add'),
    )
  }
  act(
    connector.command('rename <id> <newid>').description('give a connector of the admin store another id'),
    (from, { args: [id = '', newId = ''] }) => renameConnector(from, id, newId),
  )
  const remove = withYes(connector.command('remove <id>').description('remove a connector from the admin store'))
  act(remove, (from, command) => removeConnector(from, command.args[0] ?? '', saidYes(command)))
  addReload(program, act)
}

function addReload(program: Command, act: Act): void {
  const command = program
    .command('reload')
    .description('ask every gateway of this store to read everything again, and say what came of it')
    .option('--no-wait', 'ask, and wait for nobody')
    .option('--timeout <seconds>', 'how long to wait for the gateways', parseSeconds, RELOAD_ANSWER_MAX_MS / 1_000)
  act(command, (from) => {
    const { wait, timeout } = command.opts<{ readonly wait: boolean; readonly timeout: number }>()
    return reload(from, { wait, timeoutMs: timeout * 1_000 })
  })
}

function parseSeconds(text: string): number {
  const seconds = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (seconds < 1 || seconds > RELOAD_WAIT_CEILING_S) {
    throw new InvalidArgumentError(`expected seconds, from 1 to ${RELOAD_WAIT_CEILING_S}`)
  }
  return seconds
}

function addKeys(program: Command, act: Act): void {
  const key = program.command('key').description('API keys of identities')
  const create = key
    .command('create <identity>')
    .description('make a key and print it, this once')
    .option('--expires <when>', '90d, 12h, or a date such as 2030-01-31 (default: never)')
  act(create, (from, command) =>
    createKey(from, command.args[0] ?? '', command.opts<{ readonly expires?: string }>().expires),
  )
  const revoke = withYes(key.command('revoke <keyid>').description('end a key at once, for good'))
  act(revoke, (from, command) => revokeKey(from, command.args[0] ?? '', saidYes(command)))
  const list = key.command('list').description('list the keys, without their secrets')
  act(list.option('--identity <name>', 'of this identity alone'), (from, command) =>
    listKeys(from, command.opts<{ readonly identity?: string }>().identity),
  )
}

function addBindings(program: Command, act: Act): void {
  const binding = program.command('binding').description('roles of identities')
  const actions = [
    ['add', 'give an identity a role', addBinding],
    ['remove', 'take a role from an identity', removeBinding],
  ] as const
  for (const [name, description, run] of actions) {
    const command = binding
      .command(`${name} <identity> <role>`)
      .description(description)
      .option('--connector <id>', 'on this connector alone (default: every connector)')
    act(command, (from, { args: [identity = '', role = ''] }) => {
      const { connector } = command.opts<{ readonly connector?: string }>()
      return run(from, { identity, role, ...(connector === undefined ? {} : { connector }) })
    })
  }
}

/** Runs the command line and gives its exit code. */
async function main(argv: readonly string[]): Promise<number> {
  const json = wantsJson(argv)
  let exit = EXIT_OK
  let complaint = ''
  const setExit = (code: number) => {
    exit = code
  }
  const complain = (text: string) => {
    complaint += text
  }
  try {
    await buildProgram(setExit, complain).parseAsync(argv)
    return exit
  } catch (error) {
    if (error instanceof CommanderError) {
      // The help and the version, where they were asked for.
      if (error.exitCode === 0) return EXIT_OK
      process.stderr.write(json ? refusalText(usageReasons(complaint), true) : complaint)
      return EXIT_USAGE
    }
    process.stderr.write(refusalText([error instanceof Error ? error.message : String(error)], json))
    return EXIT_REFUSED
  }
}

/** Asked of the words themselves, since wrong usage leaves nothing parsed. */
function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--')
  return argv.slice(0, end === -1 ? undefined : end).includes('--json')
}

/** What the parser says of wrong usage, a line each. Of a command that is missing it prints the help, whose first line is enough. */
function usageReasons(complaint: string): readonly string[] {
  const said = complaint.split('\n').filter((line) => line !== '')
  const [first = 'wrong usage'] = said
  if (first.startsWith('Usage: ')) return ['expected a command', first]
  return said.map((line) => line.replace(/^error: /, ''))
}

// A reader that closes early, such as `head`, is no failure of the command.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})

process.exitCode = await main(process.argv)
