import type { Collected } from '../http/collect.ts'
import type { HttpResponse } from '../http/message.ts'
import { tooLarge } from '../http/network-error.ts'
import { utf8 } from '../http/read-body.ts'

/** A collected answer for those who expect one that is still to be read. */
export class CollectedResponse implements HttpResponse {
  readonly collected: Collected
  readonly status: number
  readonly url: string
  readonly headers: HttpResponse['headers']

  constructor(collected: Collected, url: string) {
    this.collected = collected
    this.status = collected.status
    this.url = url
    this.headers = collected.headers
  }

  /** Reads an answer to its end. */
  static async read(response: HttpResponse, limit: number): Promise<Collected> {
    const body = await response.bytes(limit)
    return { status: response.status, headers: response.headers, body, text: () => utf8(body) }
  }

  async bytes(limit: number): Promise<Uint8Array> {
    const { body } = this.collected
    if (body.length > limit) throw tooLarge(this.url, `the answer exceeds ${limit} bytes`)
    return body
  }

  async text(limit: number): Promise<string> {
    return utf8(await this.bytes(limit))
  }

  async discard(): Promise<void> {}

  toResponse(): Response {
    const { status, body } = this.collected
    const isEmpty = status === 204 || status === 205 || status === 304
    return new Response(isEmpty ? null : (body as BodyInit), { status })
  }
}
