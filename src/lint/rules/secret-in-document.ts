import { isObject, type JsonObject, own, pointer as pointerTo } from '../../stac/json.ts'
import type { Report, Rule } from '../rule.ts'
import { hasUserInfo, isSecret, looksSecret, secretParameter } from '../secrets.ts'

/** Documents are public; secrets are not. */
export const secretInDocument: Rule = {
  meta: {
    id: 'secret-in-document',
    section: 'schemes',
    severity: { recommended: 'error', strict: 'error', schema: 'off' },
    messages: { secret: '{field} looks like a secret; remove and revoke it' },
  },
  target({ href, pointer }, report) {
    if (href !== undefined && hasUserInfo(href)) report(`${pointer}/href`, 'secret', { field: 'href' })
  },
  scheme({ value, pointer }, report) {
    search(value, pointer, report)
  },
  document({ kind, object, at }, report) {
    // Misplaced schemes are not read, but they are published all the same.
    const misplaced = kind === 'item' ? own(object, 'auth:schemes') : undefined
    if (isObject(misplaced)) search(misplaced, `${at}/auth:schemes`, report)
  },
}

/** Scopes, and the schemas of parameters, talk about tokens: there a name alone tells nothing. */
const SPEAKING = new Set(['scopes', 'schema'])

function search(object: JsonObject, at: string, report: Report, speaking = false): void {
  for (const field in object) {
    const value = object[field]
    if (typeof value === 'string') {
      const secret = isAddress(field, value) ? isTelling(value) : speaking ? looksSecret(value) : isSecret(field, value)
      if (secret) report(pointerTo(at, field), 'secret', { field })
    } else if (isObject(value)) search(value, pointerTo(at, field), report, speaking || SPEAKING.has(field))
  }
}

function isAddress(field: string, value: string): boolean {
  return value.includes('://') && field !== 'description'
}

function isTelling(address: string): boolean {
  return hasUserInfo(address) || secretParameter(address) !== undefined || looksSecret(address)
}

/** Why the rule exists, for its page. */
export const docs =
  'Whoever reads the catalog has the secret. Removing it does not help alone: it must be revoked. Placeholders such as <token> are left alone.'
