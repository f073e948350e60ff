/** Runs all rules on one document, with one finding for each mistake. */
import { isObject, type JsonObject, own, ownString } from '../stac/document.ts'
import { type Levels, levelOf } from './config.ts'
import type { LintDocument, RefList, SchemeMap, TargetNode } from './model.ts'
import { schemeOfType } from './pointer.ts'
import type { Preset, Problem, Severity } from './problem.ts'
import { flowsOf, parametersOf } from './read-model.ts'
import type { CaseMeta, Report, ReportData, RuleCase } from './rule.ts'
import { rules } from './rules/index.ts'
import { type Violation, violationsOf } from './schema/violation.ts'
import { looksSecret } from './secrets.ts'

/** Maximum number of findings per document. */
export const FINDING_LIMIT = 1000

const SEVERITIES: readonly Severity[] = ['error', 'warn', 'info']

/** A finding without the name of its document. */
export interface Finding {
  readonly rule: string
  readonly code: string
  readonly severity: Severity
  readonly message: string
  readonly pointer: string
  readonly fix: 'safe' | 'suggestion' | undefined
  /** The probably intended value. */
  readonly near: string | undefined
}

/** An enabled case of a rule. */
interface Active {
  readonly rule: RuleCase
  readonly report: Report
}

/** The rules that are enabled by a preset and its overrides, for many documents. */
export class Runner {
  readonly preset: Preset
  readonly #verdicts = new Verdicts()
  #found: Finding[] = []
  readonly #claiming: readonly Active[]
  readonly #document: readonly Active[]
  readonly #target: readonly Active[]
  readonly #protectedTarget: readonly Active[]
  readonly #refList: readonly Active[]
  readonly #scheme: readonly Active[]
  readonly #flow: readonly Active[]
  readonly #parameter: readonly Active[]
  readonly #reports: ReadonlyMap<string, Report>

