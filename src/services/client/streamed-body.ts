import { AbortedError, type AuthError, isAuthError, ProtocolError } from '../../errors.ts'
import type { Collect } from '../../http/body.ts'
import type { HttpResponse, Send } from '../../http/message.ts'
import type { Interruption } from '../../net/deadline.ts'
import { collectOver } from './collect-over.ts'

/** The body of an answer that is left to its reader. */
export class StreamedBody {
  readonly #interruption: Interruption
  readonly #url: string
  #answer: HttpResponse | undefined

  constructor(interruption: Interruption, url: string) {
    this.#interruption = interruption
    this.#url = url
  }

  /** Collects failures, and keeps the body of a success. */
  collect(send: Send): Collect {
    return collectOver(send, (answer) => {
      this.#answer = answer
    })
  }

  /**
   * The body, pulled as it is read. It always comes to an end: an error of the family for one that breaks off (`RESPONSE_TRUNCATED`), is
   * interrupted or stalls. Listens to the caller's signal until then.
   *
   * @param cancel gives the exchange up
   */
  readable(cancel: (reason: AuthError) => void): ReadableStream<Uint8Array> {
    const reader = this.#answer?.toResponse().body?.getReader()
    const interruption = this.#interruption
    interruption.tell(cancel)
    const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
      try {
        const read = await reader?.read()
        if (read && !read.done) return controller.enqueue(read.value)
        interruption.close()
        controller.close()
      } catch (error) {
        interruption.close()
        controller.error(interruption.reason ?? brokenOff(error, this.#url))
      }
    }
    const stop = async () => {
      interruption.close()
      await reader?.cancel().catch(() => undefined)
      cancel(new AbortedError('the reader has stopped'))
    }
    return new ReadableStream({ pull, cancel: stop }, { highWaterMark: 0 })
  }
}

function brokenOff(error: unknown, url: string): AuthError {
  if (isAuthError(error) && error.code !== 'NETWORK_RESET') return error
  return new ProtocolError('RESPONSE_TRUNCATED', `${url}: the response ended too early`, { url, retryable: true })
}
