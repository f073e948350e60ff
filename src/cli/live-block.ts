/** Lines at the end of a terminal that are redrawn in place, and text that fits its width. */
import type { Io, Output } from './io.ts'
import { isColoured } from './io.ts'

/**
 * Lines at the end of a terminal that are redrawn in place. With `NO_COLOR` only the first line is shown; without a terminal, and with
 * `TERM=dumb`, nothing.
 */
export class LiveBlock {
  readonly isOn: boolean
  readonly #stream: Output
  readonly #isPlain: boolean
  #shown: readonly string[] = []

  constructor(io: Pick<Io, 'env' | 'stderr'>) {
    this.#stream = io.stderr
    this.isOn = io.stderr.isTTY === true && io.env.TERM !== 'dumb'
    this.#isPlain = !isColoured(io, io.stderr)
  }

  /** Characters per line without a line break. */
  get width(): number {
    return Math.max(20, (this.#stream.columns || 80) - 1)
  }

  /** Lines that fit on the screen, minus one. */
  get height(): number {
    return this.#isPlain ? 1 : Math.max(1, (this.#stream.rows || 24) - 1)
  }

  /** Replaces the lines; each must fit the width. */
  show(lines: readonly string[]): void {
    if (!this.isOn) return
    const shown = lines.slice(0, this.height)
    this.#stream.write(this.#isPlain ? this.#over(shown) : `${this.#back()}${shown.map((line) => `${line}\x1b[K`).join('\n')}\x1b[J`)
    this.#shown = shown
  }

  /** Removes the lines. */
  clear(): void {
    if (this.#shown.length === 0) return
    this.#stream.write(this.#isPlain ? `${this.#over([''])}\r` : `${this.#back()}\x1b[J`)
    this.#shown = []
  }

  /** Moves the cursor to the start of the first line. */
  #back(): string {
    const up = this.#shown.length - 1
    return up > 0 ? `\r\x1b[${up}A` : '\r'
  }

  #over([line = '']: readonly string[]): string {
    return `\r${line.padEnd(this.#shown[0]?.length ?? 0)}`
  }
}

/** Joins the parts that fit the width, in their order; parts with a low rank are kept first. */
export function fitted(parts: readonly { readonly text: string; readonly rank: number }[], width: number): string {
  const kept = new Set<object>()
  let room = width + GAP.length
  for (const part of [...parts].sort((one, other) => one.rank - other.rank)) {
    const needed = widthOf(part.text) + GAP.length
    if (part.text === '' || needed > room) continue
    kept.add(part)
    room -= needed
  }
  return parts.flatMap((part) => (kept.has(part) ? [part.text] : [])).join(GAP)
}

const GAP = '  '

/** Cuts a text at its start to fit the width, because the end of a path matters most. */
export function shortened(text: string, width: number, sign: string): string {
  if (widthOf(text) <= width) return text
  const characters = [...text]
  while (characters.length > 0 && widthOf(sign) + widthOf(characters.join('')) > width) characters.shift()
  return sign + characters.join('')
}

/** Returns the maximum columns of a text: characters other than Latin, Greek and Cyrillic count two. */
export function widthOf(text: string): number {
  let width = 0
  for (const character of text) width += /[\0-\u052f\u2010-\u2027\u2580-\u259f]/.test(character) ? 1 : 2
  return width
}
