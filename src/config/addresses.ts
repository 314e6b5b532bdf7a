import { isIP, isIPv4 } from 'node:net'

export interface HostPort {
  /** IPv6 without brackets. */
  readonly host: string
  /** 0 asks the system for a free port. */
  readonly port: number
}

const LISTEN = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9.-]+)):(\d{1,5})$/

/** Reads `host:port`, IPv6 in brackets. Undefined for anything else. */
export function parseListen(text: string): HostPort | undefined {
  const match = LISTEN.exec(text)
  if (match === null) return undefined
  const [, bracketed, plain] = match
  const port = Number(match[3])
  if (port > 65_535) return undefined
  if (bracketed !== undefined) return isIP(bracketed) === 6 ? { host: bracketed, port } : undefined
  return plain === undefined ? undefined : { host: plain, port }
}

/** Whether only this machine can reach the host. A name other than localhost is not trusted to stay on it. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase()
  return name === 'localhost' || name === '::1' || (isIPv4(name) && name.startsWith('127.'))
}

const HOST_ENTRY = /^(?:\[[0-9a-fA-F:.]+\]|[A-Za-z0-9_.-]+)(?::\d{1,5})?$/

export function isHostEntry(text: string): boolean {
  return HOST_ENTRY.test(text)
}

export function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false
  const url = new URL(text)
  return (url.protocol === 'http:' || url.protocol === 'https:') && url.origin === text
}

export function isPublicUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const url = new URL(text)
  const web = url.protocol === 'http:' || url.protocol === 'https:'
  return web && url.username === '' && url.password === '' && url.search === '' && url.hash === '' && !/\s/.test(text)
}

/** An IP address, or one with a prefix length. */
export function isAddressRange(text: string): boolean {
  const [address, prefix, ...rest] = text.split('/')
  if (address === undefined || rest.length > 0) return false
  const version = isIP(address)
  if (version === 0) return false
  if (prefix === undefined) return true
  return /^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128)
}
