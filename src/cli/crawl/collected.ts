import type { Left, Stop, Visit } from '../../crawl/index.ts'
import { AuthError } from '../../errors.ts'
import type { Problem } from '../../lint/index.ts'
import { EXIT } from '../exit-code.ts'
import { type LintFailure, type LintOutcome, type LintSettings, NAMES } from '../lint-run.ts'
import { type Definition, Definitions } from './definitions.ts'
import type { Progress } from './progress.ts'
import { nameOf } from './visits.ts'

/** What is kept of a visit. */
export interface Result {
  readonly problems: readonly Problem[]
  readonly definitions: readonly Definition[]
}

const HINTS: Readonly<Record<string, string | undefined>> = {
  CRAWL_OTHER_ORIGIN: '--cross-origin follows such links, with what you granted to their own addresses; --same-origin leaves them out',
  CRAWL_LIMIT: '--max-documents and --max-depth set other limits',
}

/** What a crawl has seen so far, and the outcome that becomes of it: the same in whatever order it came. */
export class Collected {
  readonly progress: Progress
  readonly #settings: LintSettings
  readonly #problems: Problem[] = []
  readonly #definitions = new Definitions()
  readonly #failures = new Map<string, LintFailure>()
  /** What the user asked to leave out, by the name of the limit. */
  readonly #asked = new Map<string, Left>()
  readonly #names: string[] = []
  #documents = 0

  constructor(settings: LintSettings, progress: Progress) {
    this.#settings = settings
    this.progress = progress
  }

  add(told: { readonly visit: Visit; readonly result: Result } | Stop): void {
    if (!('visit' in told)) {
      this.#leave(told.left)
      return
    }
    const { visit, result } = told
    const { outcome, mine, job } = visit
    const name = nameOf(job.url)
    if (mine && outcome.documents > 0) {
      this.#documents += outcome.documents
      if (this.#names.length < NAMES) this.#names.push(name)
    }
    this.#problems.push(...result.problems)
    this.#definitions.add(name, result.definitions)
    for (const left of outcome.left) this.#leave(left)
    const { failure } = outcome
    if (failure)
      this.fail({ name, error: visit.error ?? new AuthError(failure.code, failure.message, { url: job.url }), exit: EXIT.network })
    this.progress.add(outcome.documents, failure !== undefined)
  }

  /** Told once for each name and code. */
  fail(failure: LintFailure): void {
    this.#failures.set(`${failure.name} ${failure.error.code}`, failure)
  }

  outcome(): LintOutcome {
    const problems = [...this.#problems, ...this.#definitions.problems(this.#settings)]
    return {
      documents: this.#documents,
      problems: problems.sort((one, other) => order(one.document, other.document)),
      failures: [...[...this.#failures.values()].sort((one, other) => order(one.name, other.name)), ...this.#asFailures()],
      texts: new Map(),
      names: this.#names.sort(),
    }
  }

  /** A limit that the user set is stated once; everything else is a failure. */
  #leave(left: Left): void {
    if (left.asked) {
      const key = left.limit ?? left.code
      const known = this.#asked.get(key)
      const first = known && known.url < left.url ? known : left
      this.#asked.set(key, { ...first, count: left.count + (known?.count ?? 0) })
      return
    }
    const name = nameOf(left.url)
    const hint = HINTS[left.code]
    const error = new AuthError(left.code, `${name}: ${left.message}`, hint === undefined ? {} : { hint })
    this.fail({ name, error, exit: EXIT.network })
  }

  #asFailures(): readonly LintFailure[] {
    const limits = [...this.#asked.values()].sort((one, other) => order(one.limit, other.limit))
    return limits.map(({ url, code, message, count }) => {
      const more = count > 1 ? ` (${count} in all)` : ''
      return { name: nameOf(url), error: new AuthError(code, `${nameOf(url)}: ${message}${more}`), exit: EXIT.done }
    })
  }
}

function order(one = '', other = ''): number {
  return one < other ? -1 : Number(one > other)
}
