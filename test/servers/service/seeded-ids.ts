/** Identifiers of a service: random to look at, the same in every run. */
export interface SeededIds {
  /** Lower case. */
  hex(digits: number): string
  uuid(): string
}

/** The same seed gives the same identifiers in the same order. */
export function seededIds(seed = 1): SeededIds {
  let state = seed >>> 0
  // Mulberry32: 32 bits of state are enough for names in a test.
  const word = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
  const hex = (digits: number) => {
    let text = ''
    while (text.length < digits) text += word().toString(16).padStart(8, '0')
    return text.slice(0, digits)
  }
  const uuid = () => {
    const text = hex(31)
    return `${text.slice(0, 8)}-${text.slice(8, 12)}-4${text.slice(12, 15)}-a${text.slice(15, 18)}-${text.slice(18, 30)}`
  }
  return { hex, uuid }
}
