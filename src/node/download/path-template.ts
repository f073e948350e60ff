import { ConfigurationError } from '../../errors.ts'
import { own, ownString } from '../../stac/json.ts'
import type { Target } from '../../stac/target.ts'
import { forFileName, partsOfName } from '../../text/file-name.ts'

/** Names the file of a target: segments of a path below the folder, each of them safe by itself. */
export type NameFile = (target: Target, key: string) => readonly string[]

const FIELDS = ['id', 'collection', 'key', 'name', 'stem', 'ext', 'year', 'month', 'day'] as const
type Field = (typeof FIELDS)[number]

/** What stands for a member that a document does not have. */
const ABSENT = '_'

/**
 * Reads a template such as `{collection}/{id}/{name}`. Whatever documents say, every segment stays one.
 *
 * Errors: `CONFIG_INVALID` for a field that does not exist, and for a path that leads out of the folder.
 */
export function pathTemplate(template: string): NameFile {
  const segments = template.split('/')
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..' || segment.includes('\\')))
    throw invalid(template, 'names no file below the folder')
  for (const [, field = ''] of template.matchAll(/\{([^{}]*)\}/g))
    if (!isField(field)) throw invalid(template, `has a field {${field}}; there are ${FIELDS.join(', ')}`)
  if (/[{}]/.test(template.replace(/\{[^{}]*\}/g, ''))) throw invalid(template, 'has a brace without its other half')
  return (target, key) => {
    const values = valuesOf(target, key)
    return segments.map((segment) => forFileName(segment.replace(/\{([^{}]*)\}/g, (_, field: Field) => values[field])))
  }
}

/** The last segment of the path of an address, decoded once (RFC 3986 §2.4), as a safe name. */
function nameInAddress(href: string): string {
  const path = href.replace(/[?#].*$/s, '').replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '')
  return forFileName(decoded(path.slice(path.lastIndexOf('/') + 1)))
}

function valuesOf({ scope: { document }, href }: Target, key: string): Readonly<Record<Field, string>> {
  const name = nameInAddress(href)
  const { stem, extension } = partsOfName(name)
  const properties = own(document, 'properties')
  const moment = ownString(properties, 'datetime') ?? ownString(properties, 'start_datetime') ?? ''
  const [, year = ABSENT, month = ABSENT, day = ABSENT] = /^(\d{4})-(\d\d)-(\d\d)/.exec(moment) ?? []
  const text = (member: string) => ownString(document, member) || ABSENT
  return { id: text('id'), collection: text('collection'), key: key || ABSENT, name, stem, ext: extension, year, month, day }
}

function isField(field: string): field is Field {
  return (FIELDS as readonly string[]).includes(field)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function invalid(template: string, problem: string): ConfigurationError {
  return new ConfigurationError('CONFIG_INVALID', `the template "${template}" ${problem}`)
}
