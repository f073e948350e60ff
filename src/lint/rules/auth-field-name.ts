import { nearMiss } from '../../text/suggest.ts'
import { rule } from '../rule.ts'
import { looksLikeField, type MisplacedField } from '../survey.ts'

export const authFieldName = rule('auth-field-name', 'placement', {
  'misspelt-auth-field': {
    levels: ['error', 'error', 'error'],
    messages: { misspelt: '"{field}" is not a field of the authentication extension' },
    fix: 'suggestion',
    document({ misplacedFields }, report) {
      for (const { field, pointer } of misplacedFields) {
        const near = nearestAuthField(field)
        if (near) report(pointer, 'misspelt', { field, near })
      }
    },
  },
  'unknown-auth-field': {
    levels: ['warn', 'warn', 'error'],
    messages: {
      unknown: 'the extension does not define "{field}", so clients ignore it: remove it, or use another prefix',
    },
    document({ misplacedFields, preset, kind }, report) {
      for (const { field, pointer, holder } of misplacedFields) {
        if (!field.startsWith('auth:') || field === 'auth:refs' || field === 'auth:schemes' || nearestAuthField(field)) continue
        // The published schemas do not look at these places.
        const isUnseen = UNSEEN.has(holder) || (holder === 'document' && (kind === 'item' || kind === 'wrapper'))
        if (preset !== 'schema' || !isUnseen) report(pointer, 'unknown', { field })
      }
    },
  },
})

const UNSEEN: ReadonlySet<MisplacedField['holder']> = new Set(['alternate', 'summaries'])

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
