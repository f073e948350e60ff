/** Plays Digest by hand: what the flow answers to challenges. */
import type { HttpRequest } from '../../../src/http/message.ts'
import type { HttpContext } from '../../../src/strategies/http/http-strategy.ts'
import { digest } from '../../../src/strategies/http/schemes.ts'
import { stepsOf, unauthorized, wordContext } from '../../harness/auth-flow.ts'
import type { Reply } from '../../harness/scripted.ts'

const PLACE = 'https://data.example'
export const MUFASA = { username: 'Mufasa', password: 'Circle of Life', algorithms: ['MD5', 'SHA-256', 'SHA-512-256'] }

export function contextFor(given: Readonly<Record<string, unknown>>, cnonce?: string): HttpContext {
  const random = cnonce === undefined ? {} : { random: () => Uint8Array.from(Buffer.from(cnonce, 'base64')) }
  return wordContext('digest', given, random)
}

export const get = (path = '/dir/index.html'): HttpRequest => ({ method: 'GET', url: PLACE + path, headers: {} })
export const post: HttpRequest = { ...get(), method: 'POST', body: 'hello' }
export const ok = (info?: string): Reply => (info === undefined ? {} : { headers: { 'authentication-info': info } })
export const challenge = (more: string, realm = 'r') => unauthorized(`Digest realm="${realm}", ${more}`)

/** The `Authorization` of each step. */
export async function sent(context: HttpContext, replies: readonly Reply[], request = get()): Promise<(string | undefined)[]> {
  return (await stepsOf(digest.authorize(request, context), replies)).map((step) => step.request.headers.authorization)
}

/** The fields of what the flow sends last. */
export async function fields(context: HttpContext, replies: readonly Reply[], request = get()): Promise<Record<string, string>> {
  return parse((await sent(context, replies, request)).at(-1))
}

export function parse(header = ''): Record<string, string> {
  const list = [...header.matchAll(/([\w*]+)=("(?:[^"\\]|\\.)*"|[^\s,]+)/g)]
  return Object.fromEntries(list.map(([, name, value]) => [name, value?.replace(/^"|"$/g, '') ?? '']))
}
