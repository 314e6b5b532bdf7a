import type { Explanation } from './explain.js'
import { quoted } from './policy-finding.js'

/** An explanation as a person reads it, a line each. */
export function explanationLines(explanation: Explanation): readonly string[] {
  const { decision, code, answer, tool, operation, target, plan } = explanation
  const verdict = decision === 'allowed' ? 'ALLOWED' : `REFUSED with ${code}`
  const what = operation === undefined ? '' : `, which is ${operation}${target === undefined ? '' : ` of ${target}`}`
  return [
    `${verdict}: ${quoted(explanation.identity.name)} calls ${tool}${what}`,
    ...(answer === undefined ? [] : line('answer', answer)),
    ...explanation.reasons.flatMap(({ path, does }) => line('reason', `${does}${placeText([path])}`)),
    ...identityLines(explanation),
    ...explanation.grants.flatMap(({ path, role }) => line('granted', `by role ${role}${placeText([path])}`)),
    ...rowLines(explanation),
    ...columnLines(explanation),
    ...explanation.presets.flatMap(({ path, does }) => line('preset', `${does}${placeText([path])}`)),
    ...limitLines(explanation),
    ...(plan === undefined ? [] : line('plan', JSON.stringify(plan))),
  ]
}

const LABEL_WIDTH = 9

function line(label: string, text: string): readonly string[] {
  return [`  ${label.padEnd(LABEL_WIDTH)} ${text}`]
}

function placeText(paths: readonly string[]): string {
  const places = paths.filter((path) => path !== '')
  return places.length === 0 ? '' : `  [${places.join(', ')}]`
}

function identityLines({ identity }: Explanation): readonly string[] {
  const { roles, unknownRoles, override } = identity
  const held = roles.length === 0 ? 'none on this connector' : roles.join(', ')
  const unknown = unknownRoles.length === 0 ? '' : `; not in the policy: ${unknownRoles.join(', ')}`
  return line('roles', `${held}${unknown}${placeText(override === undefined ? [] : [override])}`)
}

function rowLines({ rows }: Explanation): readonly string[] {
  if (rows === undefined) return []
  return [
    ...line('rows', rows.text ?? 'none: the claims of the identity do not do'),
    ...rows.rules.flatMap(({ rule, rows: words, role, fault }) => {
      const whose = role === undefined ? 'always' : `role ${role}`
      return line('', `${whose}: ${words}${fault === undefined ? '' : `: ${fault}`}${placeText([rule])}`)
    }),
  ]
}

function columnLines({ columns }: Explanation): readonly string[] {
  const width = Math.max(0, ...columns.map(({ column }) => column.length))
  return columns.flatMap(({ column, usable, why, rules }, index) => {
    const text = `${column.padEnd(width)}  ${usable ? 'yes' : 'no '}  ${why}${placeText(rules)}`
    return line(index === 0 ? 'columns' : '', text)
  })
}

function limitLines({ limits }: Explanation): readonly string[] {
  return limits.flatMap(({ limit, value, rule }, index) =>
    line(index === 0 ? 'limits' : '', `${limit} ${value}${rule === undefined ? '  (built in)' : placeText([rule])}`),
  )
}
