/** Asks questions at a terminal; secrets without echo. */

import { StringDecoder } from 'node:string_decoder'
import { AbortedError } from '../../errors.ts'
import { type Io, write } from '../io.ts'

/** Returns true if stdin and stderr are a terminal and `TERM` is not `dumb`. */
export function isTerminal({ stdin, stderr, env }: Io): boolean {
  return stdin.isTTY === true && stderr.isTTY === true && env.TERM !== 'dumb'
}

const LINE_BREAK = /\r\n|\n|\r/

/** Ctrl-C and Ctrl-D, which a terminal in raw mode passes on as characters. */
const INTERRUPTS = /[\x03\x04]/

/** Asks questions at the terminal. It reads stdin only while a question is open. */
export class Terminal {
  readonly #io: Io
  readonly #decoder = new StringDecoder('utf8')
  #text = ''
  #ended = false

  constructor(io: Io) {
    this.#io = io
  }

  /** Returns the answer, trimmed. Errors: `ABORTED` at the end of the input and on an interruption. */
  async ask(question: string): Promise<string> {
    await this.say(question)
    try {
      return (await this.#line(LINE_BREAK)).trim()
    } catch (error) {
      // The next message starts on a line of its own.
      await this.say('\n')
      throw error
    }
  }

  /** Returns the answer, trimmed, without echo. Errors: as {@link ask}; `ABORTED` for Ctrl-C and Ctrl-D. */
  async askHidden(question: string): Promise<string> {
    const { stdin } = this.#io
    // Before the question, so that nothing is echoed that is typed after it.
    stdin.setRawMode?.(true)
    try {
      await this.say(question)
      return edited(await this.#line(stdin.setRawMode ? /\r\n|[\n\r\x03\x04]/ : LINE_BREAK)).trim()
    } finally {
      stdin.setRawMode?.(false)
      await this.say('\n')
    }
  }

  /** Writes a text, which must be escaped already. */
  say(text: string): Promise<void> {
    return write(this.#io.stderr, text)
  }

  /** Returns true only for "yes"; shows `details` on request. */
  async agrees(question: string, details: string): Promise<boolean> {
    for (;;) {
      const answer = (await this.ask(`${question}  [y]es / [N]o / [d]etails `)).toLowerCase()
      if (answer !== 'd' && answer !== 'details') return answer === 'y' || answer === 'yes'
      await this.say(details)
    }
  }

  async #line(end: RegExp): Promise<string> {
    for (;;) {
      const found = end.exec(this.#text)
      if (found) {
        const line = this.#text.slice(0, found.index)
        this.#text = this.#text.slice(found.index + found[0].length)
        if (INTERRUPTS.test(found[0])) throw new AbortedError('interrupted at a prompt')
        return line
      }
      if (this.#ended) return this.#rest()
      await this.#more()
    }
  }

  /** Returns the last line, which has no line break. Errors: `ABORTED` if there is none. */
  async #rest(): Promise<string> {
    const line = this.#text
    this.#text = ''
    if (line !== '') return line
    throw new AbortedError('the input ended at a prompt')
  }

  /** Waits for more input, or its end. Errors: `ABORTED`. */
  #more(): Promise<void> {
    const { stdin, signal } = this.#io
    return new Promise((resolve, reject) => {
      const done = () => {
        stdin.off('data', take).off('end', finish).off('error', finish)
        signal.removeEventListener('abort', leave)
        stdin.pause()
      }
      const take = (chunk: Buffer | string) => {
        this.#text += typeof chunk === 'string' ? chunk : this.#decoder.write(chunk)
        done()
        resolve()
      }
      const finish = () => {
        this.#ended = true
        done()
        resolve()
      }
      const leave = () => {
        done()
        reject(new AbortedError(signal.reason))
      }
      if (signal.aborted) return leave()
      if (stdin.readableEnded || stdin.destroyed) return finish()
      signal.addEventListener('abort', leave, { once: true })
      stdin.on('data', take).once('end', finish).once('error', finish)
      stdin.resume()
    })
  }
}

/** Control sequences of keys such as arrows, and of pasted text. */
const KEYS = /\x1b(?:\[[0-9;?]*[ -/]*[@-~]|O.|.)/g

/** Applies Backspace and Ctrl-U to a line that was typed in raw mode, and drops the sequences of other keys. */
function edited(line: string): string {
  const kept: string[] = []
  for (const character of line.replace(KEYS, '')) {
    if (character === '\x7f' || character === '\b') kept.pop()
    else if (character === '\x15') kept.length = 0
    else if (character >= ' ') kept.push(character)
  }
  return kept.join('')
}
