/** The person at the terminal, one line at a time. */
import { createInterface, type Interface } from 'node:readline'
import { AbortedError } from '../../errors.ts'
import { type Io, write } from '../io.ts'

/** True when questions can be asked: input and stderr are a terminal that is more than a printer. */
export function isTerminal({ stdin, stderr, env }: Io): boolean {
  return stdin.isTTY === true && stderr.isTTY === true && env.TERM !== 'dumb'
}

/** Asks for lines. Whoever makes it closes it: it keeps the input. */
export class Terminal {
  readonly #io: Io
  readonly #reader: Interface
  readonly #lines: AsyncIterator<string>

  constructor(io: Io) {
    this.#io = io
    // The terminal itself echoes and edits: nothing of ours moves the cursor.
    this.#reader = createInterface({ input: io.stdin, terminal: false })
    this.#lines = this.#reader[Symbol.asyncIterator]()
  }

  /** The line that is typed, without blanks around it. Errors: `ABORTED` at the end of the input. */
  async ask(question: string): Promise<string> {
    await this.say(question)
    const { value, done } = await this.#lines.next()
    if (!done) return value.trim()
    await this.say('\n')
    throw new AbortedError('the prompt was left')
  }

  /** Shows a text that is safe to show. */
  say(text: string): Promise<void> {
    return write(this.#io.stderr, text)
  }

  /** True for yes, and for nothing else; `details` are shown when they are asked for, as often as that is. */
  async agrees(question: string, details: string): Promise<boolean> {
    for (;;) {
      const answer = (await this.ask(`${question}  [y]es / [N]o / [d]etails `)).toLowerCase()
      if (answer !== 'd' && answer !== 'details') return answer === 'y' || answer === 'yes'
      await this.say(details)
    }
  }

  close(): void {
    this.#reader.close()
  }
}
