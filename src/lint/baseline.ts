/** Findings that are known and put up with for now, so that new ones are seen. */
import { isObject, own } from '../stac/json.ts'
import type { Problem } from './problem.ts'

/** A baseline file: how often each fingerprint is known. */
export interface Baseline {
  readonly version: 1
  readonly findings: Readonly<Record<string, number>>
}

/** Findings held against a baseline. */
export interface Compared {
  /** Those that the baseline does not hold. */
  readonly news: readonly Problem[]
  /** How many it holds. */
  readonly known: number
  /** Fingerprints that it holds more often than they were found. */
  readonly gone: readonly string[]
}

/** The baseline that holds these findings; they must have their fingerprints. */
export function baselineOf(problems: readonly Problem[]): Baseline {
  const counts = countsOf(problems)
  return { version: 1, findings: Object.fromEntries([...counts].sort(([one], [other]) => (one < other ? -1 : 1))) }
}

/** Splits findings into known and new ones. A fingerprint covers as many findings as the baseline counted. */
export function compare(problems: readonly Problem[], { findings }: Baseline): Compared {
  const left = new Map(Object.entries(findings))
  const news = problems.filter(({ fingerprint = '' }) => {
    const room = left.get(fingerprint) ?? 0
    if (room > 0) left.set(fingerprint, room - 1)
    return room <= 0
  })
  return { news, known: problems.length - news.length, gone: [...left].filter(([, count]) => count > 0).map(([name]) => name) }
}

/** The baseline without what is no longer found; nothing is added. */
export function pruned({ findings }: Baseline, problems: readonly Problem[]): Baseline {
  const counts = countsOf(problems)
  const kept = Object.entries(findings).map(([name, count]) => [name, Math.min(count, counts.get(name) ?? 0)] as const)
  return { version: 1, findings: Object.fromEntries(kept.filter(([, count]) => count > 0)) }
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

function countsOf(problems: readonly Problem[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { fingerprint = '' } of problems) counts.set(fingerprint, (counts.get(fingerprint) ?? 0) + 1)
  return counts
}
