import type { Rule } from '../rule.ts'

/** A document that uses the fields says so in `stac_extensions`; its wrapper may say it for all. */
export const undeclaredExtension: Rule = {
  meta: {
    id: 'undeclared-extension',
    section: 'placement',
    severity: { recommended: 'error', strict: 'error', schema: 'error' },
    messages: { undeclared: 'auth: fields are used, but the Authentication extension is not declared' },
    fix: 'safe',
  },
  claim({ keyword, missing, pointer }, { at, declared, object }, report) {
    if (missing !== 'stac_extensions' && !(keyword === 'contains' && pointer === '/stac_extensions')) return false
    if (!declared) report(Object.hasOwn(object, 'stac_extensions') ? `${at}/stac_extensions` : at, 'undeclared')
    return true
  },
}

/** Why the rule exists, for its page. */
export const docs = 'Clients and validators look at stac_extensions first, and pass over the fields of an extension that is not listed.'
