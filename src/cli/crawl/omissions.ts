import type { Left, Stop, Visit } from '../../crawl/index.ts'
import { AuthError } from '../../errors.ts'
import type { Failure } from '../exit-code.ts'
import { EXIT } from '../exit-code.ts'
import { nameOf } from './starts.ts'

const HINTS: Readonly<Record<string, string | undefined>> = {
  CRAWL_OTHER_ORIGIN: '--cross-origin follows such links, with what you granted to their own addresses; --same-origin leaves them out',
  CRAWL_LIMIT: '--max-documents and --max-depth set other limits',
}

/** What a crawl could not read, and what it left out: the same in whatever order it came. */
export class Omissions {
  readonly #failures = new Map<string, Failure>()
  /** What the user asked to leave out, by the name of the limit. */
  readonly #asked = new Map<string, Left>()

  add(told: Visit | Stop): void {
    if (told.kind === 'stop') {
      this.#leave(told.left)
      return
    }
    const { outcome, job, error } = told
    for (const left of outcome.left) this.#leave(left)
    const { failure } = outcome
    if (failure)
      this.fail({
        name: nameOf(job.url),
        error:
          error ??
          new AuthError(failure.code, failure.message, { url: job.url, ...(failure.hint !== undefined && { hint: failure.hint }) }),
        exit: EXIT.network,
      })
  }

  /** Told once for each name and code. */
  fail(failure: Failure): void {
    this.#failures.set(`${failure.name} ${failure.error.code}`, failure)
  }

  /** In the order of their names; what the user asked for comes last, with the exit code 0. */
  failures(): readonly Failure[] {
    return [...[...this.#failures.values()].sort((one, other) => (one.name < other.name ? -1 : 1)), ...this.#asFailures()]
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

  #asFailures(): readonly Failure[] {
    const limits = [...this.#asked].sort(([one], [other]) => (one < other ? -1 : 1))
    return limits.map(([, { url, code, message, count }]) => {
      const more = count > 1 ? ` (${count} in all)` : ''
      return { name: nameOf(url), error: new AuthError(code, `${nameOf(url)}: ${message}${more}`), exit: EXIT.done }
    })
  }
}
