/** Crawls from the inputs and lints what it finds. */

import type { Auth } from '../../auth/auth.ts'
import { crawlInto, type EarlyStop, type Job, type Sink, type Visit } from '../../crawl/index.ts'
import { type AuthError, isAuthError } from '../../errors.ts'
import type { Levels } from '../../lint/config.ts'
import type { Problem } from '../../lint/index.ts'
import { valueAt } from '../../lint/pointer.ts'
import type { ShardDefinition } from '../../lint/reporters/report.ts'
import { own, ownString, pointer, schemePlaces } from '../../stac/document.ts'
import { linkOf } from '../../stac/target.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import { forUrl } from '../../text/sanitize.ts'
import type { Context } from '../context.ts'
import { type Io, version } from '../io.ts'
import { Collector } from '../lint/collector.ts'
import { type LintOutcome, type LintSettings, NAMES } from '../lint/lint-run.ts'
import { Definitions, definitionsOf } from '../lint/lint-shard.ts'
import { type Linter, type LintResult, localLinter, runFinding } from '../lint/linter.ts'
import { LiveLine } from '../live-line.ts'
import { type CrawlOption, crawlSettings } from '../options.ts'
import { Journal } from './journal.ts'
import { Omissions } from './omissions.ts'
import { foreignNext, nameOf, sendFrom, startsOf } from './starts.ts'

/** Lints every document that the inputs link to. Unread and skipped documents are in `failures`; the outcome does not depend on the order of visits. */
export async function crawlAll(
  inputs: readonly string[],
  options: CrawlOption & { readonly rule?: Levels },
  lint: LintSettings,
  { io, diagnostics }: Context,
  auth: () => Promise<Auth>,
): Promise<LintOutcome> {
  const settings = { ...crawlSettings(options), visit: originsOf(lint) }
  const { start, failures } = await startsOf(inputs)
  const collected = new Collected(lint, io)
  for (const failure of failures) collected.omissions.fail(failure)
  if (start.length === 0) return collected.outcome()
  const journal =
    options.resume === undefined ? undefined : await Journal.open<Result>(options.resume, mattering(start, settings, options, lint))
  const linter = lint.linter ?? localLinter(lint)
  try {
    await crawlInto(
      journal ?? FORGETFUL,
      { ...settings, start, send: sendFrom(start, auth), signal: io.signal, isFull: () => linter.isFull() },
      async (visit) => {
        const warning = options.crossOrigin ? await foreignNext(visit, auth) : undefined
        if (warning) diagnostics.warn(warning)
        const { outerRefs = [], ...linted } = await resultOf(visit, lint, linter)
        return { ...definitionsOf(linted), outerRefs }
      },
      (told) => collected.add(told),
    )
    journal?.complete()
  } catch (error) {
    // After an interruption, a full disk or a lost queue, the partial results are reported with the error.
    if (!isAuthError(error)) throw error
    collected.omissions.fail({ name: inputs[0] ?? '', error })
  } finally {
    journal?.close()
    collected.line.end()
  }
  return collected.outcome()
}

/** Returns all settings that affect results. */
function mattering(
  start: readonly string[],
  settings: object,
  { rule }: { readonly rule?: Levels },
  { levels, complete }: LintSettings,
): object {
  const {
    concurrency: _faster,
    perHost: _gentler,
    rate: _slower,
    userAgent: _name,
    ...matters
  } = settings as ReturnType<typeof crawlSettings>
  return { start, matters, config: levels.config, rule, fingerprints: complete !== undefined, version: version() }
}

/** The sink without `--resume`: stores nothing. */
const FORGETFUL: Sink<Result> = { put: () => {}, get: () => undefined }

/** Returns the origins that the configuration lets a crawl visit; no credentials are allowed for them. */
function originsOf({ levels }: LintSettings): readonly string[] {
  return levels.config.origins.flatMap((origin) => (canParseUrl(origin) ? [new URL(origin).origin] : []))
}

