/** Crawls from the inputs and lints what it finds. */
import type { Auth } from '../../auth/auth.ts'
import {
  type CrawlLimits,
  type CrawlManners,
  type CrawlSend,
  crawlInto,
  type Left,
  MemorySink,
  type Sink,
  sendWith,
} from '../../crawl/index.ts'
import { AuthError, isAuthError } from '../../errors.ts'
import type { Problem } from '../../lint/index.ts'
import { EXIT } from '../exit-code.ts'
import type { Io } from '../io.ts'
import type { LintFailure, LintOutcome } from '../lint-run.ts'
import { isAddress } from '../read-document.ts'
import { usageError } from '../usage.ts'
import { sendFiles, startFile } from './files.ts'
import { Journal } from './journal.ts'
import { Progress } from './progress.ts'
import { type Judging, nameOf, problemsOf } from './visits.ts'

/** Where to, how, and what of it is kept. */
export interface CrawlRun extends Judging {
  readonly settings: CrawlLimits & CrawlManners
  /** The file with the state. */
  readonly resume?: string
}

/** Findings of one visit. */
interface Result {
  readonly problems: readonly Problem[]
}

/** Lints every document that the inputs lead to. What could not be read, and what was left out, is in `failures`. */
export async function crawlAll(inputs: readonly string[], run: CrawlRun, io: Io, auth: () => Promise<Auth>): Promise<LintOutcome> {
  const { start, failures: missing } = await startsOf(inputs)
  const collected = new Collected(new Progress(io))
  for (const failure of missing) collected.fail(failure)
  if (start.length === 0) return collected.outcome()
  const { settings, resume, preset, levels } = run
  const { concurrency: _faster, rate: _slower, userAgent: _name, ...matters } = settings
  const journal = resume === undefined ? undefined : await Journal.open<Result>(resume, { start, matters, preset, levels })
  const sink: Sink<Result> = journal ?? new MemorySink<Result>()
  try {
    const send = sendFrom(start, auth)
    await crawlInto(
      sink,
      { ...settings, start, send, signal: io.signal },
      (visit) => ({ problems: problemsOf(visit, run) }),
      (told) => collected.add(told),
    )
    journal?.complete()
  } catch (error) {
    if (!isAuthError(error) || error.code !== 'ABORTED') throw error
    collected.fail({ name: inputs[0] ?? '', error })
  } finally {
    journal?.close()
    collected.progress.end()
  }
  return collected.outcome()
}

async function startsOf(inputs: readonly string[]): Promise<{ start: readonly string[]; failures: readonly LintFailure[] }> {
  const start: string[] = []
  const failures: LintFailure[] = []
  for (const name of inputs) {
    if (name === '-') throw usageError('standard input leads nowhere', '--crawl needs the address or the file of a catalog')
    try {
      start.push(isAddress(name) ? name : await startFile(name))
    } catch (error) {
      if (!isAuthError(error)) throw error
      failures.push({ name, error })
    }
  }
  return { start, failures }
}

/** Files are read from below the start, addresses are fetched with what the user granted to them. */
function sendFrom(start: readonly string[], auth: () => Promise<Auth>): CrawlSend {
  const files = sendFiles(start.filter((url) => url.startsWith('file:')))
  const addresses = sendWith(async (url, init) => (await auth()).fetch(url, init))
  return (request, options) => (request.url.startsWith('file:') ? files : addresses)(request, options)
}

const HINTS: Readonly<Record<string, string | undefined>> = {
  CRAWL_OTHER_ORIGIN: '--cross-origin follows such links, with what you granted to their own addresses; --same-origin leaves them out',
  CRAWL_LIMIT: '--max-documents and --max-depth set other limits',
}

/** What has been seen so far. */
class Collected {
  readonly progress: Progress
  readonly #problems: Problem[] = []
  readonly #failures = new Map<string, LintFailure>()
  /** What the user asked to leave out, by the name of the limit. */
  readonly #asked = new Map<string, Left>()
  #documents = 0

  constructor(progress: Progress) {
    this.progress = progress
  }

  add(told: Parameters<NonNullable<Parameters<typeof crawlInto<Result>>[3]>>[0]): void {
    if (!('visit' in told)) {
      this.#leave(told.left)
      return
    }
    const { visit, result } = told
    const { outcome, mine, job } = visit
    if (mine) this.#documents += outcome.documents
    this.#problems.push(...result.problems)
    for (const left of outcome.left) this.#leave(left)
    const { failure } = outcome
    if (failure)
      this.fail({
        name: nameOf(job.url),
        error: visit.error ?? new AuthError(failure.code, failure.message, { url: job.url }),
        exit: EXIT.network,
      })
    this.progress.add(outcome.documents, failure !== undefined)
  }

  fail(failure: LintFailure): void {
    this.#failures.set(`${failure.name} ${failure.error.code}`, failure)
  }

  /** A limit that the user set is stated once; everything else is a failure. */
  #leave(left: Left): void {
    const name = nameOf(left.url)
    if (!left.asked) {
      const hint = HINTS[left.code]
      const error = new AuthError(left.code, `${name}: ${left.message}`, hint === undefined ? {} : { hint })
      this.fail({ name, error, exit: EXIT.network })
      return
    }
    const key = left.limit ?? left.code
    const known = this.#asked.get(key)
    this.#asked.set(key, known ? { ...known, count: known.count + left.count } : left)
  }

  outcome(): LintOutcome {
    const asked = [...this.#asked.values()].map(({ url, code, message, count }) => {
      const more = count > 1 ? ` (${count} in all)` : ''
      return { name: nameOf(url), error: new AuthError(code, `${nameOf(url)}: ${message}${more}`), exit: EXIT.done }
    })
    const order = (one: string | undefined = '', other: string | undefined = '') => (one < other ? -1 : Number(one > other))
    return {
      documents: this.#documents,
      problems: this.#problems.sort((one, other) => order(one.document, other.document)),
      failures: [...[...this.#failures.values()].sort((one, other) => order(one.name, other.name)), ...asked],
      texts: new Map(),
    }
  }
}
