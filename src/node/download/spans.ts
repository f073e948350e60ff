/** From the first byte up to, not including, the second one. */
export type Span = readonly [start: number, end: number]

/** Which bytes of a file are there. */
export class Spans {
  /** In order, never touching each other. */
  #spans: Span[] = []

  constructor(spans: Iterable<Span> = []) {
    for (const [start, end] of spans) this.add(start, end)
  }

  /** How many bytes. */
  get total(): number {
    return this.#spans.reduce((sum, [start, end]) => sum + end - start, 0)
  }

  /** How many from the beginning without a gap. */
  get prefix(): number {
    const [first] = this.#spans
    return first?.[0] === 0 ? first[1] : 0
  }

  add(start: number, end: number): void {
    if (start >= end) return
    const last = this.#spans.at(-1)
    if (last && last[1] === start) {
      this.#spans[this.#spans.length - 1] = [last[0], end]
      return
    }
    const apart = this.#spans.filter((span) => span[1] < start || span[0] > end)
    const touching = this.#spans.filter((span) => !(span[1] < start || span[0] > end))
    const merged: Span = [Math.min(start, ...touching.map(([from]) => from)), Math.max(end, ...touching.map(([, to]) => to))]
    this.#spans = [...apart, merged].sort(([one], [other]) => one - other)
  }

  /** The gaps within that many bytes. */
  missing(size: number): readonly Span[] {
    const gaps: Span[] = []
    let at = 0
    for (const [start, end] of this.#spans) {
      if (start > at) gaps.push([at, Math.min(start, size)])
      at = Math.max(at, end)
    }
    if (at < size) gaps.push([at, size])
    return gaps
  }

  /** Only what lies within that many bytes. */
  within(size: number): Spans {
    return new Spans(this.#spans.flatMap(([start, end]): Span[] => (start < size ? [[start, Math.min(end, size)]] : [])))
  }

  toJSON(): readonly Span[] {
    return this.#spans
  }
}
