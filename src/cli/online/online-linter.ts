import type { Problem } from '../../lint/index.ts'
import { locate } from '../../lint/locate.ts'
import type { Context } from '../context.ts'
import { levelOf, runFinding } from '../crawl/run-rules.ts'
import type { Task } from '../inputs/task.ts'
import type { LintSettings } from '../lint-run.ts'
import type { About, Judged, Linter } from '../linter.ts'
import { isAddress } from '../read-document.ts'
import { PublicBuckets } from './public-buckets.ts'

/**
 * What a linter finds, and what only asking shows: public buckets. It sends no credential, and nothing to private addresses
 * but the origins among `typed`.
 */
export function onlineLinter(inner: Linter, typed: readonly string[], settings: LintSettings, { io, diagnostics }: Context): Linter {
  const anonymous = async () => {
    const { createAuth } = await import('../../auth/create-auth.ts')
    return createAuth({ credentials: [], typed: typed.filter(isAddress) })
  }
  const buckets = new PublicBuckets(anonymous, io.signal)
  return {
    lint: async (task, about) => {
      const judged = await inner.lint(task, about)
      const more = await problemsOf(task, about, buckets, settings)
      return more.length === 0 ? judged : { ...judged, problems: [...judged.problems, ...more].sort(byPosition) }
    },
    isFull: () => inner.isFull(),
    close: async () => {
      if (buckets.unknown > 0) await diagnostics.note(`s3-public-bucket: ${buckets.unknown} buckets gave no answer that says something`)
      await inner.close()
    },
  } satisfies Linter & { lint(task: Task, about: About): Promise<Judged> }
}

async function problemsOf(task: Task, { document }: About, buckets: PublicBuckets, settings: LintSettings): Promise<readonly Problem[]> {
  if (levelOf('s3-public-bucket', document, settings) === 'off') return []
  const found = (await buckets.in(task)).flatMap(({ pointer, bucket, id }) =>
    runFinding('s3-public-bucket', { bucket }, { document, pointer, ...(id !== undefined && { id }) }, settings),
  )
  if (found.length === 0 || task.text === undefined) return found
  const text = (typeof task.text === 'string' ? task.text : new TextDecoder('utf-8', { ignoreBOM: true }).decode(task.text)).replace(
    /^\ufeff/,
    '',
  )
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

function byPosition(one: Problem, other: Problem): number {
  return (one.line ?? 0) - (other.line ?? 0) || (one.column ?? 0) - (other.column ?? 0)
}
