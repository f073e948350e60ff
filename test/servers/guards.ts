/** What protected resources ask for: a guard lets a request pass by saying nothing or 200, and answers every other one as real servers do. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { Answer, Inquiry } from './answering-server.ts'

export type Guard = (request: Inquiry) => Answer | undefined

/** One user (RFC 7617). */
export function basicGuard(username: string, password: string): Guard {
  return (request) => {
    const account = accountOf(request)
    if (account !== undefined && sameText(account, `${username}:${password}`)) return undefined
    return unauthorized('Basic realm="files", charset="UTF-8"')
  }
}

/** Any token that the caller knows (RFC 6750 §3). */
export function bearerGuard(accepts: (token: string) => boolean): Guard {
  return (request) => {
    const token = textAfter('bearer', request)
    if (token === undefined) return unauthorized('Bearer realm="files"')
    return accepts(token) ? undefined : unauthorized('Bearer realm="files", error="invalid_token"')
  }
}

/** A word and the text that must follow it (RFC 9110 §11.4). */
export function wordGuard(word: string, text: string): Guard {
  return (request) => (sameText(textAfter(word, request) ?? '', text) ? undefined : unauthorized(`${word} realm="files"`))
}

/** A key in a header, query parameter or cookie: 401 without one, 403 for a wrong one. */
export function keyGuard(place: 'header' | 'query' | 'cookie', name: string, value: string): Guard {
  return (request) => {
    const keys = KEYS[place](request, name)
    if (keys.length === 0) return { status: 401 }
    return keys.length === 1 && sameText(keys[0] ?? '', value) ? undefined : { status: 403 }
  }
}

/** User name and password as one text, or undefined when the header does not hold them. */
export function accountOf(request: Inquiry): string | undefined {
  const text = textAfter('basic', request)
  return text !== undefined && /^[A-Za-z0-9+/]+=*$/.test(text) ? Buffer.from(text, 'base64').toString() : undefined
}

/** Compares in a time that does not tell how much of it was right. */
export function sameText(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(one), digest(other))
}

function textAfter(word: string, { headers }: Inquiry): string | undefined {
  const [, given = '', text] = /^(\S+) +(\S.*)$/.exec(headers.authorization ?? '') ?? []
  return given.toLowerCase() === word.toLowerCase() ? text : undefined
}

const KEYS = {
  header: ({ headers }: Inquiry, name: string) => [headers[name.toLowerCase()] ?? []].flat(),
  query: ({ query }: Inquiry, name: string) => query.getAll(name),
  cookie: ({ headers }: Inquiry, name: string) =>
    (headers.cookie ?? '').split(/; */).flatMap((pair) => (pair.startsWith(`${name}=`) ? [pair.slice(name.length + 1)] : [])),
}

function unauthorized(challenge: string): Answer {
  return { status: 401, headers: { 'www-authenticate': challenge } }
}
