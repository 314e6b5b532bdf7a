import { fail, ok, type Result } from '../core/result.js'

const PLACEHOLDER = /\$\$\{|\$\{([^}]*)(\}?)/g
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/

/**
 * Replaces `${NAME}` by the environment variable and `$${` by `${`. An unset variable is an error and never left as text;
 * what a variable holds is not read again. The error repeats nothing of the text but the variable's name.
 */
export function interpolate(text: string, env: Readonly<Record<string, string | undefined>>): Result<string, string> {
  let fault: string | undefined
  const filled = text.replace(PLACEHOLDER, (match: string, name: string | undefined, closed: string | undefined) => {
    if (name === undefined) return '${'
    const value = VARIABLE.test(name) && Object.hasOwn(env, name) ? env[name] : undefined
    if (value !== undefined && closed === '}') return value
    fault ??=
      closed === '}' && VARIABLE.test(name)
        ? `the environment variable ${name} is not set`
        : 'expected a variable as $' + '{NAME}; write $$' + '{ for a text that holds $' + '{'
    return match
  })
  return fault === undefined ? ok(filled) : fail(fault)
}
