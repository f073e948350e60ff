/** Logins by popup or redirect, and logouts, in a web page. */
import type { Auth, Redirection } from '../auth/auth.ts'
import { AbortedError, abortedBy, CredentialError, ProtocolError } from '../errors.ts'
import type { LiveCredentials } from './live-auth.ts'
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

/** Options of `createLogins`. */
export interface LoginsOptions {
  /** The redirect URI registered with the provider: a page of this origin that calls `completeLogin` or `finish`. */
  readonly callback: string
  /** The URL registered with the provider to return to after a logout: a page of this origin. */
  readonly afterLogout?: string
  /** Timeout of a popup in milliseconds; default 5 minutes. */
  readonly timeout?: number
  /** Default: the current page. */
  readonly page?: Page
}

/** Options of a login by popup window. */
export interface PopupLoginOptions {
  /** Aborts the login (`ABORTED`). */
  readonly signal?: AbortSignal
  /**
   * False for providers whose pages sever the link to their opener (`Cross-Origin-Opener-Policy`); then only `signal` and `timeout` end
   * the wait.
   */
  readonly watchClosing?: boolean
}

/** Options of a login by redirect. */
export interface RedirectLoginOptions {
  /** Aborts the login (`ABORTED`). */
  readonly signal?: AbortSignal
  /** URL of this origin to return to after the login; default: the current one. */
  readonly returnTo?: string
}

/** Options of a logout. */
export interface LogoutOptions {
  /** Aborts the logout (`ABORTED`). */
  readonly signal?: AbortSignal
  /** True also logs out at the provider, where it supports that; the page is left. */
  readonly atProvider?: boolean
}

/** A completed login. */
export interface FinishedLogin {
  /** Id of the credential. */
  readonly credential: string
  /** URL of this origin to return to after the login, stored in this tab. */
  readonly returnTo: string
}

/** The logins of a page: by popup window or by redirect. */
export interface Logins {
  /**
   * Logs in with a popup window. Call it synchronously in a click handler.
   *
   * Errors: `POPUP_BLOCKED`, `LOGIN_DENIED` (also for a closed window), `LOGIN_TIMEOUT`, `ABORTED`, `UNSUPPORTED_IN_BROWSER` in a worker
   * and in pages loaded over plain http, errors of `auth.login`.
   */
  popup(credential: string, options?: PopupLoginOptions): Promise<void>
  /**
   * Navigates to the provider, which redirects to the callback page.
   *
   * Errors: `ABORTED` when the page was not left, `CONFIG_INVALID` for a `returnTo` on another origin, `FILE_ACCESS` without session
   * storage, errors of `auth.login`.
   */
  redirect(credential: string, options?: RedirectLoginOptions): Promise<void>
  /**
   * Finishes the login whose response is in the URL of this page; returns undefined when there is none. Call it when the page is loaded.
   * The response is removed from the URL first and can be used once.
   *
   * Errors: `OAUTH_RESPONSE_INVALID` for a response that does not belong to a login of this tab, `LOGIN_DENIED`, `LOGIN_TIMEOUT`, errors
   * of `auth.login`.
   */
  finish(options?: { readonly signal?: AbortSignal }): Promise<FinishedLogin | undefined>
  /** Removes the tokens of a credential, revokes them where the provider supports that, and with `atProvider` logs out at the provider. */
  logout(credential: string, options?: LogoutOptions): Promise<void>
  /**
   * Logs out of all credentials that have tokens; with an engine of `createLiveAuth`, of every session in the store. All tokens are removed,
   * then the first error is thrown.
   */
  logoutAll(options?: { readonly signal?: AbortSignal }): Promise<void>
}

const TIMEOUT = 5 * 60_000

/** Milliseconds to wait for a page to accept the response of this popup. */
const REPLY_TIMEOUT = 5000

/**
 * Returns the logins for the credentials of an engine.
 *
 * @example
 * const logins = createLogins(auth, { callback: '/callback.html' })
 * button.onclick = () => logins.popup('portal')
 */
export function createLogins(
  auth: Pick<Auth, 'login' | 'logout' | 'status'> & { readonly credentials?: Pick<LiveCredentials, 'logoutAll'> },
  options: LoginsOptions,
): Logins {
  const { timeout = TIMEOUT } = options
  return {
    async popup(credential, { signal, watchClosing = true } = {}) {
      const page = loginPage(options.page)
      const uri = ownAddress(page, options.callback, 'callback')
      // No await before this line: browsers open windows only synchronously in a click handler.
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
      if (auth.credentials) return auth.credentials.logoutAll(signal ? { signal } : {})
      const known = (await auth.status()).filter(({ state }) => state !== 'none')
      const ends = await Promise.allSettled(known.map(({ credential }) => auth.logout(credential, signal ? { signal } : {})))
      for (const end of ends) if (end.status === 'rejected') throw end.reason
    },
  }
}

