/** Baselines: known findings, which are counted but not reported, so that new ones are noticed. */
import { pointer as append, isObject, own, ownString } from '../stac/document.ts'
import { inside, namesOf } from './pointer.ts'
import type { Problem } from './problem.ts'
import type { FindingContext } from './runner.ts'

/** A baseline file: how often each fingerprint is known. */
export interface Baseline {
  readonly version: 1
  readonly findings: Readonly<Record<string, number>>
}

/**
 * Compares findings with a baseline, by fingerprint: as many findings as the baseline counted are known,
 * further ones are new. Memory grows with the number of different fingerprints.
 */
export class Comparison {
  readonly #held: ReadonlyMap<string, number>
  readonly #counts = new Map<string, number>()
  /** Number of findings so far that are in the baseline. */
  known = 0
  /** Number of findings so far. */
  total = 0

  constructor({ findings }: Baseline) {
    this.#held = new Map(Object.entries(findings))
  }

  /** Returns the findings that are not in the baseline; each must have a fingerprint. */
  news(problems: readonly Problem[]): readonly Problem[] {
    const news = problems.filter(({ fingerprint = '' }) => {
      const count = (this.#counts.get(fingerprint) ?? 0) + 1
      this.#counts.set(fingerprint, count)
      return count > (this.#held.get(fingerprint) ?? 0)
    })
    this.total += problems.length
    this.known += problems.length - news.length
    return news
  }

  /** Returns the fingerprints that were found less often than the baseline counted. */
  gone(): readonly string[] {
    return [...this.#held].filter(([name, count]) => (this.#counts.get(name) ?? 0) < count).map(([name]) => name)
  }

  /** Returns a baseline of all findings so far. */
  updated(): Baseline {
    const findings = [...this.#counts].sort(([one], [other]) => (one < other ? -1 : 1))
    return { version: 1, findings: Object.fromEntries(findings) }
  }

  /** Returns the baseline without the findings that were not found again; none is added. */
  pruned(): Baseline {
    const kept = [...this.#held].map(([name, count]) => [name, Math.min(count, this.#counts.get(name) ?? 0)] as const)
    return { version: 1, findings: Object.fromEntries(kept.filter(([, count]) => count > 0)) }
  }
}

/** True for a baseline of this version. */
export function isBaseline(value: unknown): value is Baseline {
  const findings = own(value, 'findings')
  return (
    own(value, 'version') === 1 &&
    isObject(findings) &&
    Object.values(findings).every((count) => Number.isInteger(count) && Number(count) > 0)
  )
}

/**
 * Returns an identifier of a finding that survives edits of the catalog: its code, the `id` (or else the name) of its document, and
 * its pointer in the document, with labels instead of indexes. Several findings may have the same one.
 */
function fingerprintOf({ code, id, document: name = '', pointer }: Problem, { document, at }: FindingContext): string {
  let value = document
  let path = ''
  for (const part of namesOf(pointer.slice(at.length))) {
    const inner = inside(value, part)
    path = append(path, (Array.isArray(value) && labelOf(inner)) || part)
    value = inner
  }
  return `${code} ${id ?? name} ${path}`
}

/** Returns the finding with its fingerprint. */
export function withFingerprint(problem: Problem, about: FindingContext): Problem {
  return { ...problem, fingerprint: fingerprintOf(problem, about) }
}

/** Returns a label of an element, without query: queries may contain secrets that change. */
function labelOf(element: unknown): string | undefined {
  const label = typeof element === 'string' ? element : (ownString(element, 'rel') ?? ownString(element, 'id'))
  return label?.replace(/[?#].*/s, '').slice(0, 100)
}
