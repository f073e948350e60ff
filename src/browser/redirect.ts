/** The redirection of a login for which this page goes away. */
import type { Redirection } from '../auth/interaction.ts'
import { AbortedError, abortedBy } from '../errors.ts'
import { dropRecord, keepRecord, type LoginRecord } from './login-record.ts'
import type { Page } from './page.ts'

/**
 * Keeps the login in the tab's storage and goes to the provider. `answer` ends only when the page stays after all: `ABORTED`, by the
 * signal or because the person came back without an answer.
 */
export function leavingRedirection(
  page: Page,
  { signal, ...login }: Pick<LoginRecord, 'credential' | 'uri' | 'returnTo'> & { readonly signal?: AbortSignal },
): Redirection {
  return {
    uri: login.uri,
    seesFragments: true,
    answer: (url, _isOurs, ongoing) =>
      new Promise((_resolve, reject) => {
        if (signal?.aborted) throw abortedBy(signal)
        keepRecord(page, { ...login, ...ongoing })
        // Heard once: the record that is there later is that of another login.
        const stay = (error: Error) => {
          signal?.removeEventListener('abort', abort)
          page.removeEventListener('pageshow', back)
          dropRecord(page)
          reject(error)
        }
        const abort = () => signal && stay(abortedBy(signal))
        const back = (event: Event) => {
          if ((event as PageTransitionEvent).persisted) stay(new AbortedError('the person came back'))
        }
        signal?.addEventListener('abort', abort)
        page.addEventListener('pageshow', back)
        page.location.assign(url)
      }),
    close: async () => {},
  }
}

/** What the engine goes on with at the next page: nobody is asked again. */
export function resumedRedirection({ uri, record }: LoginRecord, callback: string): Redirection {
  return {
    uri,
    seesFragments: true,
    resumed: { record, callback: new URL(callback) },
    answer: () => Promise.reject(new AbortedError('the login has its answer')),
    close: async () => {},
  }
}
