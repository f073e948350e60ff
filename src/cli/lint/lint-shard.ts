/** Facts that a part of a run (`--shard`) leaves to `merge`, because they depend on the documents of the other parts. */
import { createHash } from 'node:crypto'
import { isMine } from '../../crawl/expand.ts'
import type { Problem, TextOptions } from '../../lint/index.ts'
import { outerRefsIn } from '../../lint/lint.ts'
import { isRefutable, type OuterRefs } from '../../lint/lint-run.ts'
import { type FileShard, type Pending, type ShardDefinition, withoutRepeats } from '../../lint/reporters/report.ts'
import { nameOfDocument } from '../../lint/rules/conflicting-scheme.ts'
import { isObject, kindOf, own, ownString, pointer, type StacDocument, schemePlaces, wrappedMember } from '../../stac/document.ts'
import { compare } from './lint-run.ts'
import { findingOf, placeholderIn, RecordingRun, siteOf, withOther } from './linter.ts'

/** One of several parts of the inputs. */
export class LintShard {
  readonly run = new RecordingRun({ siteOf })
  readonly pending: Pending[] = []
  readonly #inputs = new Map<string, number>()
  readonly #part: { readonly index: number; readonly of: number }

  constructor(part: { readonly index: number; readonly of: number }) {
    this.#part = part
  }

  /** True for an input that belongs to this part, whatever the order of the inputs. */
  owns(input: string): boolean {
    return isMine(input, this.#part)
  }

  /** Notes the number of an input that is mentioned in the report. */
  mention(document: string, number: number): void {
    if (!this.#inputs.has(document)) this.#inputs.set(document, number)
  }

  /** Keeps a finding for `merge` and returns true if it depends on the documents of other parts. */
  postpones(problem: Problem, block: number, isKnown: () => boolean): boolean {
    const index = placeholderIn(problem)
    const recorded = index === undefined ? undefined : this.run.definitions[index]
    if (!recorded && !isRefutable(problem)) return false
    const known = isKnown()
    const definition = recorded && { name: recorded.name, hash: hashOf(recorded.scheme), where: recorded.where }
    if (definition || !known) this.pending.push({ block, problem, ...(definition && { definition }), ...(known && { known: true }) })
    return true
  }

  /** Returns what only parts of files have. */
  ofFiles(): FileShard {
    return { inputs: Object.fromEntries(this.#inputs), pending: this.pending }
  }
}

/** Returns the findings of all parts that depend on the documents of other parts, as one run over all inputs finds them. */
export function settledOf(shards: readonly FileShard[], outerRefs: OuterRefs): readonly Problem[] {
  const all = shards.flatMap(({ pending, inputs }, part) =>
    pending.map((one) => ({ ...one, part, input: own(inputs, one.problem.document ?? '') as number })),
  )
  const known = new Map<string, { readonly where: string; readonly hashes: Set<string> }>()
  const blocks = new Map<string, Problem[]>()
  for (const { part, block, problem, definition, known: isKnown } of all.sort((one, other) => one.input - other.input)) {
    const found = definition ? conflictOf(problem, definition, known) : outerRefs.refutes(problem) ? undefined : problem
    if (!found || isKnown) continue
    const key = `${part} ${block}`
    blocks.set(key, [...(blocks.get(key) ?? []), found])
  }
  return [...blocks.values()].flatMap(withoutRepeats)
}

/** Returns the finding about a definition unless it is the first one of its name, or equal to an earlier one. */
function conflictOf(
  problem: Problem,
  { name, hash, where }: Required<Pending>['definition'],
  known: Map<string, { readonly where: string; readonly hashes: Set<string> }>,
): Problem | undefined {
  const first = known.get(name)
  if (!first) known.set(name, { where, hashes: new Set([hash]) })
  if (!first || first.hashes.has(hash)) return undefined
  first.hashes.add(hash)
  return withOther(problem, first.where)
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
      const { name, document, pointer: at, id, level } = definition
      const first = firsts.get(name)
      if (!first) firsts.set(name, definition)
      if (!first || level === 'off') return []
      const data = { name, other: nameOfDocument(first.id, first.document) }
      return [findingOf('conflicting-scheme', level, data, { document, ...(id !== undefined && { id }), pointer: at }, complete)]
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
