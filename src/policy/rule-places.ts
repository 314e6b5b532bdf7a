import type { TableOperation } from '../core/access.js'
import { qualifiedName } from '../core/schema-model.js'
import type { CompiledProcedure, CompiledRole, CompiledTable } from './compiled-policy.js'
import type { PolicyDocument, RolePolicy, TablePolicy } from './policy-document.js'
import { pathText } from './policy-tree.js'
import { type Schemas, spelledName } from './qualified-names.js'

/** A rule of the document and what it does, such as `roles.analyst.read[0]`. */
export interface Rule {
  readonly path: string
  readonly does: string
}

const GRANTS: Readonly<
  Record<TableOperation, readonly ('read' | 'aggregate' | 'create' | 'update' | 'soft_delete')[]>
> = {
  get: ['read'],
  search: ['read'],
  aggregate: ['read', 'aggregate'],
  create: ['create'],
  update: ['update'],
  soft_delete: ['soft_delete'],
}

/** Where in a document the rules stand that the policy engine went by. Names are as the document spells them. */
export class RulePlaces {
  readonly #document: PolicyDocument
  readonly #schemas: Schemas

  /** The document that was compiled, and the connector's schemas as its catalog spells them. */
  constructor(document: PolicyDocument, schemas: Schemas) {
    this.#document = document
    this.#schemas = schemas
  }

  get document(): PolicyDocument {
    return this.#document
  }

  /** The table as the document spells it, and what it says of it. */
  table(table: CompiledTable): { readonly name: string; readonly policy: TablePolicy } {
    const name = this.#spelled('tables', qualifiedName(table.table.ref))
    return { name, policy: new Map(Object.entries(this.#document.tables)).get(name) ?? {} }
  }

  /** The procedure as the document spells it. A compiled one still holds what the document says of it. */
  procedure(procedure: CompiledProcedure): string {
    const found = Object.entries(this.#document.procedures).find(([, policy]) => policy === procedure.limits)
    return found?.[0] ?? qualifiedName(procedure.routine.ref)
  }

  role(name: string): RolePolicy {
    return new Map(Object.entries(this.#document.roles)).get(name) ?? {}
  }

  /** Each place by which the role grants the operation on the table. */
  grants(role: CompiledRole, table: CompiledTable, operation: TableOperation): readonly string[] {
    return GRANTS[operation].flatMap((grant) => this.#listed(role.name, grant, this.table(table).name))
  }

  denies(role: CompiledRole, table: CompiledTable): readonly string[] {
    return this.#listed(role.name, 'deny', this.table(table).name)
  }

  calls(role: CompiledRole, procedure: CompiledProcedure): readonly string[] {
    return this.#listed(role.name, 'call', this.procedure(procedure))
  }

  tableMasks(table: CompiledTable, column: string): readonly string[] {
    const { name, policy } = this.table(table)
    return indexesOf(policy.mask, column).map((index) => pathText(['tables', name, 'mask', index]))
  }

  /** The places where the role hides the column. */
  roleMasks(role: CompiledRole, table: CompiledTable, column: string): readonly string[] {
    const { name } = this.table(table)
    const masked = new Map(Object.entries(this.role(role.name).mask ?? {})).get(name)
    return indexesOf(masked, column).map((index) => pathText(['roles', role.name, 'mask', name, index]))
  }

  ofTable(table: CompiledTable, ...parts: readonly (string | number)[]): string {
    return pathText(['tables', this.table(table).name, ...parts])
  }

  #spelled(section: 'tables' | 'procedures', name: string): string {
    return spelledName(this.#document[section], name, this.#schemas) ?? name
  }

  #listed(
    role: string,
    grant: 'read' | 'aggregate' | 'create' | 'update' | 'soft_delete' | 'call' | 'deny',
    name: string,
  ) {
    const list = this.role(role)[grant] ?? []
    return list.flatMap((each, index) =>
      each === '*' || each === name ? [pathText(['roles', role, grant, index])] : [],
    )
  }
}

function indexesOf(list: readonly string[] | undefined, name: string): readonly number[] {
  return (list ?? []).flatMap((each, index) => (each === name ? [index] : []))
}
