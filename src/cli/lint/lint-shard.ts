/** The parts of a run: which inputs belong to one, and the schemes that its documents define, to compare them with those of the others. */
import { createHash } from 'node:crypto'
import { isMine } from '../../crawl/expand.ts'
import { type Level, LintRun, type Problem, type TextOptions } from '../../lint/index.ts'
import { outerRefsIn } from '../../lint/lint.ts'
import type { ShardDefinition } from '../../lint/reporters/report.ts'
import { isObject, kindOf, own, ownString, pointer, type StacDocument, schemePlaces, wrappedMember } from '../../stac/document.ts'
import type { Piece } from '../inputs/pieces.ts'
import { findingOf, siteOf } from './linter.ts'

/** The state of a part, which compares no schemes: `merge` does, for all parts. */
class PartRun extends LintRun {
  override otherDefinition(): undefined {
    return undefined
  }
}

/** One of several parts of the inputs. */
export class LintShard {
  readonly run = new PartRun({ siteOf })
  readonly definitions = new Definitions()
  readonly #part: { readonly index: number; readonly of: number }

  constructor(part: { readonly index: number; readonly of: number }) {
    this.#part = part
  }

  /** True for an input that belongs to this part, whatever the order of the inputs. */
  owns(input: string): boolean {
    return isMine(input, this.#part)
  }

  /** Adds the schemes of a piece of a document. */
  define({ task: { text, value }, placed }: Piece, document: string, level: Level): void {
    const content = text === undefined ? value : parsed(text)
    for (const definition of isObject(content) ? definitionsIn(content) : []) {
      const [at] = placed?.([{ rule: '', code: '', severity: 'info', message: '', document, pointer: definition.pointer }]) ?? []
      this.definitions.add({ ...definition, ...(at && { pointer: at.pointer }), document, level })
    }
  }
}

/** Returns the document in a text; undefined for a text that is not JSON, which is a finding of its own. */
function parsed(text: string | Uint8Array): unknown {
  try {
    return JSON.parse(typeof text === 'string' ? text : new TextDecoder().decode(text))
  } catch {
    return undefined
  }
}

/** A scheme, its position, and a hash of its definition. */
export interface Definition {
  readonly name: string
  readonly hash: string
  readonly pointer: string
  readonly id?: string
}

/** Returns the schemes of a document, or of the documents in a page; equal definitions once. */
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

/** Returns the names that a document, or the documents in a page, refer to and do not define. */
export function outerRefsOf(document: StacDocument): readonly string[] {
  return [...new Set(partsOf(document).flatMap(([part]) => [...outerRefsIn(part)]))]
}

function partsOf(document: StacDocument): readonly (readonly [StacDocument, string])[] {
  const isWrapper = kindOf(document) === 'wrapper'
  const member = isWrapper ? wrappedMember(document) : 'children'
  const inner = own(document, member)
  if (!Array.isArray(inner)) return isWrapper ? [] : [[document, '']]
  return inner.flatMap((part, index) => (isObject(part) ? [[part, `/${member}/${index}`] as const] : []))
}

/** A cache, because most documents of a catalog repeat the same definitions. */
const hashes = new Map<string, string>()

const REMEMBERED = 1000

/** Hashes a definition without its description and regardless of member order. */
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

/** Limit of the scheme names that are compared. */
const MOST_NAMES = 10_000

/** The different definitions of each scheme name, each at its first position; memory grows with definitions, not with documents. */
export class Definitions {
  readonly #names = new Map<string, Map<string, ShardDefinition>>()

  add(definition: ShardDefinition): void {
    const meanings = this.#names.get(definition.name) ?? new Map<string, ShardDefinition>()
    if (!this.#names.has(definition.name) && this.#names.size >= MOST_NAMES) return
    this.#names.set(definition.name, meanings)
    const known = meanings.get(definition.hash)
    if (!known || definition.document < known.document) meanings.set(definition.hash, definition)
  }

  /** Returns all definitions by name and document. */
  all(): readonly ShardDefinition[] {
    return [...this.#names.values()].flatMap((meanings) => [...meanings.values()]).sort(order)
  }

  /** Returns a finding for each definition but the first. */
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

/** Compares definitions by name, document and position. */
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
