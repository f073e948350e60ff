import { nearMiss } from '../../text/suggest.ts'
import type { Rule, RuleCase, RuleDocs } from '../rule.ts'
import { looksLikeField } from '../survey.ts'

/** The two fields are called `auth:schemes` and `auth:refs`. */
const misspeltAuthField: RuleCase = {
  meta: {
    code: 'misspelt-auth-field',
    severity: { recommended: 'error', strict: 'error', schema: 'error' },
    messages: { misspelt: '"{field}" is not a field of the authentication extension' },
    fix: 'suggestion',
  },
  document({ misplacedFields }, report) {
    for (const { field, pointer } of misplacedFields) {
      const near = nearestAuthField(field)
      if (near) report(pointer, 'misspelt', { field, near })
    }
  },
}

/** Returns the field that a misspelt name probably means. */
export function nearestAuthField(field: string): string | undefined {
  if (!looksLikeField(field) || FIELDS.includes(field)) return undefined
  const [, rest = ''] = /^a[a-z]*[:_\-. ]+([^:_\-. ].*)$/is.exec(field) ?? /^auth([rs].*)$/i.exec(field) ?? []
  const name = rest.toLowerCase()
  const near = NAMES.includes(name) ? name : nearMiss(name, NAMES, ALIASES)
  return near && `auth:${near}`
}

const NAMES = ['schemes', 'refs']
const FIELDS = NAMES.map((name) => `auth:${name}`)
const ALIASES = { reference: 'refs', references: 'refs', schema: 'schemes', schemas: 'schemes', schemata: 'schemes' }

/** The prefix `auth:` belongs to the extension. */
const unknownAuthField: RuleCase = {
  meta: {
    code: 'unknown-auth-field',
    severity: { recommended: 'warn', strict: 'warn', schema: 'off' },
    messages: {
      unknown: 'the extension does not define "{field}", so clients ignore it: remove it, or use another prefix',
    },
  },
  document({ misplacedFields }, report) {
    for (const { field, pointer } of misplacedFields) {
      if (field.startsWith('auth:') && field !== 'auth:refs' && field !== 'auth:schemes' && !nearestAuthField(field)) {
        report(pointer, 'unknown', { field })
      }
    }
  },
}

export const authFieldName: Rule = {
  meta: { id: 'auth-field-name', section: 'placement' },
  cases: [misspeltAuthField, unknownAuthField],
}

export const docs: RuleDocs = {
  'misspelt-auth-field': {
    part: 'fields',
    why: 'Clients ignore a field that they do not know. Without auth:refs they request the asset as public and get 401 or 403; without auth:schemes every reference is undefined.',
    repair: [
      'Rename the field to auth:refs or auth:schemes, as the message suggests.',
      'Correct the template or program that writes it; the same mistake is then in all its documents.',
    ],
  },
  'unknown-auth-field': {
    part: 'fields',
    why: 'No client reads a field that the extension does not define, and a later version may give its name another meaning.',
    repair: [
      'If the field states a requirement, express it with auth:refs or in the description of a scheme.',
      'If it is for your own programs, rename it with a prefix of your own, such as mycatalog:field.',
    ],
  },
}
