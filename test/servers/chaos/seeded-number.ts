/** A number from 0 up to, not including, 1 that depends on the seed and the names alone, not on the order of asking. */
export function seededNumber(seed: number, ...names: readonly (string | number)[]): number {
  let state = (seed ^ 0x811c9dc5) >>> 0
  const text = names.join('\0')
  // FNV-1a gathers the names, the end of Mulberry32 spreads them.
  for (let at = 0; at < text.length; at++) state = Math.imul(state ^ text.charCodeAt(at), 0x01000193) >>> 0
  state = (state + 0x6d2b79f5) >>> 0
  let mixed = Math.imul(state ^ (state >>> 15), state | 1)
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
}
