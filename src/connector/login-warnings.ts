import type { LoginFacts } from '../core/schema-model.js'

/** Sentences for the operator about a login that can do more than the policy will ever ask of it. */
export function loginWarnings(login: LoginFacts): readonly string[] {
  const warnings: string[] = []
  if (login.superuser) {
    warnings.push('the database login is a superuser; use one that holds only what the policy grants')
    return warnings
  }
  if (login.ownsCount > 0) {
    warnings.push(
      `the database login owns ${login.ownsCount} table(s), such as ${login.owns[0]}; use one that owns none`,
    )
  }
  if (login.writesCount > 0) {
    warnings.push(
      `the database login can write ${login.writesCount} table(s), such as ${login.writes[0]}, although the policy only reads`,
    )
  }
  return warnings
}
