/** The answer of an authorization server in the address of a page. */
import type { Page } from './page.ts'

export interface LoginAnswer {
  /** The address as the browser was sent there. */
  readonly url: string
  readonly state: string
}

const MEMBERS = ['code', 'error', 'access_token']

/** The answer (RFC 6749 §4.1.2, §4.2.2) in the query or behind the `#`; undefined for an address without one. */
export function answerIn({ location }: Pick<Page, 'location'>): LoginAnswer | undefined {
  const { href, search, hash } = location
  for (const text of [search, hash]) {
    const parameters = new URLSearchParams(text.replace(/^[?#]/, ''))
    const state = parameters.get('state')
    if (state && MEMBERS.some((name) => parameters.has(name))) return { url: href, state }
  }
  return undefined
}

/** Takes codes and tokens out of the address bar and out of the history (RFC 9700 §4.3.2). */
export function cleanAddress({ history, location }: Pick<Page, 'history' | 'location'>): void {
  // A path that begins with `//` would be another host by itself.
  history.replaceState(history.state, '', location.href.replace(/[?#].*/s, ''))
}

/** True when an address is that redirect URI, whatever parameters the answer has added. */
export function isAnswerAt(address: string, uri: string): boolean {
  if (!URL.canParse(address)) return false
  const [given, own] = [new URL(address), new URL(uri)]
  return given.origin === own.origin && given.pathname === own.pathname
}
