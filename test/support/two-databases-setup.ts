/**
 * How an engine spells the databases that are compared. Tables, columns and meaning are the same for all, so that one
 * policy and one test serve them; what an engine lacks drops out, and what it alone has comes in.
 */
export interface SetupSql {
  readonly base: string
  /** Rows of a tenant that no identity belongs to. */
  readonly strangers: (rows: number) => string
  /** Takes the counts that a planner works with. */
  readonly analyze: string
  /** What these may not see, made different. Changes move rows, so that the order in which they lie differs as well. */
  readonly unseenByAll: string
  readonly unseenByAnalysts: string
  readonly unseenBySupport: string
  readonly unseenByBeta: string
  /** Takes away what nobody sees, and what these identities do not. */
  readonly dropMasked: string
  readonly onlyAcme: string
  readonly dropUnseenByAna: string
  readonly dropUnseenBySue: string
  readonly dropUnseenByCora: string
}
