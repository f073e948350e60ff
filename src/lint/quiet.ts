/**
 * The short way for documents that have nothing to report. In a catalog thousands of Items carry the same schemes and
 * refer to them in the same way; once one of them was found to be clean, the others are compared with it instead of being
 * asked by every rule.
 *
 * Everything here errs to one side: a document that is not plainly clean takes the long way. The tests hold both ways
 * against each other on thousands of damaged documents. Only one thing is not looked for here: a name that stands twice and
 * hides no auth field; such a document is otherwise clean.
 */
import { isObject, type JsonObject, own } from '../stac/json.ts'
import { endOf, skip } from '../stac/json-scan.ts'
import { EXTENSION } from '../stac/version.ts'
import { countFields, countOpeners, type KnownSchemes, Look } from './quiet-look.ts'

const REMEMBERED = 64

/** Characters by which known schemes are looked up before they are compared as a whole. */
const KEY = 100

/** Schemes that are used are noted as bits. */
const MOST_SCHEMES = 30

const START = '"auth:schemes":'

/** What earlier documents have shown to be clean; one for each set of rules. */
export class Quiet {
  readonly #known = new Map<string, KnownSchemes>()

  /** True when no rule can find anything in the document: never for one that has a finding. */
  covers(text: string, document: unknown): boolean {
    if (this.#known.size === 0 || !isObject(document) || text.includes('\\u')) return false
    const start = startOf(text)
    const known = this.#known.get(text.slice(start, start + KEY))
    if (!known || text.slice(start, start + known.text.length) !== known.text) return false
    return declarationOf(document) === known.declaration && new Look(known, document).isClean(text)
  }

  /** Remembers the schemes of a document in which nothing was found. */
  remember(text: string, document: unknown): void {
    if (!isObject(document) || text.includes('\\u')) return
    const start = startOf(text)
    const schemes = own(document.type === 'Feature' ? own(document, 'properties') : document, 'auth:schemes')
    const declaration = declarationOf(document)
    if (!isObject(schemes) || declaration === undefined || text[start] !== '{') return
    const names = Object.keys(schemes)
    if (names.length > MOST_SCHEMES) return
    if (this.#known.size >= REMEMBERED) this.#known.clear()
    const slice = copyOf(text.slice(start, endOf(text, start)))
    const table = new Map(names.map((name, index) => [name, { type: own(schemes[name], 'type'), bit: 1 << index }]))
    const known = { text: slice, declaration, schemes: table, fields: countFields(slice), openers: countOpeners(slice) }
    this.#known.set(copyOf(text.slice(start, start + KEY)), known)
  }
}

/** The only declaration of the extension, when there is one and nothing else needs a look. */
function declarationOf(document: JsonObject): string | undefined {
  const list = own(document, 'stac_extensions')
  let found: string | undefined
  if (!Array.isArray(list)) return undefined
  for (const url of list) {
    if (typeof url !== 'string' || url.includes('/storage/v1')) return undefined
    if (!url.startsWith(EXTENSION)) continue
    if (found !== undefined) return undefined
    found = url
  }
  return found
}

/** Offset of the value of the first `auth:schemes`. */
function startOf(text: string): number {
  return skip(text, text.indexOf(START) + START.length)
}

/** A text of its own: a slice would keep all of the document alive. */
function copyOf(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string
}
