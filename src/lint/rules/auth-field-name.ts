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

/** The field that a name misses narrowly. */
export function nearestAuthField(field: string): string | undefined {
  if (!looksLikeField(field) || FIELDS.includes(field)) return undefined
  const [, rest = ''] = /^a[a-z]*[:_\-. ]+(.+)$/i.exec(field) ?? /^auth([rs].*)$/i.exec(field) ?? []
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
      unknown: '"{field}" is not a field of the authentication extension, and clients ignore it: remove it, or use another prefix',
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
  'misspelt-auth-field': 'A misspelt field is ignored without a word, and what it should have protected looks public.',
  'unknown-auth-field': 'Fields that the extension does not define are read by nobody, and may get another meaning in a later version.',
}
