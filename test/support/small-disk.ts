import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface SmallDisk {
  readonly folder: string
  /** False where nothing may be mounted: files of the process alone are kept from growing then. */
  readonly mounted: boolean
  /** Leaves no room for what this process writes. */
  fill(pid: number): void
  free(pid: number): void
  remove(): void
}

/** A folder that can be made full. */
export function smallDisk(megabytes: number): SmallDisk {
  const folder = mkdtempSync(join(tmpdir(), 'runku-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'runku-test', folder], { stdio: 'ignore' })
  } catch {
    return limitedFiles(folder)
  }
  const filler = join(folder, 'filler')
  return {
    folder,
    mounted: true,
    fill: () => takeAll(filler),
    free: () => rmSync(filler, { force: true }),
    remove: () => {
      execFileSync('umount', ['-l', folder])
      rmSync(folder, { recursive: true })
    },
  }
}

/** The same for who may not mount: a write past the limit fails. */
function limitedFiles(folder: string): SmallDisk {
  const limit = (pid: number, bytes: string) =>
    void execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:`])
  return {
    folder,
    mounted: false,
    fill: (pid) => limit(pid, '4096'),
    free: (pid) => limit(pid, 'unlimited'),
    remove: () => rmSync(folder, { recursive: true }),
  }
}

function takeAll(filler: string): void {
  const fd = openSync(filler, 'a')
  try {
    // Down to the last page.
    for (const bytes of [1_048_576, 4_096]) {
      const block = Buffer.alloc(bytes)
      while (couldWrite(fd, block));
    }
  } finally {
    closeSync(fd)
  }
}

function couldWrite(fd: number, block: Buffer): boolean {
  try {
    return writeSync(fd, block) > 0
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') return false
    throw error
  }
}
