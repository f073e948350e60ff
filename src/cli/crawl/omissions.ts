import type { EarlyStop, SkippedLink, Visit } from '../../crawl/job.ts'
import { AuthError } from '../../errors.ts'
import type { Failure } from '../exit-code.ts'
import { EXIT } from '../exit-code.ts'
import { nameOf } from './starts.ts'

const HINTS: Readonly<Record<string, string | undefined>> = {
  CRAWL_OTHER_ORIGIN: '--cross-origin follows such links, with credentials allowed for their own URLs; --same-origin skips them',
  CRAWL_LIMIT: '--max-documents and --max-depth change the limits',
}

/** Unread and skipped documents of a crawl, independent of the order of visits. */
export class Omissions {
  readonly #failures = new Map<string, Failure>()
  /** Documents that the user asked to skip, by limit. */
  readonly #asked = new Map<string, SkippedLink>()

  add(told: Visit | EarlyStop): void {
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

  /** Adds a failure; reported once for each name and code. */
  fail(failure: Failure): void {
    this.#failures.set(`${failure.name} ${failure.error.code}`, failure)
  }

  /** Returns the failures by name; requested limits come last, with exit code 0. */
  failures(): readonly Failure[] {
    return [...[...this.#failures.values()].sort((one, other) => (one.name < other.name ? -1 : 1)), ...this.#asFailures()]
  }

  /** Adds a skipped document; a limit that the user set is reported once. */
  #leave(left: SkippedLink): void {
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
