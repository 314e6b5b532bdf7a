import type { Command } from 'commander'
import type { CommandResult, Surroundings } from './command.js'
import {
  applyPolicy,
  deletePolicy,
  listPolicies,
  policyHistory,
  rollBackPolicy,
  showPolicy,
  validatePolicy,
} from './policy.js'
import { diffPolicy } from './policy-diff.js'
import { explainPolicy } from './policy-explain.js'
import { suggestedPolicy } from './policy-suggest.js'

type Run = (surroundings: Surroundings, command: Command) => CommandResult | Promise<CommandResult>
type Act = (command: Command, run: Run) => Command

/** Adds `policy` and what is below it. `act` has a command run what is given. */
export function addPolicies(program: Command, act: Act): void {
  const policy = program.command('policy').description('what may be seen, and by whom')
  addChanges(policy, act)
  addStored(policy, act)
  addQuestions(policy, act)
}

function optionsOf(command: Command): Readonly<Record<string, string | boolean | undefined>> {
  return command.opts<Readonly<Record<string, string | boolean | undefined>>>()
}

/** Only options that were given, so that absent stays absent. */
function texts<N extends string>(command: Command, ...names: readonly N[]): { readonly [K in N]?: string } {
  const options = optionsOf(command)
  const given = names.flatMap((name) => {
    const value = options[name]
    return typeof value === 'string' ? [[name, value] as const] : []
  })
  // The members are those of N, each of them text.
  return Object.fromEntries(given) as { readonly [K in N]?: string }
}

function addChanges(policy: Command, act: Act): void {
  const apply = policy
    .command('apply <name> <file>')
    .description('check a policy against the databases that use it, and store it as a new version')
    .option('--offline', 'check the document alone, and no database')
    .option('--partial', 'leave connectors that cannot be reached to their first load')
  act(apply, (from, command) => {
    const [name = '', file = ''] = command.args
    const { offline, partial } = optionsOf(command)
    return applyPolicy(from, { name, file, offline: offline === true, partial: partial === true })
  })
  const rollback = policy
    .command('rollback <name>')
    .description('store an older version as the newest, checked like any other')
    .option('--to <version>', 'the version (default: the one before the newest)')
    .option('--yes', 'do not ask for confirmation')
  act(rollback, (from, command) =>
    rollBackPolicy(from, command.args[0] ?? '', { ...texts(command, 'to'), yes: optionsOf(command)['yes'] === true }),
  )
  const remove = policy
    .command('delete <name>')
    .description('delete every version of a policy')
    .option('--yes', 'do not ask for confirmation')
  act(remove, (from, command) => deletePolicy(from, command.args[0] ?? '', optionsOf(command)['yes'] === true))
}

function addStored(policy: Command, act: Act): void {
  act(policy.command('list').description('list the policies, the newest version of each'), (from) => listPolicies(from))
  act(policy.command('history <name>').description('list every version of a policy'), (from, { args: [name = ''] }) =>
    policyHistory(from, name),
  )
  const show = policy
    .command('show <name>')
    .description('print the document of a policy')
    .option('--version <version>', 'an older version (default: the newest)')
  act(show, (from, command) => showPolicy(from, command.args[0] ?? '', texts(command, 'version').version))
}

function addQuestions(policy: Command, act: Act): void {
  const validate = policy
    .command('validate <file>')
    .description('check a document, and store nothing')
    .option('--name <policy>', 'against every connector that uses this policy')
    .option('--connector <id>', 'against this connector')
  act(validate, (from, command) =>
    validatePolicy(from, { file: command.args[0] ?? '', ...texts(command, 'name', 'connector') }),
  )
  const diff = policy
    .command('diff <name> [file]')
    .description('say what a document changes of the newest version, or one version of another, and for whom')
    .option('--from <version>', 'the version to compare')
    .option('--to <version>', 'the version to compare it with (default: the newest)')
    .option('--exit-code', 'end with code 3 where something changes')
  act(diff, (from, command) => {
    const [name = '', file] = command.args
    const exitCode = optionsOf(command)['exitCode'] === true
    return diffPolicy(from, {
      name,
      ...(file === undefined ? {} : { file }),
      ...texts(command, 'from', 'to'),
      exitCode,
    })
  })
  const explain = policy
    .command('explain <identity> <tool> [json]')
    .description('say what a call would meet before the database, and by which rules')
    .option('--connector <id>', 'where the call is made (default: the only connector there is)')
  act(explain, (from, command) => {
    const [identity = '', tool = '', args] = command.args
    return explainPolicy(from, {
      identity,
      tool,
      ...(args === undefined ? {} : { args }),
      ...texts(command, 'connector'),
    })
  })
  const suggest = policy
    .command('suggest <connector>')
    .description('draft a policy from the catalog of a connector')
    .option('--out <file>', 'write it to a new file instead of printing it')
  act(suggest, (from, command) => suggestedPolicy(from, { connector: command.args[0] ?? '', ...texts(command, 'out') }))
}
