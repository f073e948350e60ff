/** Logins of a page by popup or redirect, and logouts. */
import type { Auth } from '../auth/auth.ts'
import type { Redirection } from '../auth/interaction.ts'
import { AbortedError, abortedBy, CredentialError, ProtocolError } from '../errors.ts'
import {
  answerIn,
  awaitAnswer,
  cleanAddress,
  deliverAnswer,
  dropRecord,
  isAnswerAt,
  keepRecord,
  type LoginAnswer,
  type LoginRecord,
  readRecord,
} from './login-record.ts'
import { loginPage, needSecureContext, ownAddress, type Page, thisPage } from './page.ts'

export interface LoginsOptions {
  /** The redirect URI that the provider has for this client: a page of this origin that calls `completeLogin` or `finish`. */
  readonly callback: string
  /** Where the provider sends the person after a logout there; a page of this origin that the provider has for this client. */
  readonly afterLogout?: string
  /** Milliseconds that a popup may take; default 5 minutes. */
  readonly timeout?: number
  /** Default: the page itself. */
  readonly page?: Page
}

export interface PopupLoginOptions {
  readonly signal?: AbortSignal
  /** False for providers whose pages cut the tie to their opener; then only `signal` and `timeout` end the wait. */
  readonly watchClosing?: boolean
}

export interface RedirectLoginOptions {
  readonly signal?: AbortSignal
  /** Where to go on afterwards, on this origin; default: where the user is. */
  readonly returnTo?: string
}

export interface LogoutOptions {
  readonly signal?: AbortSignal
  /** True leaves the page, so that the login at the provider ends as well where it has a page for that. */
  readonly atProvider?: boolean
}

/** A login that has come to its end on this page. */
export interface FinishedLogin {
  /** Id of the credential. */
  readonly credential: string
  /** Where the user was before: a URL of this origin, kept by this tab. */
  readonly returnTo: string
}

export interface Logins {
  /**
   * Logs in with a window of its own; call it at once in a click.
   *
   * Errors: `POPUP_BLOCKED`, `LOGIN_DENIED` (also for a closed window), `LOGIN_TIMEOUT`, `ABORTED`, `UNSUPPORTED_IN_BROWSER` in a
   * worker and in pages that came by plain http, those of `auth.login`.
   */
  popup(credential: string, options?: PopupLoginOptions): Promise<void>
  /**
   * Leaves the page for the provider, which sends the browser to the callback page. Errors: `ABORTED` when the page stays after all,
   * `CONFIG_INVALID` for a `returnTo` on another origin, `FILE_ACCESS` without session storage, those of `auth.login`.
   */
  redirect(credential: string, options?: RedirectLoginOptions): Promise<void>
  /**
   * Finishes the login that brought the browser here; undefined when none did. Call it when the page is loaded. The answer leaves the
   * URL first and is good once.
   *
   * Errors: `OAUTH_RESPONSE_INVALID` for an answer that this tab did not ask for, `LOGIN_DENIED`, `LOGIN_TIMEOUT`, those of `auth.login`.
   */
  finish(options?: { readonly signal?: AbortSignal }): Promise<FinishedLogin | undefined>
  /** Forgets the tokens of a credential, revokes them where the provider can, and ends the login there if asked to. */
  logout(credential: string, options?: LogoutOptions): Promise<void>
  /** The same for every credential that has tokens; all are forgotten, then the first error is told. */
  logoutAll(options?: { readonly signal?: AbortSignal }): Promise<void>
}

const TIMEOUT = 5 * 60_000

/** Milliseconds for a page that waits for this popup. */
const PATIENCE = 5000

/**
 * Logins for the credentials of an engine.
 *
 * @example
 * const logins = createLogins(auth, { callback: '/callback.html' })
 * button.onclick = () => logins.popup('portal')
 */
export function createLogins(auth: Pick<Auth, 'login' | 'logout' | 'status'>, options: LoginsOptions): Logins {
  const { timeout = TIMEOUT } = options
  return {
    async popup(credential, { signal, watchClosing = true } = {}) {
      const page = loginPage(options.page)
      const uri = ownAddress(page, options.callback, 'callback')
      // Nothing is awaited before this: the click would be over.
      const popup = openPopup({ page, credential, uri, timeout, watchClosing, ...(signal && { signal }) })
      try {
        await auth.login(credential, { redirect: async () => popup.redirection }, signal ? { signal } : {})
      } finally {
        popup.close()
      }
    },
    async redirect(credential, { signal, returnTo } = {}) {
      const page = loginPage(options.page)
      const uri = ownAddress(page, options.callback, 'callback')
      const place = ownAddress(page, returnTo ?? page.location.href, 'returnTo')
      const redirection = leavingRedirection(page, { credential, uri, returnTo: place, ...(signal && { signal }) })
      await auth.login(credential, { redirect: async () => redirection }, signal ? { signal } : {})
    },
    finish: ({ signal } = {}) => finish(auth, options, signal ? { signal } : {}),
    async logout(credential, { signal, atProvider = false } = {}) {
      const end = atProvider ? endAt(thisPage(options.page), options) : undefined
      await auth.logout(credential, { ...(signal && { signal }), ...(end && { end }) })
    },
    async logoutAll({ signal } = {}) {
      const known = (await auth.status()).filter(({ state }) => state !== 'none')
      const ends = await Promise.allSettled(known.map(({ credential }) => auth.logout(credential, signal ? { signal } : {})))
      for (const end of ends) if (end.status === 'rejected') throw end.reason
    },
  }
}

