import { answerIn, cleanAddress, deliverAnswer, dropRecord, keepRecord, readRecord } from './login-record.ts'
import { ownAddress, type Page, thisPage } from './page.ts'

/** Options of `completeLogin`. */
export interface CompleteLoginOptions {
  /** Default: the current page. */
  readonly page?: Page
  /** Milliseconds to wait until the page that began the login accepts the response; default 5000. */
  readonly timeout?: number
}

/** Milliseconds; long enough for pages in background windows, which browsers throttle. */
const DEFAULT_TIMEOUT = 5000

/**
 * Completes a login on the page at the redirect URI. Removes the login response from the URL and delivers it to the page that waits for
 * it, then closes the popup (`delivered`), or returns to the page that began a login in this tab, where `finish` continues (`returned`).
 * `unclaimed`: no page waits for this response. The response is not validated here, and nothing is sent to a server.
 *
 * Errors: `UNSUPPORTED_IN_BROWSER` in a worker.
 *
 * @example const outcome = await completeLogin()
 */
export async function completeLogin({
  page: given,
  timeout = DEFAULT_TIMEOUT,
}: CompleteLoginOptions = {}): Promise<'delivered' | 'returned' | 'unclaimed'> {
  const page = thisPage(given)
  const answer = answerIn(page)
  if (!answer) return 'unclaimed'
  cleanAddress(page)
  const record = readRecord(page)
  if (record?.state === answer.state && record.answer === undefined) {
    dropRecord(page)
    keepRecord(page, { ...record, answer: answer.url })
    page.location.replace(ownAddress(page, record.returnTo, 'returnTo'))
    return 'returned'
  }
  if (!(await deliverAnswer(page, answer, timeout))) return 'unclaimed'
  page.close()
  return 'delivered'
}