  constructor(preset: Preset, levels: Levels) {
    this.preset = preset
    const active = rules.flatMap((family) =>
      family.cases.flatMap((rule): Active[] => {
        const level = levelOf(family, rule, preset, levels)
        // Findings of an unknown severity would not count as errors.
        if (level !== 'off' && !SEVERITIES.includes(level)) throw new TypeError(`unknown preset or level ${level ?? preset}`)
        return level === 'off' ? [] : [{ rule, report: this.#reporter(family.meta.id, rule.meta, level) }]
      }),
    )
    this.#reports = new Map(active.map(({ rule, report }) => [rule.meta.code, report]))
    // A case that is off still claims its violations; otherwise another rule would report them.
    const cases = rules.flatMap((family) => family.cases)
    this.#claiming = cases.flatMap((rule) => (rule.claim ? [{ rule, report: this.#reports.get(rule.meta.code) ?? ignore }] : []))
    this.#document = active.filter(({ rule }) => rule.document)
    this.#target = active.filter(({ rule }) => rule.target)
    this.#protectedTarget = active.filter(({ rule }) => rule.protectedTarget)
    this.#refList = active.filter(({ rule }) => rule.refList)
    this.#scheme = active.filter(({ rule }) => rule.scheme)
    this.#flow = active.filter(({ rule }) => rule.flow)
    this.#parameter = active.filter(({ rule }) => rule.parameter)
  }

  /** Returns the findings of a document, in no particular order; at most {@link FINDING_LIMIT}. */
  run(document: LintDocument): readonly Finding[] {
    this.#found = []
    if (document.kind !== 'unknown') this.#claim(document, violationsOf(document.object, document.kind, document.version))
    for (const { rule, report } of this.#document) rule.document?.(document, report)
    for (const { rule, report } of this.#target) for (const target of document.targets) rule.target?.(target, report)
    const protectedTargets = document.targets.filter(isProtected)
    for (const { rule, report } of this.#protectedTarget) for (const target of protectedTargets) rule.protectedTarget?.(target, report)
    for (const list of document.refLists) this.#askRefList(list)
    for (const map of document.maps) this.#found.push(...this.#verdicts.of(map, () => this.#askSchemes(map, document)))
    return this.#found.length === 0 ? this.#found : limited(withoutConsequences(this.#found), document.at)
  }

  /** Returns the finding of the case with that code, for input without a document model; empty when the case is off. */
  named(code: string, pointer: string, message: string, data?: Readonly<Record<string, string | number>>): readonly Finding[] {
    this.#found = []
    this.#reports.get(code)?.(pointer, message, data)
    return this.#found
  }

  #claim(document: LintDocument, violations: readonly Violation[]): void {
    for (const violation of violations) {
      for (const { rule, report } of this.#claiming) if (rule.claim?.(violation, document, report)) break
    }
  }

  /** Reports the findings of a list on each target that has it. */
  #askRefList(list: RefList): void {
    const before = this.#found
    const found: Finding[] = []
    this.#found = found
    for (const { rule, report } of this.#refList) rule.refList?.(list, report)
    this.#found = before
    for (const finding of found)
      for (const { pointer } of list.targets) before.push({ ...finding, pointer: `${pointer}/auth:refs${finding.pointer}` })
  }

  /** Returns the findings about the schemes of one map, their flows and parameters. */
  #askSchemes({ value, version, pointer, schemes }: SchemeMap, document: LintDocument): readonly Finding[] {
    const before = this.#found
    this.#found = []
    this.#claim(document, violationsOf(value, 'schemes', version, pointer.slice(document.at.length)))
    for (const scheme of schemes) {
      for (const { rule, report } of this.#scheme) rule.scheme?.(scheme, report)
      for (const flow of flowsOf(scheme)) {
        for (const { rule, report } of this.#flow) rule.flow?.(flow, report)
        for (const parameter of parametersOf(flow)) for (const { rule, report } of this.#parameter) rule.parameter?.(parameter, report)
      }
    }
    const found = this.#found
    this.#found = before
    return found
  }

  #reporter(rule: string, meta: CaseMeta, severity: Severity): Report {
    return (pointer, message, data = {}) => {
      const text = fill(meta.messages[message] ?? message, data)
      this.#found.push({
        rule,
        code: meta.code,
        severity: data.uncertain ? 'info' : severity,
        message: text,
        pointer,
        fix: fixOf(meta, data),
        near: data.near,
      })
    }
  }
}

function isProtected(target: TargetNode): target is TargetNode & { readonly href: string } {
  return target.href !== undefined && target.refs !== undefined && target.refs.length > 0
}

function fixOf({ fix }: CaseMeta, data: ReportData): Finding['fix'] {
  if ('fix' in data) return data.fix || undefined
  return 'near' in data && data.near === undefined ? undefined : fix
}

const ignore: Report = () => {}

function fill(template: string, data: ReportData): string {
  const text = template.replace(/\{(\w+)\}/g, (_, name: string) => short(String(data[name] ?? '')))
  return data.near === undefined ? text : `${text} (did you mean "${data.near}"?)`
}

/** Shortens a long text of a document, and hides a secret that is used as a name. */
function short(text: string): string {
  return looksSecret(text) ? '…' : text.length > 200 ? `${text.slice(0, 200)}…` : text
}

/** Removes findings that follow from another finding. */
function withoutConsequences(found: readonly Finding[]): Finding[] {
  const standing = found.flatMap((finding): [Finding, FollowsFrom][] => {
    const rule = CONSEQUENCES[finding.code]
    return rule ? [[finding, rule]] : []
  })
  if (standing.length === 0) return [...found]
  return found.filter((finding) => !standing.some(([by, stands]) => by !== finding && stands(finding, by)))
}

/** Limits the number of findings: keeps errors before warnings before infos, and the first of equal messages before its repetitions. */
function limited(found: Finding[], pointer: string): readonly Finding[] {
  if (found.length <= FINDING_LIMIT) return found
  const seen = new Set<string>()
  const ranked = found.map((finding) => {
    const kind = `${finding.code} ${finding.message}`
    const isRepeated = seen.has(kind)
    seen.add(kind)
    return { finding, rank: 2 * SEVERITIES.indexOf(finding.severity) + Number(isRepeated) }
  })
  const sorted = ranked.sort((one, other) => one.rank - other.rank).map(({ finding }) => finding)
  const kept = sorted.slice(0, FINDING_LIMIT - 1)
  const left = sorted.slice(FINDING_LIMIT - 1)
  const severity = left[0]?.severity ?? 'error'
  return [
    ...kept,
    {
      rule: 'document-limit',
      code: 'document-limit',
      severity,
      message: `${left.length} further findings are not listed`,
      pointer,
      fix: undefined,
      near: undefined,
    },
  ]
}

/** The document and place of a finding. */
export interface About {
  /** The parsed document; undefined when it cannot be read. */
  readonly document: unknown
  /** Pointer of the document in what was read. */
  readonly at: string
  /** What was probably meant. */
  readonly near: string | undefined
}

/** Settings for turning findings into problems. */
export interface Completion {
  readonly document?: string
  /** Adds further members to each finding, such as its fingerprint. */
  readonly complete?: (problem: Problem, about: About) => Problem
}

/** Adds to a finding the facts about its document, whose pointer in what was read is `at`. */
export function problemOf(finding: Finding, { document: name, complete }: Completion, document?: unknown, at = ''): Problem {
  const { rule, code, severity, message, pointer, fix, near } = finding
  const id = ownString(document, 'id')
  const problem: Problem = {
    rule,
    code,
    severity,
    message,
    ...(name !== undefined && { document: name }),
    ...(id !== undefined && { id }),
    pointer,
    ...(fix && { fix }),
  }
  return complete ? complete(problem, { document, at, near }) : problem
}

/** True when `finding` follows from `by`. */
type FollowsFrom = (finding: Finding, by: Finding) => boolean

const within: FollowsFrom = (finding, by) => finding.pointer === by.pointer || finding.pointer.startsWith(`${by.pointer}/`)

/** Follows from a finding around it, except secrets and misplaced refs, which are always separate mistakes. */
const insideOnly: FollowsFrom = (finding, by) =>
  within(finding, by) && finding.code !== 'secret-in-document' && finding.code !== 'misplaced-refs'

const wholeScheme: FollowsFrom = (finding, by) => insideOnly(finding, { ...by, pointer: schemeOfType(by.pointer) })

const notSecret: FollowsFrom = (finding, by) => within(finding, by) && finding.code !== 'secret-in-document'

/** Conditions by the code of the finding from which others follow. */
const CONSEQUENCES: Readonly<Record<string, FollowsFrom | undefined>> = {
  'document-shape': (finding, by) =>
    by.pointer !== '' && finding.code !== 'secret-in-document' && finding.pointer.startsWith(`${by.pointer}/`),
  'misplaced-schemes': notSecret,
  'misplaced-refs': notSecret,
  'missing-schemes': (finding) => finding.code === 'dangling-ref',
  'flows-shape': insideOnly,
  'type-near-miss': wholeScheme,
  'missing-type': (finding, by) => notSecret(finding, { ...by, pointer: schemeOfType(by.pointer) }),
  'flow-name': (finding, by) => finding.code === 'required-field' && finding.pointer === by.pointer,
}

/** Maximum number of cached maps; a catalog has few different ones. */
const REMEMBERED = 64

/** Maximum number of schemes in a cached map: larger maps are rare, and comparing them would cost as much as running the rules. */
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

/** A cache of the findings of one set of rules for maps of schemes. */
export class Verdicts {
  readonly #known: Verdict[] = []
  /** The cached maps by the value in which the first two differ: most maps of a catalog differ in one URL. */
  readonly #byDifference = new Map<unknown, Verdict[]>()
  #difference: readonly string[] = []

  /** Returns the findings of the map: those of an equal known map, else those that `ask` returns, with pointers from the root. */
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
    if (oldest) {
      const bucket = this.#bucketOf(oldest)
      bucket.shift()
      if (bucket.length === 0) this.#byDifference.delete(scalarAt(oldest.value, this.#difference))
    }
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

/** Returns the string or other scalar at a path of names; undefined for anything else. */
function scalarAt(value: unknown, names: readonly string[]): unknown {
  for (const name of names) value = own(value, name)
  return typeof value === 'object' ? undefined : value
}

/** Returns the path of names to a scalar in which the two objects differ, or undefined. */
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

/** Compares as JSON: the order of members is ignored, that of elements is not. */
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
