import { own } from '../../stac/json.ts'
import { schemeOfType, valueAt } from '../pointer.ts'
import type { Rule } from '../rule.ts'

/** Every scheme has a type. */
export const missingType: Rule = {
  meta: {
    id: 'missing-type',
    section: 'schemes',
    severity: { recommended: 'error', strict: 'error', schema: 'error' },
    messages: { missing: 'type is required' },
    fix: 'suggestion',
  },
  claim({ pointer, missing, name, keyword, place }, { at, object }, report) {
    const scheme = schemeOfType(pointer)
    const absent = place === 'scheme' && missing === 'type'
    const unusable = place === 'field' && name === 'type' && (keyword === 'type' || keyword === 'not') && scheme !== pointer
    if (absent || unusable)
      report(at + pointer, 'missing', { fix: typeFrom(valueAt(object, absent ? pointer : scheme)) !== undefined && 'suggestion' })
    return absent || unusable
  },
}

/** The type that the fields of a scheme point to. */
export function typeFrom(scheme: unknown): string | undefined {
  const flows = Object.values(own(scheme, 'flows') ?? {})
  if (flows.length > 0) return flows.some((flow) => own(flow, 'authorizationApi') !== undefined) ? 'signedUrl' : 'oauth2'
  if (own(scheme, 'openIdConnectUrl') !== undefined) return 'openIdConnect'
  if (own(scheme, 'in') !== undefined) return 'apiKey'
  return own(scheme, 'scheme') === undefined ? undefined : 'http'
}

/** Why the rule exists, for its page. */
export const docs = 'The type decides how everything else in the scheme is read.'
