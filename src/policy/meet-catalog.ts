import { type KnownObjects, knownObjects } from '../core/known-objects.js'
import type { SchemaModel } from '../core/schema-model.js'
import type { PolicyDocument } from './policy-document.js'
import { compilePolicy, type PolicyEngine } from './policy-engine.js'
import type { PolicyFinding } from './policy-finding.js'
import type { PolicyTree } from './policy-tree.js'
import { type Schemas, schemasOf, withQualifiedNames, writtenPath } from './qualified-names.js'
import type { PolicyVars } from './vars.js'

/** A document as one connector would have it, before it is stored. */
export interface MetCatalog {
  readonly engine: PolicyEngine
  readonly findings: readonly LocatedFinding[]
  /** What it is about there, to be remembered with the version that is stored. */
  readonly known: KnownObjects
}

export interface LocatedFinding extends PolicyFinding {
  /** Of the document's text, from 1. */
  readonly line: number
}

/** Meets a document with a catalog. `tree` tells the lines; `schemas` are the connector's, as configured. */
export function meetCatalog(
  document: PolicyDocument,
  tree: Pick<PolicyTree, 'lineOf'>,
  schema: SchemaModel,
  connector: { readonly schemas: Schemas; readonly vars: PolicyVars },
): MetCatalog {
  const schemas = schemasOf(connector.schemas, schema)
  const { engine, findings } = compilePolicy(document, schema, { schemas, vars: connector.vars })
  const { tables } = withQualifiedNames(document, schemas)
  const located = findings.map((finding) => ({
    ...finding,
    line: tree.lineOf(writtenPath(document, finding.path, schemas)),
  }))
  return { engine, findings: located, known: knownObjects(schema, Object.keys(tables)) }
}
