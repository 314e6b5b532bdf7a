import { faultText, loadConfig } from '../config/config.js'
import { Gateway } from '../gateway.js'
import { createLog } from '../observe/log.js'
import { refusalText } from './command.js'
import { EXIT_SECOND_SIGNAL, untilSignalled } from './signals.js'
import { endProcess, watchThreads } from './threads.js'

export interface ServeOptions {
  readonly config: string
  readonly json: boolean
}

/**
 * `runku serve`: runs until it is told to stop. Exit code 0 after a drain, 1 when the start failed;
 * SIGTERM ends it where a thread hangs.
 */
export async function serve(options: ServeOptions): Promise<number> {
  const loaded = loadConfig({ file: options.config, env: process.env })
  if (!loaded.ok) {
    process.stderr.write(refusalText(loaded.error.map(faultText), options.json))
    return 1
  }
  const { observe } = createLog('info')
  // Listening from the first moment: a signal during the start must neither cut it short nor be lost.
  let gateway: Gateway | undefined
  const threads = watchThreads()
  const signalled = untilSignalled(
    () => void gateway?.reload('signal'),
    () => void endProcess(threads, EXIT_SECOND_SIGNAL, observe),
  )
  const started = await Gateway.start(loaded.value, observe, process.env)
  if (!started.ok) {
    process.stderr.write(refusalText([started.error], options.json))
    return 1
  }
  gateway = started.value
  await signalled
  await gateway.stop()
  // An orderly end of the runtime would close what the gateway left open on purpose: a store whose files were taken away.
  await endProcess(threads, 0, observe)
  return 0
}
