/** Runs all rules on one document, with one finding for each mistake. */
import { ownString } from '../stac/document.ts'
import { type Levels, levelOf } from './config.ts'
import { endpointsOf, type FlowNode, isProtected, type LintDocument, type SchemeMap, type SchemeNode, type TargetNode } from './model.ts'
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

/** A hook of a case, and where it reports. */
interface Check<Hook> {
  readonly check: Hook
  readonly report: Report
}

type Hooks = Required<RuleCase['hooks']>

type Checks = { readonly [Name in keyof Hooks]: readonly Check<Hooks[Name]>[] }

/** The rules that are enabled by a preset and its overrides, for many documents. */
export class Runner {
  readonly preset: Preset
  #found: Finding[] = []
  readonly #reports: ReadonlyMap<string, Report>
  readonly #checks: Checks

  constructor(preset: Preset, levels: Levels) {
    this.preset = preset
    const cases = rules.flatMap((family) =>
      family.cases.map(({ meta, hooks }) => {
        const level = levelOf(family, meta, preset, levels)
        // Findings of an unknown severity would not count as errors.
        if (level !== 'off' && !SEVERITIES.includes(level)) throw new TypeError(`unknown preset or level ${level ?? preset}`)
        return { code: meta.code, hooks, report: level === 'off' ? undefined : this.#reporter(family.meta.id, meta, level) }
      }),
    )
    const active = cases.flatMap(({ report, ...one }) => (report ? [{ ...one, report }] : []))
    this.#reports = new Map(active.map(({ code, report }) => [code, report]))
    const checksOf = <Name extends keyof Hooks>(name: Name) =>
      active.flatMap(({ hooks, report }): Check<Hooks[Name]>[] => {
        const check = hooks[name] as Hooks[Name] | undefined
        return check ? [{ check, report }] : []
      })
    this.#checks = {
      // A case that is off still claims its violations; otherwise another rule would report them.
      claim: cases.flatMap(({ hooks: { claim: check }, report = ignore }) => (check ? [{ check, report }] : [])),
      document: checksOf('document'),
      target: checksOf('target'),
      protectedTarget: checksOf('protectedTarget'),
      scheme: checksOf('scheme'),
      flow: checksOf('flow'),
      endpoint: checksOf('endpoint'),
      parameter: checksOf('parameter'),
    }
  }

  /** Returns the findings of a document, in no particular order; at most {@link FINDING_LIMIT}. */
  run(document: LintDocument): readonly Finding[] {
    this.#found = []
    if (document.kind !== 'unknown') this.#claim(document, violationsOf(document.object, document.kind, document.version))
    for (const { check, report } of this.#checks.document) check(document, report)
    for (const target of document.targets) this.#checkTarget(target)
    for (const map of document.maps) this.#checkSchemes(map, document)
    return this.#found.length === 0 ? this.#found : limited(withoutConsequences(this.#found), document.at)
  }

  /** Returns the finding of the case with that code, for input without a document model; empty when the case is off. */
  named(code: string, pointer: string, message: string, data?: Readonly<Record<string, string | number>>): readonly Finding[] {
    this.#found = []
    this.#reports.get(code)?.(pointer, message, data)
    return this.#found
  }

  #claim(document: LintDocument, violations: readonly Violation[]): void {
    for (const violation of violations) this.#checks.claim.some(({ check, report }) => check(violation, document, report))
  }

  #checkTarget(target: TargetNode): void {
    for (const { check, report } of this.#checks.target) check(target, report)
    if (isProtected(target)) for (const { check, report } of this.#checks.protectedTarget) check(target, report)
  }

  /** Checks the schemes of one map, their flows and parameters. */
  #checkSchemes({ value, version, pointer, schemes }: SchemeMap, document: LintDocument): void {
    this.#claim(document, violationsOf(value, 'schemes', version, pointer.slice(document.at.length)))
    for (const scheme of schemes) {
      for (const { check, report } of this.#checks.scheme) check(scheme, report)
      this.#checkEndpoints(scheme)
      for (const flow of flowsOf(scheme)) {
        for (const { check, report } of this.#checks.flow) check(flow, report)
        this.#checkEndpoints(flow)
        for (const parameter of parametersOf(flow)) for (const { check, report } of this.#checks.parameter) check(parameter, report)
      }
    }
  }

  #checkEndpoints(node: FlowNode | SchemeNode): void {
    for (const endpoint of endpointsOf(node)) for (const { check, report } of this.#checks.endpoint) check(endpoint, report)
  }

  #reporter(rule: string, meta: CaseMeta, severity: Severity): Report {
    return (pointer, message, data = {}) => {
      this.#found.push({
        rule,
        code: meta.code,
        severity: data.uncertain ? 'info' : severity,
        message: fill(meta.messages[message] ?? message, data),
        pointer,
        fix: fixOf(meta, data),
        near: data.near,
      })
    }
  }
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
export interface FindingContext {
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
  readonly complete?: (problem: Problem, about: FindingContext) => Problem
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
  'public-as-http': (finding, by) => finding.code === 'unused-scheme' && finding.pointer === by.pointer,
  'flow-name': (finding, by) => finding.code === 'required-field' && finding.pointer === by.pointer,
}
