/** Hashes that only have to be the same everywhere; nobody's secret depends on them. */

/** 32 bits of a text: FNV-1a, and a last stir so that texts that differ at their ends do so in all bits. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** `count` of the texts, chosen by the seed alone and in the order in which they came. */
export function sampleOf<T>(things: readonly T[], count: number, seed: number, textOf: (thing: T) => string): readonly T[] {
  if (things.length <= count) return things
  const ranked = things.map((thing, index) => ({ index, rank: hashOf(`${seed} ${textOf(thing)}`) }))
  ranked.sort((one, other) => one.rank - other.rank || one.index - other.index)
  const chosen = new Set(ranked.slice(0, count).map(({ index }) => index))
  return things.filter((_, index) => chosen.has(index))
}