type Engine = Pick<Auth, 'login' | 'status'>

async function finish(auth: Engine, options: LoginsOptions, call: { readonly signal?: AbortSignal }): Promise<FinishedLogin | undefined> {
  const page = thisPage(options.page)
  if (!readRecord(page) && !answerIn(page)) return undefined
  needSecureContext('a login')
  const credentials = await auth.status()
  // Read after the last wait before the login: a second call, as in React's strict mode, must not use the same response.
  const record = readRecord(page)
  const here = answerIn(page)
  // The record belongs to another engine, or to another copy of this library, on the same page.
  if (record && !credentials.some(({ credential }) => credential === record.credential)) return undefined
  const answer = here && isAnswerAt(here.url, ownAddress(page, options.callback, 'callback')) ? here : undefined
  if (answer) cleanAddress(page)
  const callback = record && callbackFor(record, answer)
  if (record && callback !== undefined) {
    dropRecord(page)
    const { credential } = record
    // Other scripts can write into the storage: checked before the login, because the page goes there after it.
    const returnTo = ownAddress(page, record.returnTo, 'returnTo')
    await auth.login(credential, { redirect: async () => resumedRedirection(record, callback) }, call)
    return { credential, returnTo }
  }
  if (answer && !(await deliverAnswer(page, answer, REPLY_TIMEOUT))) throw unasked()
  // This page is the popup; the page that opened it finishes the login.
  if (answer) page.close()
  return undefined
}

/** Returns the URL of the response to that login, from this page or from the callback page. */
function callbackFor({ state, answer: seen }: LoginRecord, answer: LoginAnswer | undefined): string | undefined {
  if (!answer) return seen
  return answer.state === state ? answer.url : undefined
}

function unasked(): ProtocolError {
  return new ProtocolError(
    'OAUTH_RESPONSE_INVALID',
    'the login response in this URL was ignored: it does not belong to a login of this tab, or it was used before',
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
  /** Redirect URI: a page of this origin. */
  readonly uri: string
  /** Timeout of the login in milliseconds. */
  readonly timeout: number
  /** False where the provider's pages sever the link to their opener: a closed window cannot be detected then. */
  readonly watchClosing: boolean
  readonly signal?: AbortSignal
}

/** A blank popup window and the login that it is for. */
interface LoginPopup {
  readonly redirection: Redirection
  /** Closes the window, unless it shows the provider's pages and has no link to its opener: browsers do not allow that. */
  close(): void
}

const FEATURES = 'popup,width=520,height=680'

/** Poll interval in milliseconds, and the number of consecutive polls after which a window counts as closed. */
const LOOK = 250

const LOOKS = 4
/** The number of polls for a window that never left its blank page. */
const LOOKS_BLANK = 20

/**
 * Opens the window synchronously, because browsers allow that only in a click handler; it is navigated later. In a top-level page the
 * window has no opener, so the provider's page cannot navigate this page.
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

/** Navigates the window and waits for the response. Any response with the state of this login ends the wait; the engine validates it. */
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
 * Returns the poll that detects a closed window. A window counts as closed only while this page has the focus: a window whose page severed
 * the link to its opener also looks closed, but then the user is in that window. If this page severed the link (WebKit does so with the
 * policy `same-origin-allow-popups`), the window looks closed from the start, so a window that never left its blank page has to look closed
 * for longer.
 */
function closingOf(popup: Window, page: Page, tell: () => void): () => void {
  let hasLeft = false
  let looks = 0
  return () => {
    if (!popup.closed) hasLeft ||= !isBlank(popup)
    looks = popup.closed && page.document.hasFocus() ? looks + 1 : 0
    if (looks === (hasLeft ? LOOKS : LOOKS_BLANK)) tell()
  }
}

/** Returns true if the window shows its blank page; false for a page of another origin, whose URL cannot be read. */
function isBlank(popup: Window): boolean {
  try {
    return popup.location.href === 'about:blank'
  } catch {
    return false
  }
}

function closed(credential: string): CredentialError {
  return new CredentialError('LOGIN_DENIED', `the login window for "${credential}" was closed`, { credential })
}

function late(credential: string): CredentialError {
  return new CredentialError('LOGIN_TIMEOUT', `the login for "${credential}" timed out`, { credential })
}

/**
 * Stores the login in the tab and navigates to the provider. `answer` rejects only when the page was not left: with `ABORTED`, by the
 * signal or because the user returned without a response.
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
        // Listens once: a later record belongs to another login.
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

/** Returns the interaction that passes the response to the engine on the callback page, without asking the user again. */
function resumedRedirection({ uri, record }: LoginRecord, callback: string): Redirection {
  return {
    uri,
    seesFragments: true,
    resumed: { record, callback: new URL(callback) },
    answer: () => Promise.reject(new AbortedError('the login has its response')),
    close: async () => {},
  }
}
