export type ClaimScalar = string | number | boolean
export type ClaimValue = ClaimScalar | readonly ClaimScalar[]

/** Who is calling, as verified by authentication. Roles are those that hold on the connector being called. */
export interface Identity {
  readonly id: string
  readonly name: string
  /** The public part of the key that authenticated the request; absent for the anonymous identity. */
  readonly keyId?: string
  readonly roles: readonly string[]
  readonly claims: ReadonlyMap<string, ClaimValue>
}
