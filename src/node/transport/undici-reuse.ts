import type { Dispatcher } from 'undici'

type Dispatch = Dispatcher['dispatch']
type Handler = Dispatcher.DispatchHandler
type HandlerArguments<Name extends keyof Handler> = Parameters<NonNullable<Handler[Name]>>

/**
 * Lets a request that directly follows a response reuse its connection. undici makes a connection available one turn of the event loop
 * after the response, so a caller that continues at once would open a second one; its request waits for that turn.
 */
export function reuseConnections(dispatch: Dispatch): Dispatch {
  const freed = new Set<string>()
  const free = (origin: string) => {
    if (freed.has(origin)) return
    freed.add(origin)
    setImmediate(() => freed.delete(origin))
  }
  return (options, handler) => {
    const origin = String(options.origin)
    const freeing = new FreeingHandler(handler, () => free(origin))
    if (!freed.has(origin)) return dispatch(options, freeing)
    setImmediate(() => {
      try {
        dispatch(options, freeing)
      } catch (error) {
        // The caller has returned, so only its handler can be notified.
        handler.onResponseError?.(undefined as never, error as Error)
      }
    })
    return true
  }
}

/** Forwards everything to another handler. */
export class ForwardingHandler implements Handler {
  readonly #to: Handler

  constructor(to: Handler) {
    this.#to = to
  }

  onRequestStart(...told: HandlerArguments<'onRequestStart'>): void {
    this.#to.onRequestStart?.(...told)
  }

  onResponseStart(...told: HandlerArguments<'onResponseStart'>): void {
    this.#to.onResponseStart?.(...told)
  }

  onResponseData(...told: HandlerArguments<'onResponseData'>): void {
    this.#to.onResponseData?.(...told)
  }

  onResponseEnd(...told: HandlerArguments<'onResponseEnd'>): void {
    this.#to.onResponseEnd?.(...told)
  }

  onResponseError(...told: HandlerArguments<'onResponseError'>): void {
    this.#to.onResponseError?.(...told)
  }
}

class FreeingHandler extends ForwardingHandler {
  readonly #free: () => void

  constructor(to: Handler, free: () => void) {
    super(to)
    this.#free = free
  }

  override onResponseEnd(...told: HandlerArguments<'onResponseEnd'>): void {
    this.#free()
    super.onResponseEnd(...told)
  }
}
