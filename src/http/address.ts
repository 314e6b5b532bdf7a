import { isIPv4, isIPv6, SocketAddress } from 'node:net'

const MAPPED = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i

/** One spelling for each address: IPv4-mapped IPv6 as IPv4, IPv6 compressed and in lower case. Undefined: not an address. */
export function canonicalAddress(text: string): string | undefined {
  if (isIPv4(text)) return text
  if (!isIPv6(text) || text.includes('%')) return undefined
  const canonical = new SocketAddress({ address: text, family: 'ipv6' }).address
  return MAPPED.exec(canonical)?.[1] ?? canonical
}

function isMapped(bytes: Uint8Array): boolean {
  for (let i = 0; i < 10; i++) if (bytes[i] !== 0) return false
  return bytes[10] === 0xff && bytes[11] === 0xff
}

/** The text of an address as the network writes it, 4 or 16 bytes. Anything else gives an empty text. */
export function addressText(bytes: Uint8Array): string {
  if (bytes.length === 4) return `${bytes[0]}.${bytes[1]}.${bytes[2]}.${bytes[3]}`
  if (bytes.length !== 16) return ''
  if (isMapped(bytes)) return `${bytes[12]}.${bytes[13]}.${bytes[14]}.${bytes[15]}`
  const groups: string[] = []
  for (let i = 0; i < 16; i += 2) groups.push((((bytes[i] ?? 0) << 8) | (bytes[i + 1] ?? 0)).toString(16))
  return canonicalAddress(groups.join(':')) ?? ''
}