type Engine = Pick<Auth, 'login' | 'status'>

async function finish(auth: Engine, options: LoginsOptions, call: { readonly signal?: AbortSignal }): Promise<FinishedLogin | undefined> {
  const page = thisPage(options.page)
  const record = readRecord(page)
  const here = answerIn(page)
  if (!record && !here) return undefined
  needSecureContext('a login')
  const credentials = await auth.status()
  // Of another engine, or of another copy of this library, on the same page.
  if (record && !credentials.some(({ credential }) => credential === record.credential)) return undefined
  const answer = here && isAnswerAt(here.url, ownAddress(page, options.callback, 'callback')) ? here : undefined
  if (answer) cleanAddress(page)
  const callback = record && callbackFor(record, answer)
  if (record && callback !== undefined) {
    dropRecord(page)
    const { credential, returnTo } = record
    await auth.login(credential, { redirect: async () => resumedRedirection(record, callback) }, call)
    return { credential, returnTo: ownAddress(page, returnTo, 'returnTo') }
  }
  if (answer && !(await deliverAnswer(page, answer, PATIENCE))) throw unasked()
  // A popup whose page this is; the one that waited for it goes on.
  if (answer) page.close()
  return undefined
}

/** The answer to that login: in the URL of this page, or as the callback page has seen it. */
function callbackFor({ state, answer: seen }: LoginRecord, answer: LoginAnswer | undefined): string | undefined {
  if (!answer) return seen
  return answer.state === state ? answer.url : undefined
}

function unasked(): ProtocolError {
  return new ProtocolError(
    'OAUTH_RESPONSE_INVALID',
    'the login response in this URL does not belong to a login of this tab, or was used before. It was ignored',
    { hint: 'start the login again' },
  )
}

function endAt(page: Page, { afterLogout }: LoginsOptions): (url: string) => void {
  const back = afterLogout === undefined ? undefined : ownAddress(page, afterLogout, 'afterLogout')
  return (address) => {
    const url = new URL(address)
    if (back !== undefined) url.searchParams.set('post_logout_redirect_uri', back)
    page.location.assign(url.href)
  }
}

export interface PopupOptions {
  readonly page: Page
  /** Id of the credential, for errors. */
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
interface LoginPopup {
  readonly redirection: Redirection
  /** Closes the window, unless it is at the provider's pages and does not know its opener: browsers leave that to the person. */
  close(): void
}

const FEATURES = 'popup,width=520,height=680'

/** Milliseconds between two looks, and how many looks in a row make a window closed. */
const LOOK = 250

const LOOKS = 4

/**
 * Opens the window synchronously, because browsers allow that only in a click; it is sent to the provider later. At the top of a tab it has
 * no opener, so the provider's page cannot navigate this one.
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
  return new CredentialError('POPUP_BLOCKED', `the browser blocked the login window for "${credential}"`, {
    credential,
    hint: 'call popup() directly in a click handler, before any await, or use redirect()',
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
  return new CredentialError('LOGIN_DENIED', `the login window for "${credential}" was closed`, { credential })
}

function late(credential: string): CredentialError {
  return new CredentialError('LOGIN_TIMEOUT', `the login for "${credential}" timed out`, { credential })
}

/**
 * Keeps the login in the tab's storage and goes to the provider. `answer` ends only when the page stays after all: `ABORTED`, by the
 * signal or because the person came back without an answer.
 */
function leavingRedirection(
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
          if ((event as PageTransitionEvent).persisted) stay(new AbortedError('the user came back without a login response'))
        }
        signal?.addEventListener('abort', abort)
        page.addEventListener('pageshow', back)
        page.location.assign(url)
      }),
    close: async () => {},
  }
}

/** What the engine goes on with at the next page: nobody is asked again. */
function resumedRedirection({ uri, record }: LoginRecord, callback: string): Redirection {
  return {
    uri,
    seesFragments: true,
    resumed: { record, callback: new URL(callback) },
    answer: () => Promise.reject(new AbortedError('the login has its response')),
    close: async () => {},
  }
}
