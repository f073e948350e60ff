/** Colours and symbols of text for people, or plain ASCII. */
import type { Io, Output } from './io.ts'

export interface Style {
  readonly bold: (text: string) => string
  readonly dim: (text: string) => string
  readonly red: (text: string) => string
  readonly green: (text: string) => string
  readonly yellow: (text: string) => string
  /** True if the locale is UTF-8. */
  readonly unicode: boolean
  /** Marks success. */
  readonly tick: string
  /** Marks failure. */
  readonly cross: string
}

/** Returns true for a terminal without `NO_COLOR` and `TERM=dumb`. */
export function isColoured({ env }: Pick<Io, 'env'>, stream: Output): boolean {
  return stream.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb'
}

/** Returns the style of a stream: colours if {@link isColoured}, Unicode symbols in a UTF-8 locale. */
export function styleOf(io: Pick<Io, 'env'>, stream: Output): Style {
  const { env } = io
  const coloured = isColoured(io, stream)
  const paint = (code: number) => (text: string) => (coloured ? `\x1b[${code}m${text}\x1b[0m` : text)
  const unicode = env.TERM !== 'dumb' && /utf-?8/i.test(env.LC_ALL || env.LC_CTYPE || env.LANG || '')
  const [tick, cross] = unicode ? ['✓', '✗'] : ['+', 'x']
  return { bold: paint(1), dim: paint(2), red: paint(31), green: paint(32), yellow: paint(33), unicode, tick, cross }
}
