/** The pending login of a page that was left, stored in the session storage of the tab. */

import { IntegrityError } from '../errors.ts'
import { canParseUrl } from '../text/can-parse-url.ts'
import type { Page } from './page.ts'

/** A pending login, for one response. `record` is secret. */
export interface LoginRecord {
  /** Id of the credential. */
  readonly credential: string
  readonly state: string
  /** State that the engine needs to finish the login. */
  readonly record: string
  /** The redirect URI. */
  readonly uri: string
  /** URL of this origin to return to after the login. */
  readonly returnTo: string
  /** URL of the login response, once the callback page has received it. */
  readonly answer?: string
}

const NAME = 'stac-auth:login'

const TEXTS = ['credential', 'state', 'record', 'uri', 'returnTo'] as const

/**
 * Stores the record. A tab has one login at a time: a new record replaces an older one.
 *
 * Errors: `FILE_ACCESS`.
 */
export function keepRecord(page: Page, record: LoginRecord): void {
  try {
    page.sessionStorage.setItem(NAME, JSON.stringify(record))
  } catch {
    throw new IntegrityError('FILE_ACCESS', 'a login by redirect is not possible: the session storage of this page is unavailable', {
      hint: 'log in with a popup',
    })
  }
}

/** Returns the record if there is a complete one. */
export function readRecord(page: Page): LoginRecord | undefined {
  try {
    const value: unknown = JSON.parse(page.sessionStorage.getItem(NAME) ?? 'null')
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Removes the record, so that it cannot be used twice. */
export function dropRecord(page: Page): void {
  try {
    page.sessionStorage.removeItem(NAME)
  } catch {
    // An unavailable storage contains no record.
  }
}

function isRecord(value: unknown): value is LoginRecord {
  if (typeof value !== 'object' || value === null) return false
  const record = value as Readonly<Record<string, unknown>>
  return TEXTS.every((name) => typeof record[name] === 'string') && ['string', 'undefined'].includes(typeof record.answer)
}

type Message = { readonly type: 'stac-auth login'; readonly state: string } & ({ readonly answer: string } | { readonly taken: true })

/** Receives the URL of a login response; returns true to accept it. */
type TakeAnswer = (address: string) => boolean

/** Listens for the login response until `close`. A response that `take` does not accept gets no reply. */
export function awaitAnswer(page: Page, state: string, take: TakeAnswer): { close(): void } {
  const { origin } = page.location
  const channel = new BroadcastChannel(nameOf(state))
  const hear = (data: unknown, reply: (message: Message) => void) => {
    const address = messageOf(data, state)?.answer
    if (typeof address === 'string' && take(address)) reply({ type: TYPE, state, taken: true })
  }
  channel.onmessage = ({ data }) => hear(data, (message) => channel.postMessage(message))
  // In a frame of another site, storage and channels are partitioned: the popup posts to the frame directly.
  const direct = (event: MessageEvent) => {
    if (event.origin === origin) hear(event.data, (message) => event.source?.postMessage(message, { targetOrigin: origin }))
  }
  page.addEventListener('message', direct)
  return {
    close() {
      channel.close()
      page.removeEventListener('message', direct)
    },
  }
}

/** Sends the response to the waiting page; returns true when it was accepted within `timeout` milliseconds. */
export async function deliverAnswer(page: Page, { url, state }: LoginAnswer, timeout: number): Promise<boolean> {
  const { origin } = page.location
  const channel = new BroadcastChannel(nameOf(state))
  let direct: ((event: MessageEvent) => void) | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  try {
    return await new Promise<boolean>((resolve) => {
      const hear = (data: unknown) => messageOf(data, state)?.taken === true && resolve(true)
      channel.onmessage = ({ data }) => hear(data)
      direct = (event) => event.origin === origin && hear(event.data)
      page.addEventListener('message', direct)
      timer = setTimeout(resolve, timeout, false)
      const message: Message = { type: TYPE, state, answer: url }
      channel.postMessage(message)
      const opener: Pick<Window, 'postMessage'> | null = page.opener
      opener?.postMessage(message, origin)
    })
  } finally {
    clearTimeout(timer)
    channel.close()
    if (direct) page.removeEventListener('message', direct)
  }
}

const TYPE = 'stac-auth login'

function nameOf(state: string): string {
  return `stac-auth login ${state}`
}

function messageOf(data: unknown, state: string): { readonly answer?: unknown; readonly taken?: unknown } | undefined {
  const message = (typeof data === 'object' && data !== null ? data : {}) as Readonly<Record<string, unknown>>
  return message.type === TYPE && message.state === state ? message : undefined
}

export interface LoginAnswer {
  /** The URL to which the browser was redirected. */
  readonly url: string
  readonly state: string
}

const MEMBERS = ['code', 'error', 'access_token']

/** Returns the login response (RFC 6749 §4.1.2, §4.2.2) from the query or fragment of the page's URL; undefined when there is none. */
export function answerIn({ location }: Pick<Page, 'location'>): LoginAnswer | undefined {
  const { href, search, hash } = location
  for (const text of [search, hash]) {
    const parameters = new URLSearchParams(text.replace(/^[?#]/, ''))
    const state = parameters.get('state')
    if (state && MEMBERS.some((name) => parameters.has(name))) return { url: href, state }
  }
  return undefined
}

/** Removes codes and tokens from the URL bar and from the history (RFC 9700 §4.3.2). */
export function cleanAddress({ history, location }: Pick<Page, 'history' | 'location'>): void {
  // A path that starts with `//` would be read as another host.
  history.replaceState(history.state, '', location.href.replace(/[?#].*/s, ''))
}

/** Returns true when the URL is that redirect URI, with any parameters added by the response. */
export function isAnswerAt(address: string, uri: string): boolean {
  if (!canParseUrl(address)) return false
  const [given, own] = [new URL(address), new URL(uri)]
  return given.origin === own.origin && given.pathname === own.pathname
}
