/**
 * Findings about schemes, kept per value of a map. The Items of a Collection carry the same `auth:schemes` thousands of times: rules
 * about schemes, flows and parameters are asked once for each value, compared member by member.
 */
import { isObject, type JsonObject, own } from '../stac/json.ts'
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
  /** The known ones by what stands where the first two of them differ: the maps of a catalog mostly differ in one address. */
  readonly #byDifference = new Map<unknown, Verdict[]>()
  #difference: readonly string[] = []

  /** The findings about the map: those known for an equal one, else those that `ask` returns, whose pointers are those of the map. */
  of(map: SchemeMap, ask: () => readonly Finding[]): readonly Finding[] {
    const { value, version, declared, summary, pointer, schemes } = map
    const known = this.#byDifference
      .get(scalarAt(value, this.#difference))
      ?.find((other) => other.version === version && other.declared === declared && other.summary === summary && equal(other.value, value))
    if (known) return known.findings.map((finding) => ({ ...finding, pointer: pointer + finding.pointer }))
    const findings = ask()
    if (schemes.length > MOST_SCHEMES) return findings
    const relative = findings.map((finding) => ({ ...finding, pointer: finding.pointer.slice(pointer.length) }))
    this.#keep({ value: JSON.parse(JSON.stringify(value)) as JsonObject, version, declared, summary, findings: relative })
    return findings
  }

  #keep(verdict: Verdict): void {
    const oldest = this.#known.length === REMEMBERED ? this.#known.shift() : undefined
    if (oldest && this.#bucketOf(oldest).splice(0, 1) && this.#bucketOf(oldest).length === 0)
      this.#byDifference.delete(scalarAt(oldest.value, this.#difference))
    this.#known.push(verdict)
    const [first] = this.#known
    if (this.#difference.length === 0 && first) {
      this.#difference = differenceOf(first.value, verdict.value) ?? []
      this.#byDifference.clear()
      for (const known of this.#known) this.#bucketOf(known).push(known)
    } else this.#bucketOf(verdict).push(verdict)
  }

  #bucketOf({ value }: Verdict): Verdict[] {
    const key = scalarAt(value, this.#difference)
    const bucket = this.#byDifference.get(key) ?? []
    this.#byDifference.set(key, bucket)
    return bucket
  }
}

/** The text or other scalar that the names lead to; undefined for anything else. */
function scalarAt(value: unknown, names: readonly string[]): unknown {
  for (const name of names) value = own(value, name)
  return typeof value === 'object' ? undefined : value
}

/** Names that lead to a scalar in which the two objects differ, or undefined. */
function differenceOf(one: JsonObject, other: JsonObject): readonly string[] | undefined {
  for (const name of Object.keys(one)) {
    const [left, right] = [one[name], own(other, name)]
    if (isObject(left) && isObject(right)) {
      const inner = differenceOf(left, right)
      if (inner) return [name, ...inner]
    } else if (typeof left !== 'object' && left !== right) return [name]
  }
  return undefined
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
