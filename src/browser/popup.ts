/** The redirection of a login in a window of its own. */
import type { Redirection } from '../auth/interaction.ts'
import { abortedBy, CredentialError } from '../errors.ts'
import { isAnswerAt } from './login-answer.ts'
import { awaitAnswer } from './login-channel.ts'
import type { Page } from './page.ts'

export interface PopupOptions {
  readonly page: Page
  /** Id of the entry, for errors. */
  readonly credential: string
  /** The redirect URI: a page of this origin. */
  readonly uri: string
  /** Milliseconds to wait for the person. */
  readonly timeout: number
  /** False where the provider's pages cut the tie to their opener: then a closed window cannot be told from an open one. */
  readonly watchClosing: boolean
  readonly signal?: AbortSignal
}

/** A window that was opened blank, and what it is for. */
export interface LoginPopup {
  readonly redirection: Redirection
  /** Closes the window, unless it is at the provider's pages and does not know its opener: browsers leave that to the person. */
  close(): void
}

const FEATURES = 'popup,width=520,height=680'
/** Milliseconds between two looks, and how many looks in a row make a window closed. */
const LOOK = 250
const LOOKS = 4

/**
 * Opens the window at once, for browsers allow that only in a click; it is sent to the provider later. At the top of a tab it does not
 * know who opened it, so the provider's page cannot send this one elsewhere.
 *
 * Errors: `POPUP_BLOCKED`; of `answer`: `LOGIN_DENIED` when the window is closed, `LOGIN_TIMEOUT`, `ABORTED`.
 */
export function openPopup(options: PopupOptions): LoginPopup {
  const { page, credential, uri } = options
  const popup = page.open('about:blank', '_blank', FEATURES)
  if (!popup) throw blocked(credential)
  if (page.parent === page) popup.opener = null
  const close = () => popup.close()
  const redirection: Redirection = {
    uri,
    seesFragments: true,
    answer: (url, isOurs, { state }) => waitFor(popup, url, state, isOurs, options),
    close: async () => close(),
  }
  return { redirection, close }
}

function blocked(credential: string): CredentialError {
  return new CredentialError('POPUP_BLOCKED', `the browser opened no window for the login of "${credential}"`, {
    credential,
    hint: 'call popup() at once in the handler of a click, before anything is awaited, or use redirect()',
  })
}

/** Sends the window there and waits. An answer of this very login that the engine does not like ends the wait: the engine says why. */
async function waitFor(
  popup: Window,
  url: string,
  state: string,
  isOurs: (callback: URL) => boolean,
  { page, credential, uri, timeout, watchClosing, signal }: PopupOptions,
): Promise<URL> {
  const ends: (() => void)[] = []
  try {
    return await new Promise<URL>((resolve, reject) => {
      if (signal?.aborted) throw abortedBy(signal)
      const abort = () => signal && reject(abortedBy(signal))
      signal?.addEventListener('abort', abort)
      const take = (address: string) => {
        const isAnswer = isAnswerAt(address, uri) && (isOurs(new URL(address)) || namesState(address, state))
        if (isAnswer) resolve(new URL(address))
        return isAnswer
      }
      const listener = awaitAnswer(page, state, take)
      const timer = setTimeout(() => reject(late(credential)), timeout)
      const watch = watchClosing
        ? setInterval(
            closingOf(popup, page, () => reject(closed(credential))),
            LOOK,
          )
        : undefined
      ends.push(
        () => signal?.removeEventListener('abort', abort),
        () => listener.close(),
        () => clearTimeout(timer),
        () => clearInterval(watch),
      )
      popup.location.replace(url)
    })
  } finally {
    for (const end of ends) end()
  }
}

function namesState(address: string, state: string): boolean {
  const { search, hash } = new URL(address)
  return [search, hash].some((text) => new URLSearchParams(text.replace(/^[?#]/, '')).get('state') === state)
}

/**
 * A window whose page cut the tie looks closed as well. The person is in that window then and not here, so it counts only while this
 * page has the focus.
 */
function closingOf(popup: Window, page: Page, tell: () => void): () => void {
  let looks = 0
  return () => {
    looks = popup.closed && page.document.hasFocus() ? looks + 1 : 0
    if (looks === LOOKS) tell()
  }
}

function closed(credential: string): CredentialError {
  return new CredentialError('LOGIN_DENIED', `the window of the login for "${credential}" was closed`, { credential })
}

function late(credential: string): CredentialError {
  return new CredentialError('LOGIN_TIMEOUT', `nobody finished the login for "${credential}" in time`, { credential })
}
