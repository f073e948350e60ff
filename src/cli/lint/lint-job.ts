/** A job of the queue: tasks and rules. Anyone with access to the queue can write jobs, so they are validated. */
import { setImmediate } from 'node:timers/promises'
import { withFingerprint } from '../../lint/baseline.ts'
import type { Levels } from '../../lint/config.ts'
import { RULE_NAMES } from '../../lint/config.ts'
import type { Preset, Problem } from '../../lint/problem.ts'
import { LEVELS, PRESETS } from '../../lint/problem.ts'
import { DOCUMENT_LIMITS, isObject, own } from '../../stac/document.ts'
import type { Task } from '../inputs/pieces.ts'
import { type Defined, type LintResult, lintTask, RecordingRun, siteOf } from './linter.ts'
import { readProblem } from './read-report.ts'

/**
 * Lock of a job in milliseconds. One document is checked without a pause; the largest that is read takes some ten seconds, and several
 * times as long on a machine that is busy.
 */
export const LINT_LOCK = 60_000

/** Limit of tasks in a job. */
export const TASKS = 64

export interface LintJob {
  readonly preset: Preset
  readonly fingerprints: boolean
  /** Levels that override the preset; tasks refer to them by index. */
  readonly levels: readonly Levels[]
  readonly tasks: readonly JobTask[]
}

/** A task in JSON: bytes that are not UTF-8 are encoded as base64. */
export interface JobTask extends Omit<Task, 'text'> {
  readonly document: string
  readonly levels: number
  readonly text?: string
  readonly base64?: string
  readonly skipUnused?: boolean
}

/** Encodes a task for the queue. */
export function packed({ text, ...task }: Task, document: string, levels: number): JobTask {
  if (text === undefined || typeof text === 'string') return { ...task, ...(text !== undefined && { text }), document, levels }
  try {
    return { ...task, text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(text), document, levels }
  } catch {
    return { ...task, base64: Buffer.from(text).toString('base64'), document, levels }
  }
}

/** Runs a job and returns the findings of each task. Rejects with a `TypeError` for a malformed job. */
export async function lintJob(data: unknown): Promise<readonly LintResult[]> {
  if (!isJob(data)) throw new TypeError('not a job of stac-auth lint')
  const { preset, fingerprints, levels, tasks } = data
  const run = new RecordingRun({ siteOf })
  const results: LintResult[] = []
  for (const { document, levels: index, text, base64, skipUnused = false, ...task } of tasks) {
    // The worker renews the lock of the job meanwhile.
    await setImmediate()
    const source = base64 === undefined ? text : Buffer.from(base64, 'base64')
    const options = { preset, document, run, skipUnused, rules: levels[index] ?? {}, ...(fingerprints && { complete: withFingerprint }) }
    const problems = lintTask({ ...task, ...(source !== undefined && { text: source }) }, options)
    results.push({ problems, ...run.take() })
  }
  return results
}

function isJob(data: unknown): data is LintJob {
  const [preset, fingerprints, levels, tasks] = ['preset', 'fingerprints', 'levels', 'tasks'].map((name) => own(data, name))
  if (!PRESETS.some((known) => known === preset) || typeof fingerprints !== 'boolean') return false
  if (!Array.isArray(levels) || levels.length > TASKS || !levels.every(isLevels)) return false
  return Array.isArray(tasks) && tasks.length <= TASKS && tasks.every((task) => isTask(task, levels.length))
}

function isLevels(value: unknown): boolean {
  if (!isObject(value)) return false
  return Object.entries(value).every(([id, level]) => RULE_NAMES.includes(id) && LEVELS.some((known) => known === level))
}

const TEXTS = ['text', 'base64', 'url'] as const

function isTask(task: unknown, levels: number): boolean {
  if (!isObject(task) || typeof own(task, 'document') !== 'string') return false
  const [index, line, parents] = ['levels', 'line', 'parents'].map((name) => own(task, name))
  if (!Number.isInteger(index) || Number(index) < 0 || Number(index) >= levels) return false
  if (line !== undefined && !(Number.isSafeInteger(line) && Number(line) > 0)) return false
  if (!['undefined', 'boolean'].includes(typeof own(task, 'skipUnused'))) return false
  if (parents !== undefined && !(Array.isArray(parents) && parents.every(isObject))) return false
  return TEXTS.every((name) => {
    const text = own(task, name)
    return text === undefined || (typeof text === 'string' && text.length <= DOCUMENT_LIMITS.other * 2)
  })
}

/** Validates the results of a job, because workers may be of another version or untrusted; undefined if they are malformed. */
export function readResults(value: unknown, count: number): readonly LintResult[] | undefined {
  if (!Array.isArray(value) || value.length !== count) return undefined
  const results = value.map((one): LintResult | undefined => {
    const [found, definitions, outerRefs] = ['problems', 'definitions', 'outerRefs'].map((name) => own(one, name))
    if (!Array.isArray(found) || !Array.isArray(definitions) || !definitions.every(isDefined)) return undefined
    if (!Array.isArray(outerRefs) || !outerRefs.every((name) => typeof name === 'string')) return undefined
    const problems = found.map(readProblem).filter((problem): problem is Problem => problem !== undefined)
    return problems.length === found.length ? { problems, definitions, outerRefs } : undefined
  })
  return results.every((result) => result !== undefined) ? results : undefined
}

function isDefined(value: unknown): value is Defined {
  return typeof own(value, 'name') === 'string' && typeof own(value, 'where') === 'string' && isObject(own(value, 'scheme'))
}
