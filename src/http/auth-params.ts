/** Parameters of `Authorization` as they go on the wire (RFC 9110 §11.2). */
import { ChallengeError } from '../errors.ts'

/** Name, value and form; base64 goes as a token too, since RFC 7804 writes it so. */
export type AuthParam = readonly [name: string, value: string, form: 'quoted' | 'token']

/**
 * Writes parameters in the order given. Values are byte strings: text outside US-ASCII is encoded before. Errors:
 * `AUTH_CHALLENGE_UNSUPPORTED` naming the parameter that has control characters or does not fit its form, never its value.
 */
export function authParams(params: readonly AuthParam[]): string {
  return params.map(([name, value, form]) => `${name}=${form === 'quoted' ? quoted(name, value) : bare(name, value)}`).join(', ')
}

function quoted(name: string, value: string): string {
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) throw unwritable(name)
  return `"${value.replace(/["\\]/g, '\\$&')}"`
}

function bare(name: string, value: string): string {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z/-]+=*$/.test(value)) throw unwritable(name)
  return value
}

function unwritable(name: string): ChallengeError {
  return new ChallengeError(
    'AUTH_CHALLENGE_UNSUPPORTED',
    `the parameter "${name}" has characters that a header cannot carry. Nothing was sent`,
  )
}
