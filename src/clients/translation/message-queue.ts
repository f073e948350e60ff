/** Keeps what comes until somebody reads it, and how it ended. */
export class MessageQueue<Message> {
  readonly #messages: Message[] = []
  readonly #waiting: (() => void)[] = []
  #end: { readonly error?: unknown } | undefined
  #isRead = false

  /** True once there was a reader. */
  get isRead(): boolean {
    return this.#isRead
  }

  push(message: Message): void {
    this.#messages.push(message)
    this.#waiting.shift()?.()
  }

  /** Nothing more comes; readers fail with the error when there is one, after what is left. */
  end(error?: unknown): void {
    this.#end ??= error === undefined ? {} : { error }
    for (const wake of this.#waiting.splice(0)) wake()
  }

  /** Each message goes to one reader. */
  async *read(): AsyncGenerator<Message, void> {
    this.#isRead = true
    for (;;) {
      const message = this.#messages.shift()
      if (message !== undefined) yield message
      else if (!this.#end) await new Promise<void>((resolve) => this.#waiting.push(resolve))
      else if ('error' in this.#end) throw this.#end.error
      else return
    }
  }
}
