/**
 * Negotiate (RFC 4559) with tokens of our own in place of Kerberos: each is sealed by the key of the service over everything
 * that was said before, and belongs to the connection on which that was said.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Answer, Inquiry } from './answering-server.ts'

export interface NegotiateOptions {
  /** Key of the service, which also makes the tickets of its users. */
  readonly key: Uint8Array
  /** `HTTP@host`. */
  readonly service: string
  /** How many tokens of the client it wants; Kerberos wants one. */
  readonly rounds?: number
  /** Changes an answer; the round counts from 1, 0 is for a request without a token. */
  readonly answer?: (answer: Answer, round: number) => Answer
}

/** What is in a token besides its seal. `isLast` ends the exchange for the side that hears it. */
export interface TokenBody {
  readonly from: 'client' | 'server'
  readonly service: string
  readonly nonce: string
  readonly isLast: boolean
}

interface Going {
  readonly round: number
  readonly said: string
}

/** 401 until the tokens were right, each on the same connection; then 200 with the server's own last token. */
export function negotiateServer({ key, service, rounds = 1, answer = (one) => one }: NegotiateOptions): (request: Inquiry) => Answer {
  const going = new Map<number, Going>()
  const nonces = new Set<string>()
  return ({ headers, connection }) => {
    const token = /^Negotiate ([A-Za-z0-9+/]+=*)$/.exec(headers.authorization ?? '')?.[1]
    const { round, said } = going.get(connection) ?? { round: 0, said: '' }
    going.delete(connection)
    if (token === undefined) return answer(asked('Negotiate'), 0)
    const body = opened(token, key, said)
    if (body?.from !== 'client' || body.service !== service || nonces.has(body.nonce)) return answer(asked('Negotiate'), round + 1)
    nonces.add(body.nonce)
    const isLast = round + 1 >= rounds
    const reply = sealed({ from: 'server', service, nonce: randomBytes(9).toString('base64url'), isLast }, key, said + token)
    if (isLast) return answer({ status: 200, headers: { 'www-authenticate': `Negotiate ${reply}` }, body: 'data' }, round + 1)
    going.set(connection, { round: round + 1, said: said + token + reply })
    return answer(asked(`Negotiate ${reply}`), round + 1)
  }
}

/** A token in base64: the text and its seal. */
export function sealed(body: TokenBody, key: Uint8Array, said: string): string {
  const text = JSON.stringify(body)
  return Buffer.from(`${text}\n${sealOf(text, key, said)}`).toString('base64')
}

/** What a token says; undefined when its seal is not that of the key over what was said before. */
export function opened(token: string, key: Uint8Array, said: string): TokenBody | undefined {
  const [text = '', seal = ''] = Buffer.from(token, 'base64').toString().split('\n')
  const [right, given] = [Buffer.from(sealOf(text, key, said)), Buffer.from(seal)]
  return right.length === given.length && timingSafeEqual(right, given) ? JSON.parse(text) : undefined
}

function sealOf(text: string, key: Uint8Array, said: string): string {
  return createHmac('sha256', key).update(`${said}\n${text}`).digest('base64url')
}

function asked(challenge: string): Answer {
  return { status: 401, headers: { 'www-authenticate': challenge } }
}
