import type { Rule } from '../rule.ts'

/** Schemes are written once per document, not on each asset. */
export const schemesOnTarget: Rule = {
  meta: {
    id: 'schemes-on-target',
    section: 'placement',
    severity: { recommended: 'warn', strict: 'error', schema: 'error' },
    messages: { 'on-target': 'auth:schemes is understood here, but most clients look in {place} only' },
    fix: 'suggestion',
  },
  target({ object, pointer, document }, report) {
    if (!Object.hasOwn(object, 'auth:schemes')) return
    report(`${pointer}/auth:schemes`, 'on-target', { place: document.kind === 'item' ? 'properties' : 'the root of the document' })
  },
}

/** Why the rule exists, for its page. */
export const docs =
  'One reading of the extension allows schemes on assets and links, the published schema does not; few clients find them there.'
