import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { CommandResult, Surroundings } from './command.js'

type Run = (surroundings: Surroundings, command: Command) => CommandResult | Promise<CommandResult>
type Act = (command: Command, run: Run) => Command

/** Adds `ship` to `audit`. `act` has a command run what is given. What ships loads much, so it is loaded when it is called. */
export function addAuditShip(audit: Command, act: Act): void {
  const ship = audit
    .command('ship')
    .description('deliver what is left in a buffer that no gateway uses any more, with the configured shipper')
    .requiredOption('--buffer <path>', 'the buffer')
    .option('--key-file <path>', 'the chain key (default: <buffer>.key)')
  act(ship, async (from, command) => {
    const { shipBuffer } = await import('./ship-buffer.js')
    const { buffer, keyFile } = command.opts<{ readonly buffer: string; readonly keyFile?: string }>()
    return shipBuffer(from, { buffer: resolve(buffer), ...(keyFile === undefined ? {} : { keyFile }) })
  })
}
