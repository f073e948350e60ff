/** Logins of a page: by popup, by redirect, and their ends. */
import type { Auth } from '../auth/auth.ts'
import { ProtocolError } from '../errors.ts'
import { answerIn, cleanAddress, isAnswerAt, type LoginAnswer } from './login-answer.ts'
import { deliverAnswer } from './login-channel.ts'
import { dropRecord, type LoginRecord, readRecord } from './login-record.ts'
import { loginPage, ownAddress, type Page, thisPage } from './page.ts'
import { openPopup } from './popup.ts'
import { leavingRedirection, resumedRedirection } from './redirect.ts'
import { needSecureContext } from './secure-context.ts'

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
  /** Id of the entry. */
  readonly credential: string
  /** Where the user was before: an address of this origin, kept by this tab. */
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
   * address first and is good once.
   *
   * Errors: `OAUTH_RESPONSE_INVALID` for an answer that this tab did not ask for, `LOGIN_DENIED`, `LOGIN_TIMEOUT`, those of `auth.login`.
   */
  finish(options?: { readonly signal?: AbortSignal }): Promise<FinishedLogin | undefined>
  /** Forgets the tokens of an entry, revokes them where the provider can, and ends the login there if asked to. */
  logout(credential: string, options?: LogoutOptions): Promise<void>
  /** The same for every entry that has tokens; all are forgotten, then the first error is told. */
  logoutAll(options?: { readonly signal?: AbortSignal }): Promise<void>
}

const TIMEOUT = 5 * 60_000
/** Milliseconds for a page that waits for this popup. */
const PATIENCE = 5000

/**
 * Logins for the entries of an engine.
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
  const entries = await auth.status()
  // Of another engine, or of another copy of this library, on the same page.
  if (record && !entries.some(({ credential }) => credential === record.credential)) return undefined
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

/** The answer to that login: in the address of this page, or as the callback page has seen it. */
function callbackFor({ state, answer: seen }: LoginRecord, answer: LoginAnswer | undefined): string | undefined {
  if (!answer) return seen
  return answer.state === state ? answer.url : undefined
}

function unasked(): ProtocolError {
  return new ProtocolError(
    'OAUTH_RESPONSE_INVALID',
    'this page was given the answer to a login that this tab did not begin, or has finished already; nothing of it was used',
    { hint: 'begin the login again' },
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
