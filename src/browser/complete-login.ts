import { answerIn, cleanAddress, deliverAnswer, dropRecord, keepRecord, readRecord } from './login-record.ts'
import { ownAddress, type Page, thisPage } from './page.ts'

export interface CompleteLoginOptions {
  /** Default: the page itself. */
  readonly page?: Page
  /** Milliseconds to wait for the page that began the login to take the answer; default 5000. */
  readonly timeout?: number
}

/** Milliseconds: a page behind another window wakes up slowly. */
const DEFAULT_TIMEOUT = 5000

/**
 * All that the page at the redirect URI has to do. It takes the answer out of the URL, and hands it to the page that waits for it
 * and closes the popup (`delivered`), or goes back to where the user was in this tab, where `finish` goes on (`returned`).
 * `unclaimed`: nobody waits for such an answer. Nothing of it is checked here and nothing is sent to a server.
 *
 * Errors: `UNSUPPORTED_IN_BROWSER` in a worker.
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
