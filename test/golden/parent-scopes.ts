import type { ParentTerm, Scope } from '../../src/core/plan.js'
import { catalogName, type Table } from '../../src/core/schema-model.js'
import { filter } from '../support/plans.js'
import type { GoldenCatalog } from './catalogs.js'

/** Scopes of order lines that hang on the row they refer to, and on those that it refers to in its turn. */

const TENANT = '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11'

function parentTerm(parent: Table, pairs: Readonly<Record<string, string>>, scope: Scope): ParentTerm {
  return {
    op: 'parent',
    columns: Object.keys(pairs).map(catalogName),
    parent,
    parentColumns: Object.values(pairs).map(catalogName),
    scope,
  }
}

/** Each line's customer is the tenant's. */
export function oneLevel({ customers }: GoldenCatalog): Scope {
  return { all: [parentTerm(customers, { order_id: 'id' }, { all: [filter('tenant_id', 'eq', TENANT)] })] }
}

/** A key of two columns, a parent beside another condition in a group, and one that every row has which is not deleted. */
export function threeLevels({ customers, flagged, prices }: GoldenCatalog): Scope {
  const notDeleted = parentTerm(flagged, { balance: 'id' }, { all: [filter('deleted', 'eq', 'false')] })
  const priced = parentTerm(prices, { email: 'email' }, { all: [] })
  return {
    all: [filter('quantity', 'gt', '1')],
    any: [
      [
        parentTerm(
          customers,
          { line: 'id', order_id: 'balance' },
          { all: [notDeleted], any: [[filter('name', 'eq', 'a'), priced], [filter('ssn', 'is_null')]] },
        ),
      ],
      [filter('note', 'is_null')],
    ],
  }
}
