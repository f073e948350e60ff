/** A job of the queue: tasks and rules. Anyone with access to the queue can write jobs, so they are validated. */
import { setImmediate } from 'node:timers/promises'
import { withFingerprint } from '../../lint/baseline.ts'
import { type Levels, RULE_NAMES } from '../../lint/config.ts'
import { LEVELS, PRESETS, type Preset } from '../../lint/problem.ts'
import { DOCUMENT_LIMITS } from '../../stac/document.ts'
import type { Task } from '../inputs/pieces.ts'
import { conforming, type JsonShape, objectOf } from './json-shape.ts'
import { type LintResult, recorded } from './linter.ts'
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
  readonly mayBeForeign?: boolean
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
  const job = conforming(data, JOB) as LintJob | undefined
  if (!job?.tasks.every((task) => task.levels < job.levels.length)) throw new TypeError('not a job of stac-auth lint')
  const { preset, fingerprints, levels, tasks } = job
  const results: LintResult[] = []
  for (const { document, levels: index, text, base64, skipUnused = false, mayBeForeign = false, ...task } of tasks) {
    // The worker renews the lock of the job meanwhile.
    await setImmediate()
    const source = base64 === undefined ? text : Buffer.from(base64, 'base64')
    const about = { preset, document, skipUnused, mayBeForeign, rules: levels[index] ?? {} }
    const options = { ...about, ...(fingerprints && { complete: withFingerprint }) }
    results.push(recorded({ ...task, ...(source !== undefined && { text: source }) }, options))
  }
  return results
}

const STRING: JsonShape = { type: 'string' }
const TEXT: JsonShape = { type: 'string', maxLength: DOCUMENT_LIMITS.other * 2 }
const ANY_OBJECT: JsonShape = { type: 'object', additionalProperties: {} }

const TASK = objectOf(
  { document: STRING, levels: { type: 'integer' } },
  {
    ...{ text: TEXT, base64: TEXT, url: TEXT, line: { type: 'integer', minimum: 1 } },
    ...{ skipUnused: { type: 'boolean' }, mayBeForeign: { type: 'boolean' } },
    ...{ parents: { type: 'array', items: ANY_OBJECT }, value: {} },
  },
)

const OF_RULES = {
  ...objectOf({}, Object.fromEntries(RULE_NAMES.map((name) => [name, { enum: LEVELS }]))),
  additionalProperties: { enum: [] },
}

const JOB = objectOf({
  preset: { enum: PRESETS },
  fingerprints: { type: 'boolean' },
  levels: { type: 'array', maxItems: TASKS, items: OF_RULES },
  tasks: { type: 'array', maxItems: TASKS, items: TASK },
})

const RESULT = objectOf(
  {
    problems: { type: 'array' },
    documents: { type: 'integer', minimum: 1 },
    definitions: { type: 'array', items: objectOf({ name: STRING, where: STRING, home: STRING, scheme: ANY_OBJECT }) },
    outerRefs: { type: 'array', items: STRING },
  },
  { isForeign: { type: 'boolean' } },
)

/** Validates the results of a job, because workers may be of another version or untrusted; undefined if they are malformed. */
export function readResults(value: unknown, count: number): readonly LintResult[] | undefined {
  const results = conforming(value, { type: 'array', items: RESULT }) as readonly LintResult[] | undefined
  if (results?.length !== count) return undefined
  const read = results.map((result) => ({ ...result, problems: result.problems.map(readProblem) }))
  return read.every(({ problems }) => !problems.includes(undefined)) ? (read as readonly LintResult[]) : undefined
}
