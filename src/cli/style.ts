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

/** Returns true for a terminal without `TERM=dumb`, and with `FORCE_COLOR` for any stream; never with `NO_COLOR` or `FORCE_COLOR=0`. */
export function isColoured({ env }: Pick<Io, 'env'>, stream: Output): boolean {
  if (env.NO_COLOR || env.FORCE_COLOR === '0' || env.FORCE_COLOR === 'false') return false
  return Boolean(env.FORCE_COLOR) || (stream.isTTY === true && env.TERM !== 'dumb')
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
