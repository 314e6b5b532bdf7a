/** Names that operators give. None can be mistaken for an inherited property or hold a character that needs quoting. */

export interface NameRule {
  readonly pattern: RegExp
  /** What a message says was expected. */
  readonly expected: string
}

export const CONNECTOR_ID: NameRule = {
  pattern: /^[a-z][a-z0-9_-]{0,40}$/,
  expected: 'a name such as shop: a to z, 0 to 9, _ and -, at most 41 characters',
}
export const POLICY_NAME: NameRule = {
  pattern: /^[a-z][a-z0-9_-]{0,63}$/,
  expected: 'a name such as crm: a to z, 0 to 9, _ and -, at most 64 characters',
}
export const ROLE_NAME: NameRule = {
  pattern: /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/,
  expected: 'a name such as analyst: letters, digits, _ and -, at most 64 characters',
}
/** A colon is left to identities that come from tokens, `<issuer>:<subject>`. */
export const IDENTITY_NAME: NameRule = {
  pattern: /^[a-zA-Z0-9][a-zA-Z0-9._@-]{0,63}$/,
  expected: 'a name such as anna or batch-7: letters, digits, . _ @ and -, at most 64 characters',
}
export const CLAIM_NAME: NameRule = {
  pattern: /^[a-zA-Z][a-zA-Z0-9_.-]{0,63}$/,
  expected: 'a name such as tenant: letters, digits, _ . and -, at most 64 characters',
}

/** Made with every store; their meaning is the gateway's own. */
export const RESERVED_ROLES = ['admin', 'operator', 'auditor'] as const
/** The identity of every caller while authentication is off. */
export const ANONYMOUS = 'anonymous'
