/** `--online`: adds findings about the services that documents name to those of a linter. */

import { isAddress } from '../../../http/url.ts'
import type { Problem } from '../../../lint/index.ts'
import { locate } from '../../../lint/pointer.ts'
import { isObject, kindOf, type StacDocument } from '../../../stac/document.ts'
import type { Context } from '../../context.ts'
import type { Task } from '../../inputs/pieces.ts'
import { jsonIn } from '../../read-document.ts'
import { loggedTransport } from '../../request-log.ts'
import { byPosition } from '../collector.ts'
import type { LintSettings } from '../lint-run.ts'
import type { Linter, LintResult, OnlineRule, TaskRules } from '../linter.ts'
import { levelOf, runFinding } from '../linter.ts'
import { PublicBuckets } from './buckets.ts'
import { Endpoints } from './endpoints.ts'

/** A document of a task. */
export interface OnlineDocument {
  readonly document: StacDocument
  /** Its pointer in what was read. */
  readonly at: string
  readonly url: string | undefined
  readonly parents: readonly StacDocument[]
}

/** A finding at a pointer in what was read, with the values of its message. */
export interface OnlineFinding {
  readonly code: OnlineRule
  readonly pointer: string
  readonly data: Readonly<Record<string, string>>
  /** The `id` of its document. */
  readonly id?: string | undefined
}

/** A check that sends requests, each of them once in a run. */
export interface OnlineCheck {
  /** The rules that it reports; it is not called when all of them are off. */
  readonly codes: readonly OnlineRule[]
  in(document: OnlineDocument): Promise<readonly OnlineFinding[]>
  /** What people are told at the end, if anything. */
  readonly note: string | undefined
}

/** Requests are anonymous, and private networks are only accessed for the origins in `typed`. */
export function onlineLinter(inner: Linter, typed: readonly string[], settings: LintSettings, context: Context): Linter {
  const { io, diagnostics } = context
  const anonymous = async () => {
    const { createAuth } = await import('../../../auth/create-auth.ts')
    return createAuth({ credentials: [], typed: typed.filter(isAddress), ...(await loggedTransport(context)) })
  }
  let opened: ReturnType<typeof anonymous> | undefined
  const auth = () => (opened ??= anonymous())
  const checks: readonly OnlineCheck[] = [new PublicBuckets(auth, io.signal), new Endpoints(auth, io.signal)]
  return {
    lint: async (task: Task, about: TaskRules): Promise<LintResult> => {
      const result = await inner.lint(task, about)
      const more = await problemsOf(task, about, checks, settings)
      return more.length === 0 ? result : { ...result, problems: [...result.problems, ...more].sort(byPosition) }
    },
    isFull: () => inner.isFull(),
    close: async () => {
      for (const { note } of checks) if (note !== undefined) await diagnostics.note(note)
      await inner.close()
    },
  }
}

async function problemsOf(
  task: Task,
  { document: name }: TaskRules,
  checks: readonly OnlineCheck[],
  settings: LintSettings,
): Promise<readonly Problem[]> {
  const wanted = checks.filter(({ codes }) => codes.some((code) => levelOf(code, name, settings) !== 'off'))
  if (wanted.length === 0) return []
  const found: Problem[] = []
  for (const document of documentsIn(task)) {
    const findings = (await Promise.all(wanted.map((check) => check.in(document)))).flat()
    for (const { code, pointer, data, id } of findings)
      found.push(...runFinding(code, data, { document: name, pointer, ...(id !== undefined && { id }) }, settings))
  }
  return placed(found, task)
}

/** Returns the documents of a task: one, an array of them, or a list, whose own schemes count as well. */
function documentsIn({ text, value, url, parents = [] }: Task): readonly OnlineDocument[] {
  const root = text === undefined ? value : jsonIn(text)
  const all = Array.isArray(root) ? root.map((one, index) => [`/${index}`, one] as const) : [['', root] as const]
  return all.flatMap(([at, document]) => (isObject(document) && kindOf(document) !== 'unknown' ? [{ document, at, url, parents }] : []))
}

/** Returns the findings with their positions in the text. */
function placed(found: readonly Problem[], task: Task): readonly Problem[] {
  if (found.length === 0 || task.text === undefined) return found
  const text = typeof task.text === 'string' ? task.text.replace(/^\ufeff/, '') : new TextDecoder().decode(task.text)
  const positions = locate(
    text,
    found.map(({ pointer }) => pointer),
  )
  const before = (task.line ?? 1) - 1
  return found.map((problem) => {
    const position = positions.get(problem.pointer)
    return position ? { ...problem, ...position, line: position.line + before, endLine: position.endLine + before } : problem
  })
}
