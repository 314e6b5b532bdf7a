import { unreachable } from '../core/assert.js'
import type { Changed, PolicyChange } from './diff.js'
import { quoted } from './policy-finding.js'

/** Changes as a person reads them: `+` what is gained, `-` what is lost, a line each. */
export function changeText({ kind, subject, object, operations, changed }: PolicyChange): string {
  const whose = `${subject.kind} ${quoted(subject.name)}`
  const of = operations.length === 0 ? quoted(object.name) : `${operations.join(', ')} of ${quoted(object.name)}`
  return `${kind === 'gained' ? '+' : '-'} ${whose}: ${of}: ${changedText(changed, kind, object.kind)}`
}

function changedText(changed: Changed, kind: PolicyChange['kind'], object: PolicyChange['object']['kind']): string {
  const gained = kind === 'gained'
  switch (changed.what) {
    case 'access': {
      const columns = changed.columns.length === 0 ? '' : `, columns ${changed.columns.join(', ')}`
      const rows = changed.rows === undefined ? '' : `, ${changed.rows}`
      return `${gained ? 'allowed' : 'no longer allowed'}${columns}${rows}`
    }
    case 'columns':
      return `${gained ? 'more' : 'fewer'} columns: ${changed.columns.join(', ')}`
    case 'returned':
      return `gives back ${gained ? 'more' : 'fewer'} columns: ${changed.columns.join(', ')}`
    case 'rows':
      return `${changed.rows} rows: ${changed.after} (before: ${changed.before})`
    case 'limit':
      return `${changed.limit} ${changed.after} (before: ${changed.before})`
    case 'preset':
      return presetText(changed)
    case 'key':
      return `a row is ${gained ? 'now' : 'no longer'} asked for by ${changed.columns.join(', ')}`
    case 'tool': {
      const named = object === 'table' ? 'its tools are' : 'its tool is'
      return `${named} ${gained ? 'now' : 'no longer'} named ${object === 'table' ? 'after ' : ''}${quoted(changed.tool)}`
    }
    case 'relation':
      return `the relation of ${changed.relation} is ${gained ? 'now' : 'no longer'} known`
    case 'denial':
      return gained ? 'no longer denied, so that other roles may grant it' : 'denied, whatever other roles grant'
    case 'write_effect':
      return gained ? 'may now write' : 'may no longer write'
    case 'dry_run':
      return gained ? 'can now be tried and undone' : 'can no longer be tried and undone'
    default:
      return unreachable(changed)
  }
}

function presetText({ column, before, after }: Extract<Changed, { what: 'preset' }>): string {
  if (after === undefined) return `${quoted(column)} is no longer set to ${before}`
  return `${quoted(column)} is always set to ${after}${before === undefined ? '' : ` (before: ${before})`}`
}
