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
  const near = nearestName(rest)
  return near && `auth:${near}`
}

/** Returns the field of the storage extension that a misspelt name probably means. */
export function nearestStorageField(field: string): 'storage:schemes' | 'storage:refs' | undefined {
  // Most names of a document are not even near.
  if (field[0] !== 's' && field[0] !== 'S') return undefined
  const [, prefix = '', rest = ''] = /^(st[a-z]*)[:_\-. ]+([^:_\-. ].*)$/is.exec(field) ?? /^(storage)([rs].*)$/i.exec(field) ?? []
  const near = /^storage$/i.test(prefix) || nearMiss(prefix, ['storage']) ? nearestName(rest) : undefined
  return near && `storage:${near}` !== field ? `storage:${near}` : undefined
}

/** Both extensions have a field of either name. */
function nearestName(written: string): (typeof NAMES)[number] | undefined {
  const near = nearMiss(written.toLowerCase(), NAMES, ALIASES) ?? written.toLowerCase()
  return NAMES.find((name) => name === near)
}

const NAMES = ['schemes', 'refs'] as const

const FIELDS: readonly string[] = NAMES.map((name) => `auth:${name}`)

const ALIASES = { reference: 'refs', references: 'refs', schema: 'schemes', schemas: 'schemes', schemata: 'schemes' }
