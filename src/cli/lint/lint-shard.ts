/** Facts that a part of a run (`--shard`) leaves to `merge`, because they depend on the documents of the other parts. */
import type { Problem, TextOptions } from '../../lint/index.ts'
import type { OuterRefs } from '../../lint/lint-run.ts'
import { type FileShard, type Pending, type ShardDefinition, withoutRepeats } from '../../lint/reporters/report.ts'
import { nameOfDocument } from '../../lint/rules/conflicting-scheme.ts'
import { own } from '../../stac/document.ts'
import { compare } from './collector.ts'
import { findingOf, hashOf, type LintResult, placeholderIn, subjectOf, withOther } from './linter.ts'

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
  const subject = subjectOf({ name, hash })
  const first = known.get(subject)
  if (!first) known.set(subject, { where, hashes: new Set([hash]) })
  if (!first || first.hashes.has(hash)) return undefined
  first.hashes.add(hash)
  return withOther(problem, first.where)
}

/** Takes the conflicts out of the findings of a document, and returns the definitions that they are about. */
export function definitionsOf({ problems, definitions = [] }: LintResult): {
  problems: readonly Problem[]
  definitions: readonly ShardDefinition[]
} {
  const others: Problem[] = []
  const found: ShardDefinition[] = []
  for (const problem of problems) {
    const defined = definitions[placeholderIn(problem) ?? -1]
    if (!defined) others.push(problem)
    else {
      const { document = '', id, pointer, severity: level } = problem
      found.push({ name: defined.name, hash: hashOf(defined), document, ...(id !== undefined && { id }), pointer, level })
    }
  }
  return { problems: others, definitions: found }
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
      const first = firsts.get(subjectOf(definition))
      if (!first) firsts.set(subjectOf(definition), definition)
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