/** The stored result of a visit. */
interface Result {
  readonly problems: readonly Problem[]
  readonly definitions: readonly ShardDefinition[]
  readonly outerRefs: readonly string[]
}

/** The results of a crawl. */
class Collected {
  readonly line: LiveLine
  readonly omissions = new Omissions()
  readonly #settings: LintSettings
  readonly #collector: Collector
  readonly #definitions = new Definitions()
  readonly #names: string[] = []
  readonly #start = performance.now()
  #documents = 0
  /** Documents read, also those of other shards. */
  #read = 0
  #requests = 0
  #unread = 0

  constructor(settings: LintSettings, io: Io) {
    this.#settings = settings
    this.#collector = new Collector(settings, true)
    this.line = new LiveLine(io)
  }

  add(told: { readonly visit: Visit; readonly result: Result } | EarlyStop): void {
    this.omissions.add('visit' in told ? told.visit : told)
    if (!('visit' in told)) return
    const { visit, result } = told
    const { documents, failure } = visit.outcome
    if (visit.mine && documents > 0) {
      this.#documents += documents
      if (this.#names.length < NAMES) this.#names.push(nameOf(visit.job.url))
    }
    this.#settings.run.addOuterRefs(result.outerRefs)
    this.#collector.add(result.problems)
    for (const definition of result.definitions) this.#definitions.add(definition)
    this.#requests++
    this.#read += documents
    if (failure) this.#unread++
    this.line.show((width) => this.#progress().slice(0, width))
  }

  #progress(): string {
    const rate = Math.round((this.#read * 1000) / Math.max(1, performance.now() - this.#start))
    const unread = this.#unread === 0 ? '' : `, ${this.#unread} not read`
    return `${this.#read} documents in ${this.#requests} requests${unread}, ${rate}/s`
  }

  outcome(): LintOutcome {
    this.#collector.end(this.#definitions.problems(this.#settings.complete))
    const { unsettled, found } = this.#collector
    return {
      documents: this.#documents,
      skipped: 0,
      found,
      failures: this.omissions.failures(),
      texts: new Map(),
      names: this.#names.sort(),
      shard: { definitions: this.#definitions.all(), outerRefs: this.#settings.run.outerRefs.all(), unsettled },
    }
  }
}

/** Returns the findings of a visit; none for documents of another shard and for a page that was already read. */
async function resultOf(visit: Visit, settings: LintSettings, linter: Linter): Promise<LintResult> {
  const { job, mine, error, bytes, outcome, document: value, parents } = visit
  const document = nameOf(job.url)
  if (mine && error) {
    const reason = reasonOf(error, job)
    return { problems: runFinding('unreachable', { reason }, { document, pointer: '' }, settings) }
  }
  const inner = value && job.page ? listIn(value) : undefined
  if (!mine || !bytes || !value || (inner && inner.length > 0 && outcome.documents === 0)) return { problems: [] }
  const { levels } = settings
  const about = { preset: levels.preset, rules: levels.levelsFor(document), document }
  // The linter does not support lists of `children`, so they are linted as `collections`.
  const areChildren = inner !== undefined && own(value, 'children') === inner
  const task = areChildren ? { value: { collections: inner } } : { text: bytes }
  const result = await linter.lint({ ...task, url: outcome.url, parents }, about)
  const index = ({ pointer: at }: Problem) => Number(/^\/[a-z]+\/(\d+)/.exec(at)?.[1] ?? -1)
  const problems = (areChildren ? result.problems.map(asChild) : result.problems)
    .filter((problem) => !inner || index(problem) < outcome.documents)
    .map((problem) => withLender(problem, visit))
  return { ...result, problems: inner ? problems : [...problems, ...selfMismatch(visit, settings)] }
}

/** Returns why a document could not be read, without its URL, which is the name of the document in the report. */
function reasonOf({ code, message }: AuthError, { url, from }: Job): string {
  const name = `${url.replace(/[?#].*$/s, '')}: `
  const what = message.startsWith(name) ? message.slice(name.length) : message
  return `${what} (${code})${from === undefined ? '' : `; linked from ${nameOf(from)}`}`
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
