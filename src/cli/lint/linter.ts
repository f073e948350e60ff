/** Linters of tasks, in this process or by workers, and findings of rules that need more than one document. */

import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import { caseOf, type Levels, levelOfCode } from '../../lint/config.ts'
import type { TextOptions } from '../../lint/lint.ts'
import { type Defined, LintRun } from '../../lint/lint-run.ts'
import type { Level, Preset, Problem, Severity } from '../../lint/problem.ts'
import { isObject } from '../../stac/document.ts'
import type { Task } from '../inputs/pieces.ts'
import type { LintSettings } from './lint-run.ts'
import { lintTask, type TaskOptions, type TaskResult } from './lint-task.ts'

/** The findings of a task, and what the run needs of it. */
export interface LintResult extends Partial<TaskResult> {
  readonly problems: readonly Problem[]
  /** Schemes to compare with those of earlier tasks; absent if they are already compared. */
  readonly definitions?: readonly Defined[]
  /** Names that the task refers to and does not define; absent if the run has them already. */
  readonly outerRefs?: readonly string[]
}

export interface Linter {
  /** Lints one task of a document. Errors: `ABORTED`, and those of the connection to workers. */
  lint(task: Task, about: TaskRules): LintResult | Promise<LintResult>
  /** Returns true if results must be awaited before further tasks. */
  isFull(): boolean
  close(): Promise<void>
}

/** A document and the rules for it. */
export interface TaskRules {
  readonly document: string
  readonly preset: Preset
  readonly rules: Levels
  /** True when the user did not name this document alone: then one that does not use the extension has no findings. */
  readonly skipUnused?: boolean
  /** True for a file that the user did not name, which is not linted unless it is STAC. */
  readonly mayBeForeign?: boolean
}

const require = createRequire(import.meta.url)

let suffixes: typeof import('tldts') | undefined

/**
 * Returns the registrable domain of a host by the public suffix list, private suffixes such as `github.io` included; the host itself if it
 * is an address or a suffix. Rules are synchronous, so the list is loaded with the first host that is compared.
 */
export function siteOf(host: string): string {
  suffixes ??= require('tldts') as typeof import('tldts')
  return suffixes.getDomain(host, { allowPrivateDomains: true }) ?? host
}

/** Returns a linter in this process. With `run`, documents are compared with each other; otherwise their schemes are recorded. */
export function localLinter({ complete, isShown }: Pick<LintSettings, 'complete' | 'isShown'>, run?: LintRun): Linter {
  return {
    lint: (task, about) => {
      const options = { ...about, complete, ...(isShown && { isShown }) }
      return run ? lintTask(task, { ...options, run }) : recorded(task, options)
    },
    isFull: () => true,
    close: async () => {},
  }
}

/** Lints a task and records its schemes, which the caller compares with those of other tasks. */
export function recorded(task: Task, options: TaskOptions): LintResult {
  const run = new RecordingRun({ siteOf })
  const result = lintTask(task, { ...options, run })
  return { ...result, definitions: run.definitions, outerRefs: run.outerRefs.all() }
}

/** The placeholder in a message for the name of the other document: the last one, because the name of a scheme may look like it. */
const PLACE = /\u0001(\d+)(?!.*\u0001)/s

/** Returns the index in the placeholder of a finding. */
export function placeholderIn({ code, message }: Problem): number | undefined {
  const [, index] = (code === 'conflicting-scheme' && PLACE.exec(message)) || []
  return index === undefined ? undefined : Number(index)
}

/** Returns the finding with the name of the other document. */
export function withOther(problem: Problem, other: string): Problem {
  return { ...problem, message: problem.message.replace(PLACE, () => other) }
}

/** Limit of the definitions that are recorded, as of those that a run compares. */
const MOST_DEFINITIONS = 10_000

/** Records each definition once, as if an earlier document had another one. */
class RecordingRun extends LintRun {
  readonly definitions: Defined[] = []
  readonly #seen = new Set<string>()

  override otherDefinition(defined: Defined): string | undefined {
    const { name, scheme, home } = defined
    const key = JSON.stringify([home, name, scheme])
    if (this.#seen.has(key) || this.#seen.size >= MOST_DEFINITIONS) return undefined
    this.#seen.add(key)
    this.definitions.push(defined)
    return `\u0001${this.definitions.length - 1}`
  }
}

/** Hashes a definition without its description and regardless of member order; the site of its document comes first. */
export function hashOf({ scheme, home }: Pick<Defined, 'scheme' | 'home'>): string {
  const meaning = JSON.stringify({ ...scheme, description: undefined }, (_name, value: unknown) =>
    isObject(value) ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))) : value,
  )
  return `${home}/${createHash('sha256').update(meaning).digest('base64url').slice(0, 22)}`
}

/** Returns what definitions with different hashes are in conflict about: a name at a site. */
export function subjectOf({ name, hash }: { readonly name: string; readonly hash: string }): string {
  return `${hash.slice(0, hash.indexOf('/'))} ${name}`
}

/** Compares recorded schemes with those of the run, and removes findings without a conflict. */
export function compared({ problems, definitions }: LintResult, run: LintRun): readonly Problem[] {
  if (!definitions) return problems
  const others = definitions.map((defined) => run.otherDefinition(defined))
  return problems.flatMap((problem) => {
    const index = placeholderIn(problem)
    if (index === undefined) return [problem]
    const other = others[index]
    return other === undefined ? [] : [withOther(problem, other)]
  })
}

/** The rules that need more than one document. */
type RunRule = 'unreachable' | 'self-mismatch' | 'conflicting-scheme' | OnlineRule

/** The rules of `--online`. */
export type OnlineRule =
  | 's3-public-bucket'
  | 'endpoint-unreachable'
  | 'endpoint-answer'
  | 'endpoint-metadata'
  | 'scope-unlisted'
  | 'endpoint-cors'

/** Returns the level of such a rule for a document. */
export function levelOf(rule: RunRule, document: string, { levels }: LintSettings): Level {
  return levelOfCode(rule, levels.preset, levels.levelsFor(document))
}

/** Returns the finding of such a rule at its configured level, or none if it is off. */
export function runFinding(
  rule: RunRule,
  data: Readonly<Record<string, string>>,
  place: Pick<Problem, 'document' | 'id' | 'pointer'>,
  settings: LintSettings,
): readonly Problem[] {
  const severity = levelOf(rule, place.document ?? '', settings)
  return severity === 'off' ? [] : [findingOf(rule, severity, data, place, settings.complete)]
}

/** Returns the finding of such a rule at a given level. */
export function findingOf(
  rule: RunRule,
  severity: Severity,
  data: Readonly<Record<string, string>>,
  place: Pick<Problem, 'document' | 'id' | 'pointer'>,
  complete: TextOptions['complete'],
): Problem {
  const [template = ''] = Object.values(caseOf(rule)?.[1].meta.messages ?? {})
  const message = template.replace(/\{(\w+)\}/g, (_, name: string) => data[name] ?? '')
  const problem: Problem = { rule, code: rule, severity, message, ...place }
  return complete ? complete(problem, { document: undefined, at: '', near: undefined }) : problem
}
