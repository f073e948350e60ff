/** What the linter says about the documents of a crawl. */
import type { Visit } from '../../crawl/index.ts'
import { type Levels, lint, lintText, type Preset, type Problem, rules } from '../../lint/index.ts'
import { own, ownString } from '../../stac/json.ts'
import { linkOf } from '../../stac/target.ts'
import { forUrl } from '../../text/sanitize.ts'
import { nameOfFile } from './files.ts'

/** Which rules are on. */
export interface Judging {
  readonly preset: Preset
  readonly levels: Levels
}

/** What a document of a crawl is called in reports. */
export function nameOf(url: string): string {
  return url.startsWith('file:') ? nameOfFile(url) : forUrl(url)
}

/** The findings of a visit; none for what belongs to another part of the crawl, and for a page that was seen before. */
export function problemsOf(visit: Visit, judging: Judging): readonly Problem[] {
  const { job, mine, error, bytes, outcome, document: value, parents } = visit
  if (!mine) return []
  const document = nameOf(job.url)
  if (error) return runFinding('unreachable', { code: error.code }, { document, pointer: '' }, judging)
  if (!bytes || !value) return []
  const options = { preset: judging.preset, rules: judging.levels, document, url: outcome.url, parents }
  const inner = job.page ? listIn(value) : undefined
  if (!inner) return [...lintText(bytes, options), ...selfMismatch(visit, judging)]
  if (outcome.documents === 0 && inner.length > 0) return []
  // The linter knows two kinds of lists; the third is written as one of them.
  const problems = own(value, 'children') === inner ? lint({ collections: inner }, options).map(asChild) : lintText(bytes, options)
  return problems.filter(({ pointer }) => Number(/^\/[a-z]+\/(\d+)/.exec(pointer)?.[1] ?? -1) < outcome.documents)
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

/** A document that says it is somewhere else: clients that resolve links against that go there. */
function selfMismatch({ job, document, outcome }: Visit, judging: Judging): readonly Problem[] {
  const self = document && linkOf(document, 'self')
  if (!self || !/^https?:/.test(job.url) || !URL.canParse(self.href, outcome.url)) return []
  const said = new URL(self.href, outcome.url)
  said.hash = ''
  if (said.href === outcome.url || said.href === job.url) return []
  const id = ownString(document, 'id')
  const place = { document: nameOf(job.url), ...(id !== undefined && { id }), pointer: `${self.pointer}/href` }
  return runFinding('self-mismatch', { self: forUrl(said.href) }, place, judging)
}

/** The finding of a rule of the run, at the level that is asked for. */
function runFinding(
  rule: 'unreachable' | 'self-mismatch',
  data: Readonly<Record<string, string>>,
  place: Pick<Problem, 'document' | 'id' | 'pointer'>,
  { preset, levels }: Judging,
): readonly Problem[] {
  const meta = rules.find(({ meta }) => meta.id === rule)?.meta
  const severity = (Object.hasOwn(levels, rule) ? levels[rule] : undefined) ?? meta?.severity[preset] ?? 'off'
  const [template = ''] = Object.values(meta?.messages ?? {})
  const message = template.replace(/\{(\w+)\}/g, (_, name: string) => data[name] ?? '')
  return severity === 'off' ? [] : [{ rule, severity, message, ...place }]
}
