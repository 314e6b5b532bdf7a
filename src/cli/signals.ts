/** Settles at the first SIGTERM or SIGINT; a second one ends the process at once. SIGHUP is handed on. */
export function untilSignalled(onHangUp: () => void): Promise<void> {
  return new Promise((resolve) => {
    let asked = false
    const end = () => {
      if (asked) process.exit(130)
      asked = true
      resolve()
    }
    process.on('SIGTERM', end)
    process.on('SIGINT', end)
    process.on('SIGHUP', onHangUp)
  })
}
