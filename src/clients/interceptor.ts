import type { HttpRequest } from '../http/message.ts'

/** What callers do to every attempt; awaited, in the order in which they were added. */
export interface Interceptor {
  /** The request as it is to be authorized and sent: another one with other headers or another body, never another address. */
  before?(request: HttpRequest, about: { readonly operation: string; readonly attempt: number }): HttpRequest | Promise<HttpRequest>
  /** Hears of an answer before it is judged. */
  after?(answer: { readonly status: number; readonly headers: { get(name: string): string | null } }): void | Promise<void>
}
