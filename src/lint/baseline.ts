/** Findings that are known and put up with for now, so that new ones are seen. */
import { pointer as append, isObject, own, ownString } from '../stac/document.ts'
import { inside, namesOf } from './pointer.ts'
import type { Problem } from './problem.ts'
import type { About } from './runner.ts'

/** A baseline file: how often each fingerprint is known. */
export interface Baseline {
  readonly version: 1
  readonly findings: Readonly<Record<string, number>>
}

/**
 * Holds findings against a baseline as they come, each place by itself: a fingerprint covers as many as the baseline counted, and what
 * is found more often is new. Memory grows with what is different.
 */
export class Comparison {
  readonly #held: ReadonlyMap<string, number>
  readonly #counts = new Map<string, number>()
  /** How many findings the baseline holds. */
  known = 0
  /** How many came. */
  total = 0

  constructor({ findings }: Baseline) {
    this.#held = new Map(Object.entries(findings))
  }

  /** The findings that the baseline does not hold; all must have their fingerprints. */
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

  /** Fingerprints that the baseline holds more often than they came. */
  gone(): readonly string[] {
    return [...this.#held].filter(([name, count]) => (this.#counts.get(name) ?? 0) < count).map(([name]) => name)
  }

  /** The baseline that holds what came. */
  updated(): Baseline {
    const findings = [...this.#counts].sort(([one], [other]) => (one < other ? -1 : 1))
    return { version: 1, findings: Object.fromEntries(findings) }
  }

  /** The baseline without what did not come; nothing is added. */
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
 * What names a finding from one edit of a catalog to the next: its code, the `id` (or else the name) of its document, and
 * its pointer from there, in which elements go by what they are instead of by their number. Several findings may share one.
 */
function fingerprintOf({ code, id, document: name = '', pointer }: Problem, { document, at }: About): string {
  let value = document
  let path = ''
  for (const name of namesOf(pointer.slice(at.length))) {
    const inner = inside(value, name)
    path = append(path, (Array.isArray(value) && labelOf(inner)) || name)
    value = inner
  }
  return `${code} ${id ?? name} ${path}`
}

/** The finding with its fingerprint. */
export function withFingerprint(problem: Problem, about: About): Problem {
  return { ...problem, fingerprint: fingerprintOf(problem, about) }
}

/** Queries may hold secrets, and change with them. */
function labelOf(element: unknown): string | undefined {
  const label = typeof element === 'string' ? element : (ownString(element, 'rel') ?? ownString(element, 'id'))
  return label?.replace(/[?#].*/s, '').slice(0, 100)
}
