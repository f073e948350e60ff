/** Crawls from the inputs and lints what it finds. */

import type { Auth } from '../../auth/auth.ts'
import { crawlInto, type EarlyStop, type Sink, type Visit } from '../../crawl/index.ts'
import { isAuthError } from '../../errors.ts'
import type { Levels } from '../../lint/config.ts'
import type { Problem } from '../../lint/index.ts'
import { isRefutable, OuterRefs } from '../../lint/lint-run.ts'
import { valueAt } from '../../lint/pointer.ts'
import { Repeats, withoutRepeats } from '../../lint/reporters/report.ts'
import { own, ownString, pointer, schemePlaces } from '../../stac/document.ts'
import { linkOf } from '../../stac/target.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import { forUrl } from '../../text/sanitize.ts'
import type { Context } from '../context.ts'
import type { Failure } from '../exit-code.ts'
import { type Io, version } from '../io.ts'
import { byDocument, Findings, inOrder, type LintOutcome, type LintSettings, NAMES } from '../lint/lint-run.ts'
import { type Definition, Definitions, definitionsIn, outerRefsOf } from '../lint/lint-shard.ts'
import { type Linter, levelOf, localLinter, runFinding } from '../lint/linter.ts'
import { LiveBlock } from '../live-block.ts'
import { type CrawlOption, crawlSettings } from '../options.ts'
import { Journal } from './journal.ts'
import { Omissions } from './omissions.ts'
import { foreignNext, nameOf, sendFrom, startsOf } from './starts.ts'

/** Lints every document that the inputs link to. Unread and skipped documents are in `failures`. */
export async function crawlAll(
  inputs: readonly string[],
  options: CrawlOption & { readonly rule?: Levels },
  lint: LintSettings,
  { io, diagnostics }: Context,
  auth: () => Promise<Auth>,
): Promise<LintOutcome> {
  const settings = { ...crawlSettings(options), visit: originsOf(lint) }
  const { start, failures } = await startsOf(inputs)
  const collected = new Collected(lint, options.shard !== undefined, new Progress(io))
  for (const failure of failures) collected.fail(failure)
  if (start.length === 0) return collected.outcome()
  const { concurrency: _faster, perHost: _gentler, rate: _slower, userAgent: _name, ...matters } = settings
  const { config } = lint.levels
  const fingerprints = lint.complete !== undefined
  const journal =
    options.resume === undefined
      ? undefined
      : await Journal.open<Result>(options.resume, { start, matters, config, rule: options.rule, fingerprints, version: version() })
  const linter = lint.linter ?? localLinter(lint)
  const sink: Sink<Result> = journal ?? FORGETFUL
  try {
    await crawlInto(
      sink,
      { ...settings, start, send: sendFrom(start, auth), signal: io.signal, isFull: () => linter.isFull() },
      async (visit) => {
        const warning = options.crossOrigin ? await foreignNext(visit, auth) : undefined
        if (warning) diagnostics.warn(warning)
        const problems = await problemsOf(visit, lint, linter)
        const document = visit.mine ? visit.document : undefined
        return { problems, definitions: document ? definitionsIn(document) : [], outerRefs: document ? outerRefsOf(document) : [] }
      },
      (told) => collected.add(told),
    )
    journal?.complete()
  } catch (error) {
    // After an interruption, a full disk or a lost queue, the partial results are reported with the error.
    if (!isAuthError(error)) throw error
    collected.fail({ name: inputs[0] ?? '', error })
  } finally {
    journal?.close()
    collected.progress.end()
  }
  return collected.outcome()
}

/** The sink without `--resume`: stores nothing. */
const FORGETFUL: Sink<Result> = { put: () => {}, get: () => undefined }

/** Returns the origins that the configuration lets a crawl visit; no credentials are allowed for them. */
function originsOf({ levels }: LintSettings): readonly string[] {
  return (levels.config.origins ?? []).flatMap((origin) => (canParseUrl(origin) ? [new URL(origin).origin] : []))
}

/** The stored result of a visit. */
interface Result {
  readonly problems: readonly Problem[]
  readonly definitions: readonly Definition[]
  readonly outerRefs: readonly string[]
}

/** Collects the results of a crawl; the outcome does not depend on the order of visits. */
class Collected {
  readonly progress: Progress
  readonly #settings: LintSettings
  readonly #findings: Findings
  readonly #definitions = new Definitions()
  /** Findings about schemes that a parent document defines. */
  readonly #lent = new Repeats(byDocument)
  /** Findings to compare with the baseline once all documents are known. */
  readonly #unjudged: Problem[] = []
  readonly #outerRefs = new OuterRefs()
  /** Findings that another document may refute, by visit. */
  readonly #refutable: (readonly Problem[])[] = []
  /** True for a part of a crawl. */
  readonly #isShard: boolean
  readonly #omissions = new Omissions()
  readonly #names: string[] = []
  #documents = 0

