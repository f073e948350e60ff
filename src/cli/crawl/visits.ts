/** Lints the documents of a crawl. */

import type { Visit } from '../../crawl/index.ts'
import type { Problem } from '../../lint/index.ts'
import { valueAt } from '../../lint/pointer.ts'
import { own, ownString, pointer, schemePlaces } from '../../stac/document.ts'
import { linkOf } from '../../stac/target.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import { forUrl } from '../../text/sanitize.ts'
import type { LintSettings } from '../lint/lint-run.ts'
import type { Linter } from '../lint/linter.ts'
import { runFinding } from './run-rules.ts'
import { nameOf } from './starts.ts'

/** Returns the findings of a visit; none for documents of another shard and for a page that was already read. */
export async function problemsOf(visit: Visit, settings: LintSettings, linter: Linter): Promise<readonly Problem[]> {
  const { job, mine, error, bytes, outcome, document: value, parents } = visit
  if (!mine) return []
  const document = nameOf(job.url)
  if (error) return runFinding('unreachable', { code: error.code }, { document, pointer: '' }, settings)
  if (!bytes || !value) return []
  const { levels } = settings
  const about = { preset: levels.preset, rules: levels.levelsFor(document), document }
  const lent = (problem: Problem) => withLender(problem, visit)
  const whole = { text: bytes, url: outcome.url, parents }
  const inner = job.page ? listIn(value) : undefined
  if (!inner) return [...(await linter.lint(whole, about)).problems.filter(isOfDocument).map(lent), ...selfMismatch(visit, settings)]
  if (outcome.documents === 0 && inner.length > 0) return []
  // The linter does not support lists of `children`, so they are linted as `collections`.
  const areChildren = own(value, 'children') === inner
  const { problems: found } = await linter.lint(areChildren ? { value: { collections: inner }, url: outcome.url, parents } : whole, about)
  const problems = areChildren ? found.map(asChild) : found
  const index = ({ pointer }: Problem) => Number(/^\/[a-z]+\/(\d+)/.exec(pointer)?.[1] ?? -1)
  return problems.filter((problem) => isOfDocument(problem) && index(problem) < outcome.documents).map(lent)
}

/** Adds the position of the definition in a parent, so that findings of all documents that use it are merged. */
function withLender(problem: Problem, { document, parents, parentPlaces }: Visit): Problem {
  if (problem.code !== 'scheme-outside-document' || problem.cause) return problem
  const ref = String(valueAt(document, problem.pointer))
  for (const [index, parent] of parents.entries()) {
    const place = schemePlaces(parent).find(({ schemes }) => own(schemes, ref) !== undefined)
    const { url, at } = parentPlaces[index] ?? { url: '', at: '' }
    if (place) return { ...problem, cause: { document: nameOf(url), pointer: pointer(at + place.pointer, ref) } }
  }
  return problem
}

/** Returns false for conflicting schemes, which are reported for the whole crawl. */
function isOfDocument({ code }: Problem): boolean {
  return code !== 'conflicting-scheme'
}

function listIn(document: unknown): readonly unknown[] | undefined {
  for (const name of ['features', 'collections', 'children']) {
    const list = own(document, name)
    if (Array.isArray(list)) return list
  }
  return undefined
}

function asChild(problem: Problem): Problem {
  return { ...problem, pointer: problem.pointer.replace(/^\/collections/, '/children') }
}

/** Reports a `self` link that differs from the URL of the document. */
function selfMismatch({ job, document, outcome }: Visit, settings: LintSettings): readonly Problem[] {
  const self = document && linkOf(document, 'self')
  if (!self || !/^https?:/.test(job.url) || !canParseUrl(self.href, outcome.url)) return []
  const said = new URL(self.href, outcome.url)
  said.hash = ''
  if (said.href === outcome.url || said.href === job.url) return []
  const id = ownString(document, 'id')
  const place = { document: nameOf(job.url), ...(id !== undefined && { id }), pointer: `${self.pointer}/href` }
  return runFinding('self-mismatch', { self: forUrl(said.href) }, place, settings)
}
