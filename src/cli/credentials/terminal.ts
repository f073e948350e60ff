/** Asks questions at a terminal; secrets without echo. */

import { StringDecoder } from 'node:string_decoder'
import { AbortedError } from '../../errors.ts'
import { type Io, write } from '../io.ts'

/** Returns true if stdin and stderr are a terminal and `TERM` is not `dumb`. */
export function isTerminal({ stdin, stderr, env }: Io): boolean {
  return stdin.isTTY === true && stderr.isTTY === true && env.TERM !== 'dumb'
}

/** Says where questions are asked, for errors. */
export function atTerminal({ stdin, stderr, env }: Io): string {
  return stdin.isTTY && stderr.isTTY && env.TERM === 'dumb' ? 'at a terminal, and TERM is dumb here' : 'at a terminal'
}

/** The decoder's character for bytes that are not UTF-8. */
const REPLACEMENT = '\ufffd'

const NOT_UTF8 = '  the terminal did not send UTF-8: set its encoding to UTF-8, and type it again\n'

/** Marks at both ends of pasted text, in a terminal that another program left in that mode. */
const PASTE = /\x1b\[20[01]~/g

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

  /**
   * Returns the answer, trimmed; asks again for one with arrow keys or bytes that are not UTF-8. Errors: `ABORTED` at the end of the input
   * and on an interruption.
   */
  async ask(question: string): Promise<string> {
    for (;;) {
      await this.say(question)
      let answer: string
      try {
        answer = (await this.#line(LINE_BREAK)).replace(PASTE, '').trim()
      } catch (error) {
        // The next message starts on a line of its own.
        await this.say('\n')
        throw error
      }
      if (answer.includes(REPLACEMENT)) await this.say(NOT_UTF8)
      else if (/[^\P{Cc}\t]/u.test(answer)) await this.say('  the answer contains a control character or an arrow key: type it again\n')
      else return answer
    }
  }

  /**
   * Returns the answer, trimmed, without echo; asks again for one that is not UTF-8. Errors: as {@link ask}; `ABORTED` for Ctrl-C and Ctrl-D.
   */
  async askHidden(question: string): Promise<string> {
    for (;;) {
      const typed = await this.#hidden(question)
      const answer = typed.trim()
      if (answer.includes(REPLACEMENT)) {
        await this.say(NOT_UTF8)
        continue
      }
      if (answer !== typed) await this.say('  spaces at the ends are removed\n')
      return answer
    }
  }

  async #hidden(question: string): Promise<string> {
    const { stdin } = this.#io
    // Before the question, so that nothing is echoed that is typed after it.
    stdin.setRawMode?.(true)
    try {
      await this.say(question)
      return edited(await this.#line(stdin.setRawMode ? /\r\n|[\n\r\x03\x04]/ : LINE_BREAK))
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

/** Applies Backspace, Ctrl-U and Ctrl-W to a line that was typed in raw mode, and drops the sequences of other keys. */
function edited(line: string): string {
  const kept: string[] = []
  for (const character of line.replace(KEYS, '')) {
    if (character === '\x7f' || character === '\b') kept.pop()
    else if (character === '\x15') kept.length = 0
    else if (character === '\x17') kept.splice(0, Number.POSITIVE_INFINITY, ...kept.join('').replace(/\S*\s*$/, ''))
    else if (character >= ' ' || character === '\t') kept.push(character)
  }
  return kept.join('')
}
