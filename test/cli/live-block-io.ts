/** Streams with a terminal that remembers what is written to it. */
import { PassThrough, Writable } from 'node:stream'
import type { Io } from '../../src/cli/io.ts'

export function blockIo(isTTY: boolean): { readonly io: Io; written(): string } {
  let text = ''
  const stderr = new Writable({
    write(chunk, _encoding, done) {
      text += String(chunk)
      done()
    },
  })
  const io: Io = {
    stdin: new PassThrough().end(),
    stdout: new PassThrough(),
    stderr: Object.assign(stderr, { isTTY, columns: 80, rows: 24 }),
    env: { TERM: 'xterm' },
    signal: new AbortController().signal,
  }
  return { io, written: () => text }
}
