import { type GatewayError, publicText } from './errors.js'

/** The members of an MCP tool result that reports an error, without the outer braces, UTF-8. Text only, as clients expect. */
export function encodeError(error: GatewayError): Uint8Array {
  const text = JSON.stringify(publicText(error))
  return Buffer.from(`"content":[{"type":"text","text":${text}}],"isError":true`)
}
