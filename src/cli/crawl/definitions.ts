/** Schemes of a crawl that have one name and mean different things. */
import { createHash } from 'node:crypto'
import type { Problem } from '../../lint/index.ts'
import { kindOf, type StacDocument, schemePlaces, wrappedMember } from '../../stac/document.ts'
import { isObject, own, ownString, pointer } from '../../stac/json.ts'
import type { LintSettings } from '../lint-run.ts'
import { runFinding } from './visits.ts'

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
  readonly #names = new Map<string, Map<string, Definition & { readonly document: string }>>()

  add(document: string, definitions: readonly Definition[]): void {
    for (const definition of definitions) {
      const meanings = this.#names.get(definition.name) ?? new Map<string, Definition & { readonly document: string }>()
      if (!this.#names.has(definition.name) && this.#names.size >= MOST_NAMES) return
      this.#names.set(definition.name, meanings)
      const known = meanings.get(definition.hash)
      if (!known || document < known.document) meanings.set(definition.hash, { ...definition, document })
    }
  }

  /** A finding for each meaning but the first. */
  problems(settings: LintSettings): readonly Problem[] {
    return [...this.#names].flatMap(([name, meanings]) => {
      const [first, ...others] = [...meanings.values()].sort((one, other) => (one.document < other.document ? -1 : 1))
      return others.flatMap(({ document, pointer, id }) => {
        const data = { name, document: `the one in ${first?.id ?? first?.document}` }
        return runFinding('conflicting-scheme', data, { document, pointer, ...(id !== undefined && { id }) }, settings)
      })
    })
  }
}