  constructor(settings: LintSettings, isShard: boolean, progress: Progress) {
    this.#settings = settings
    this.#isShard = isShard
    this.#findings = new Findings(settings.room, inOrder)
    this.progress = progress
  }

  add(told: { readonly visit: Visit; readonly result: Result } | EarlyStop): void {
    this.#omissions.add('visit' in told ? told.visit : told)
    if (!('visit' in told)) return
    const { visit, result } = told
    const { outcome, mine, job } = visit
    const name = nameOf(job.url)
    if (mine && outcome.documents > 0) {
      this.#documents += outcome.documents
      if (this.#names.length < NAMES) this.#names.push(name)
    }
    this.#outerRefs.add(result.outerRefs)
    const refutable = result.problems.filter(isRefutable)
    if (refutable.length > 0) this.#refutable.push(refutable)
    const known = result.problems.filter((problem) => !isRefutable(problem))
    if (this.#settings.baseline) this.#unjudged.push(...known)
    else this.#report(known)
    const level = levelOf('conflicting-scheme', name, this.#settings)
    for (const definition of result.definitions) this.#definitions.add({ ...definition, document: name, level })
    this.progress.add(outcome.documents, outcome.failure !== undefined)
  }

  /** Adds findings of complete documents, in order. */
  #report(problems: readonly Problem[]): void {
    this.#lent.add(problems.filter(isLent))
    const same = problems.filter((problem) => !isLent(problem))
    let start = 0
    for (let end = 1; end <= same.length; end++) {
      if (same[end]?.document === same[start]?.document && end < same.length) continue
      this.#findings.add(withoutRepeats(same.slice(start, end)))
      start = end
    }
  }

  /** Adds a failure; reported once for each name and code. */
  fail(failure: Failure): void {
    this.#omissions.fail(failure)
  }

  outcome(): LintOutcome {
    const different = this.#definitions.problems(this.#settings.complete)
    const unrefuted = this.#refutable.map((problems) => problems.filter((problem) => !this.#outerRefs.refutes(problem)))
    const unsettled = this.#isShard && !this.#settings.baseline ? unrefuted.flatMap(withoutRepeats) : []
    if (this.#settings.baseline)
      this.#report(this.#settings.baseline.news([...[...this.#unjudged, ...unrefuted.flat()].sort(inOrder), ...different]))
    else this.#findings.add(different)
    if (!this.#isShard && !this.#settings.baseline) for (const problems of unrefuted) this.#findings.add(withoutRepeats(problems))
    this.#findings.add(this.#lent.take())
    return {
      documents: this.#documents,
      skipped: 0,
      found: this.#findings.found(),
      failures: this.#omissions.failures(),
      texts: new Map(),
      names: this.#names.sort(),
      shard: { definitions: this.#definitions.all(), outerRefs: this.#outerRefs.all(), unsettled: unsettled.sort(inOrder) },
    }
  }
}

function isLent({ cause }: Problem): boolean {
  return cause?.document !== undefined
}

/** Milliseconds between updates. */
const EVERY = 200

/** Shows the progress of a crawl in one terminal line. */
class Progress {
  readonly #block: LiveBlock
  readonly #start = Date.now()
  #shown = 0
  #documents = 0
  #requests = 0
  #failures = 0

  constructor(io: Io) {
    this.#block = new LiveBlock(io)
  }

  /** Counts a request, its documents, and whether it failed. */
  add(documents: number, failed: boolean): void {
    this.#requests++
    this.#documents += documents
    if (failed) this.#failures++
    const now = Date.now()
    if (!this.#block.isOn || now - this.#shown < EVERY) return
    this.#shown = now
    const rate = Math.round((this.#documents * 1000) / Math.max(1, now - this.#start))
    const failures = this.#failures === 0 ? '' : `, ${this.#failures} not read`
    const text = `${this.#documents} documents in ${this.#requests} requests${failures}, ${rate}/s`
    this.#block.show([text.slice(0, this.#block.width)])
  }

  /** Removes the line. */
  end(): void {
    this.#block.clear()
  }
}

/** Returns the findings of a visit; none for documents of another shard and for a page that was already read. */
async function problemsOf(visit: Visit, settings: LintSettings, linter: Linter): Promise<readonly Problem[]> {
  const { job, mine, error, bytes, outcome, document: value, parents } = visit
  if (!mine) return []
  const document = nameOf(job.url)
  if (error) {
    const reason = error.code + (job.from === undefined ? '' : `; linked from ${nameOf(job.from)}`)
    return runFinding('unreachable', { reason }, { document, pointer: '' }, settings)
  }
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
  const index = ({ pointer: at }: Problem) => Number(/^\/[a-z]+\/(\d+)/.exec(at)?.[1] ?? -1)
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
