import type { EarlyStop, SkippedLink, Visit } from '../../crawl/job.ts'
import { AuthError } from '../../errors.ts'
import type { Failure } from '../exit-code.ts'
import { EXIT } from '../exit-code.ts'
import { compare } from '../lint/collector.ts'
import { nameOf } from './starts.ts'

const HINTS: Readonly<Record<string, string | undefined>> = {
  CRAWL_OTHER_ORIGIN: '--cross-origin follows such links, with credentials allowed for their own URLs; --same-origin skips them',
  CRAWL_LIMIT: '--max-documents and --max-depth change the limits',
  PAGE_LOOP: 'report the paging error to the operator of the API; the pages before it were read',
  RESPONSE_INVALID: 'correct that document, or the link to it',
}

/** For links that cannot be followed: their codes say what is wrong with them. */
const CORRECT_LINK = 'correct that link, or report it to the publisher of the catalog; nothing was requested'

/** Returns what to do about the link in `from` when its document is not there. */
function adviceOf(code: string, from: string | undefined): { readonly hint?: string } {
  if (from === undefined || !/^HTTP_4(?:0[45]|10)$/.test(code)) return {}
  const what = code === 'HTTP_405' ? 'its "method" is not one that this server accepts' : 'the server has nothing there'
  return { hint: `correct the link in ${nameOf(from)}: ${what}` }
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
    if (!failure) return
    const { code, message, hint } = failure
    const advice = hint === undefined ? adviceOf(code, job.from) : { hint }
    const shown = error && advice.hint === hint ? error : new AuthError(code, message, { url: job.url, ...advice })
    // Pages that are requested by POST have the same name.
    this.fail({ name: nameOf(job.url), error: shown, exit: EXIT.network }, job.key)
  }

  /** Adds a failure, which is reported once. */
  fail(failure: Failure, key = failure.name): void {
    this.#failures.set(`${key} ${failure.error.code} ${failure.error.message}`, failure)
  }

  /** Returns the failures by name; requested limits come last, with exit code 0. */
  failures(): readonly Failure[] {
    const byName = [...this.#failures].sort(([key, one], [other, { name }]) => compare(one.name, name) || compare(key, other))
    return [...byName.map(([, failure]) => failure), ...this.#asFailures()]
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
    const hint = HINTS[left.code] ?? CORRECT_LINK
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
