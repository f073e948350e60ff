import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import type { ReadStream, WriteStream } from 'node:tty'
import { AbortedError } from '../errors.ts'
import { sourceError } from './secret-text.ts'

/** The terminal that is asked. */
export interface Terminal {
  readonly input: NodeJS.ReadableStream & Pick<ReadStream, 'isTTY'>
  readonly output: NodeJS.WritableStream & Pick<WriteStream, 'isTTY'>
}

/** There is one terminal: questions wait for each other. */
let last: Promise<unknown> = Promise.resolve()

/**
 * Asks for a secret at the terminal; nothing that is typed is shown.
 *
 * Errors: `CREDENTIAL_SOURCE` where input or stderr is no terminal, `ABORTED` for Ctrl-C and Ctrl-D.
 */
export function promptSecret(label: string, terminal: Terminal = { input: process.stdin, output: process.stderr }): Promise<string> {
  const answer = last.then(() => ask(label, terminal))
  last = answer.catch(() => {})
  return answer
}

async function ask(label: string, { input, output }: Terminal): Promise<string> {
  if (!input.isTTY || !output.isTTY) {
    throw sourceError(
      `"${label}" can only be asked for at a terminal`,
      'use the source env, file, command or keyring in programs without one',
    )
  }
  output.write(`${printable(label)}: `)
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input, output: silent, terminal: true, historySize: 0 })
  try {
    return await new Promise<string>((resolve, reject) => {
      lines.once('line', resolve)
      lines.once('SIGINT', () => reject(new AbortedError('interrupted at the prompt')))
      lines.once('close', () => reject(new AbortedError('the prompt was left')))
    })
  } finally {
    lines.close()
    output.write('\n')
  }
}

/** A label comes from the user's own file, yet it must not move the cursor. */
function printable(label: string): string {
  return label.replace(/[\p{Cc}\p{Cf}]/gu, '')
}
