import { own } from '../../stac/json.ts'
import type { Rule } from '../rule.ts'
import { RETIRED_TYPES } from '../vocabulary.ts'

/** Features belong to the version that is declared. */
export const versionMismatch: Rule = {
  meta: {
    id: 'version-mismatch',
    section: 'placement',
    severity: { recommended: 'warn', strict: 'error', schema: 'off' },
    messages: { mismatch: '{feature} needs version {need}, declared is {version}' },
    fix: 'suggestion',
  },
  scheme({ value, type, pointer, map: { declared, version } }, report) {
    if (!declared) return
    if (version !== '1.2.0' && own(value, 'auth:refs') !== undefined) {
      report(`${pointer}/auth:refs`, 'mismatch', { feature: 'auth:refs on a scheme', need: '1.2.0', version })
    }
    if (version !== '1.0.0' && (RETIRED_TYPES as readonly (string | undefined)[]).includes(type)) {
      report(`${pointer}/type`, 'mismatch', { feature: `type ${type}`, need: '1.0.0', version, fix: false })
    }
  },
  flow({ name, value, pointer, scheme }, report) {
    const { declared, version } = scheme.map
    if (!declared || version === '1.2.0' || scheme.type !== 'oauth2') return
    if (name === 'tokenExchange') report(pointer, 'mismatch', { feature: name, need: '1.2.0', version })
    if (own(value, 'subjectTokenType') !== undefined) {
      report(`${pointer}/subjectTokenType`, 'mismatch', { feature: 'subjectTokenType', need: '1.2.0', version })
    }
  },
}

/** Why the rule exists, for its page. */
export const docs = 'Clients that know only the declared version do not understand fields and types of another one.'
