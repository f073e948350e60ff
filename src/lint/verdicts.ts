/**
 * Findings about schemes, kept per value of a map. The Items of a Collection carry the same `auth:schemes` thousands of times: rules
 * about schemes, flows and parameters are asked once for each value, compared member by member.
 */
import { isObject, type JsonObject } from '../stac/json.ts'
import type { SchemeMap } from './model.ts'
import type { Finding } from './runner.ts'

/** Values that are remembered; a catalog has few. */
const REMEMBERED = 64

/** Schemes in a map that is remembered: larger maps are rare, and comparing them would cost as much as asking. */
const MOST_SCHEMES = 100

interface Verdict {
  /** A copy: callers may change their documents afterwards. */
  readonly value: JsonObject
  readonly version: string
  readonly declared: boolean
  readonly summary: boolean
  /** Pointers start at the map. */
  readonly findings: readonly Finding[]
}

/** What one set of rules has found about maps of schemes. */
export class Verdicts {
  readonly #known: Verdict[] = []

  /** The findings about the map: those known for an equal one, else those that `ask` returns, whose pointers are those of the map. */
  of(map: SchemeMap, ask: () => readonly Finding[]): readonly Finding[] {
    const { value, version, declared, summary, pointer, schemes } = map
    const known = this.#known.find(
      (other) => other.version === version && other.declared === declared && other.summary === summary && equal(other.value, value),
    )
    if (known) return known.findings.map((finding) => ({ ...finding, pointer: pointer + finding.pointer }))
    const findings = ask()
    if (schemes.length > MOST_SCHEMES) return findings
    const relative = findings.map((finding) => ({ ...finding, pointer: finding.pointer.slice(pointer.length) }))
    if (this.#known.length === REMEMBERED) this.#known.shift()
    this.#known.push({ value: JSON.parse(JSON.stringify(value)) as JsonObject, version, declared, summary, findings: relative })
    return findings
  }
}

/** Equal as JSON: the order of members means nothing, that of elements does. */
function equal(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (Array.isArray(one))
    return Array.isArray(other) && one.length === other.length && one.every((element, index) => equal(element, other[index]))
  if (!isObject(one) || !isObject(other)) return false
  let missing = 0
  for (const name in one) {
    missing++
    if (!Object.hasOwn(other, name) || !equal(one[name], other[name])) return false
  }
  for (const _ in other) missing--
  return missing === 0
}
