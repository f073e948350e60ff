/** Schemes of a crawl that have one name and mean different things. */
import { createHash } from 'node:crypto'
import type { Problem, TextOptions } from '../../lint/index.ts'
import type { ShardDefinition } from '../../lint/reporters/report.ts'
import { kindOf, type StacDocument, schemePlaces, wrappedMember } from '../../stac/document.ts'
import { isObject, own, ownString, pointer } from '../../stac/json.ts'
import { findingOf } from './run-rules.ts'

/** A scheme, where it stands, and a hash of what it means. */
export interface Definition {
  readonly name: string
  readonly hash: string
  readonly pointer: string
  readonly id?: string
}

/** The schemes of a document, or of those in a page: each meaning once. */
export function definitionsIn(document: StacDocument): readonly Definition[] {
  const found = new Map<string, Definition>()
  for (const [part, at] of partsOf(document)) {
    const id = ownString(part, 'id')
    for (const { schemes, pointer: place } of schemePlaces(part)) {
      for (const [name, scheme] of Object.entries(isObject(schemes) ? schemes : {})) {
        if (!isObject(scheme)) continue
        const hash = hashOf(scheme)
        const key = `${hash} ${name}`
        if (!found.has(key)) found.set(key, { name, hash, pointer: pointer(at + place, name), ...(id !== undefined && { id }) })
      }
    }
  }
  return [...found.values()]
}

function partsOf(document: StacDocument): readonly (readonly [StacDocument, string])[] {
  const isWrapper = kindOf(document) === 'wrapper'
  const member = isWrapper ? wrappedMember(document) : 'children'
  const inner = own(document, member)
  if (!Array.isArray(inner)) return isWrapper ? [] : [[document, '']]
  return inner.flatMap((part, index) => (isObject(part) ? [[part, `/${member}/${index}`] as const] : []))
}

/** Most documents of a catalog say the same about a scheme. */
const hashes = new Map<string, string>()
const REMEMBERED = 1000

/** Neither descriptions nor the order of members mean anything. */
function hashOf(scheme: StacDocument): string {
  const text = JSON.stringify(scheme)
  const known = hashes.get(text)
  if (known !== undefined) return known
  const meaning = JSON.stringify({ ...scheme, description: undefined }, (_name, value: unknown) =>
    isObject(value) ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))) : value,
  )
  const hash = createHash('sha256').update(meaning).digest('base64url').slice(0, 22)
  if (hashes.size >= REMEMBERED) hashes.clear()
  hashes.set(text, hash)
  return hash
}

/** Names of schemes that are compared. */
const MOST_NAMES = 10_000

/** All meanings of all names, each where it stands first in the order of the report; memory grows with meanings, not with documents. */
export class Definitions {
  readonly #names = new Map<string, Map<string, ShardDefinition>>()

  add(definition: ShardDefinition): void {
    const meanings = this.#names.get(definition.name) ?? new Map<string, ShardDefinition>()
    if (!this.#names.has(definition.name) && this.#names.size >= MOST_NAMES) return
    this.#names.set(definition.name, meanings)
    const known = meanings.get(definition.hash)
    if (!known || definition.document < known.document) meanings.set(definition.hash, definition)
  }

  /** All that were added, by name and document. */
  all(): readonly ShardDefinition[] {
    return [...this.#names.values()].flatMap((meanings) => [...meanings.values()]).sort(order)
  }

  /** A finding for each meaning but the first. */
  problems(complete: TextOptions['complete']): readonly Problem[] {
    const firsts = new Map<string, ShardDefinition>()
    return this.all().flatMap((definition) => {
      const { name, document, pointer, id, level } = definition
      const first = firsts.get(name)
      if (!first) firsts.set(name, definition)
      if (!first || level === 'off') return []
      const data = { name, document: `the one in ${first.id ?? first.document}` }
      return [findingOf('conflicting-scheme', level, data, { document, ...(id !== undefined && { id }), pointer }, complete)]
    })
  }
}

/** Different meanings of a name in one document are sorted by what they are, for each has a place of its own. */
function order(one: ShardDefinition, other: ShardDefinition): number {
  return (
    compare(one.name, other.name) ||
    compare(one.document, other.document) ||
    compare(one.pointer, other.pointer) ||
    compare(one.hash, other.hash)
  )
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other)
}
