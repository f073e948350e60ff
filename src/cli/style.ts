/** How text for people looks on a stream: colours and signs, or plain ASCII where those would be noise. */
import type { Io, Output } from './io.ts'

export interface Style {
  readonly bold: (text: string) => string
  readonly dim: (text: string) => string
  readonly red: (text: string) => string
  readonly green: (text: string) => string
  readonly yellow: (text: string) => string
  /** True where signs beyond ASCII can be read. */
  readonly unicode: boolean
  /** Marks what works. */
  readonly tick: string
  /** Marks what does not. */
  readonly cross: string
}

/** True for a terminal that wants colours: not with `NO_COLOR`, not when `TERM` is `dumb`. */
export function isColoured({ env }: Pick<Io, 'env'>, stream: Output): boolean {
  return stream.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb'
}

/** Colours only where {@link isColoured}; signs only where the locale is UTF-8. */
export function styleOf(io: Pick<Io, 'env'>, stream: Output): Style {
  const { env } = io
  const coloured = isColoured(io, stream)
  const paint = (code: number) => (text: string) => (coloured ? `\x1b[${code}m${text}\x1b[0m` : text)
  const unicode = env.TERM !== 'dumb' && /utf-?8/i.test(env.LC_ALL || env.LC_CTYPE || env.LANG || '')
  const [tick, cross] = unicode ? ['✓', '✗'] : ['+', 'x']
  return { bold: paint(1), dim: paint(2), red: paint(31), green: paint(32), yellow: paint(33), unicode, tick, cross }
}
