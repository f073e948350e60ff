/** A login for which the page went away, in the storage of the tab. */
import { IntegrityError } from '../errors.ts'
import type { Page } from './page.ts'

/** Good for one answer; `record` is secret. */
export interface LoginRecord {
  /** Id of the credential. */
  readonly credential: string
  readonly state: string
  /** What the engine needs to go on. */
  readonly record: string
  /** The redirect URI. */
  readonly uri: string
  /** Where the user was: a URL of this origin. */
  readonly returnTo: string
  /** The answer, once the callback page has seen it. */
  readonly answer?: string
}

const NAME = 'stac-auth:login'

const TEXTS = ['credential', 'state', 'record', 'uri', 'returnTo'] as const

/** A tab goes to one provider at a time, so a new record takes the place of an older one. Errors: `FILE_ACCESS`. */
export function keepRecord(page: Page, record: LoginRecord): void {
  try {
    page.sessionStorage.setItem(NAME, JSON.stringify(record))
  } catch {
    throw new IntegrityError('FILE_ACCESS', 'the session storage of this page is unavailable, so a login by redirect is not possible', {
      hint: 'log in with a popup',
    })
  }
}

/** The record, if there is a whole one. */
export function readRecord(page: Page): LoginRecord | undefined {
  try {
    const value: unknown = JSON.parse(page.sessionStorage.getItem(NAME) ?? 'null')
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Removes it: what was taken once is not taken again. */
export function dropRecord(page: Page): void {
  try {
    page.sessionStorage.removeItem(NAME)
  } catch {
    // A storage that cannot be used holds nothing.
  }
}

function isRecord(value: unknown): value is LoginRecord {
  if (typeof value !== 'object' || value === null) return false
  const record = value as Readonly<Record<string, unknown>>
  return TEXTS.every((name) => typeof record[name] === 'string') && ['string', 'undefined'].includes(typeof record.answer)
}

type Message = { readonly type: 'stac-auth login'; readonly state: string } & ({ readonly answer: string } | { readonly taken: true })

/** Hears the URL of an answer; true takes it. */
type TakeAnswer = (address: string) => boolean

/** Listens until `close`; what `take` does not take stays without a reply. */
export function awaitAnswer(page: Page, state: string, take: TakeAnswer): { close(): void } {
  const { origin } = page.location
  const channel = new BroadcastChannel(nameOf(state))
  const hear = (data: unknown, reply: (message: Message) => void) => {
    const address = messageOf(data, state)?.answer
    if (typeof address === 'string' && take(address)) reply({ type: TYPE, state, taken: true })
  }
  channel.onmessage = ({ data }) => hear(data, (message) => channel.postMessage(message))
  // A frame has storage and channels of its own where its site is not that of the window: its popup speaks to it directly.
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

/** Tells whoever waits for the answer; true when it was taken within that many milliseconds. */
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
  /** The URL as the browser was sent there. */
  readonly url: string
  readonly state: string
}

const MEMBERS = ['code', 'error', 'access_token']

/** The answer (RFC 6749 §4.1.2, §4.2.2) in the query or behind the `#`; undefined for a URL without one. */
export function answerIn({ location }: Pick<Page, 'location'>): LoginAnswer | undefined {
  const { href, search, hash } = location
  for (const text of [search, hash]) {
    const parameters = new URLSearchParams(text.replace(/^[?#]/, ''))
    const state = parameters.get('state')
    if (state && MEMBERS.some((name) => parameters.has(name))) return { url: href, state }
  }
  return undefined
}

/** Takes codes and tokens out of the URL bar and out of the history (RFC 9700 §4.3.2). */
export function cleanAddress({ history, location }: Pick<Page, 'history' | 'location'>): void {
  // A path that begins with `//` would be another host by itself.
  history.replaceState(history.state, '', location.href.replace(/[?#].*/s, ''))
}

/** True when a URL is that redirect URI, whatever parameters the answer has added. */
export function isAnswerAt(address: string, uri: string): boolean {
  if (!URL.canParse(address)) return false
  const [given, own] = [new URL(address), new URL(uri)]
  return given.origin === own.origin && given.pathname === own.pathname
}
