/** Suggests the probable spelling of a misspelt word. */

/** Longer words are not compared, to limit the cost. */
const LONGEST = 64

/**
 * Returns the candidate that the word probably means, else undefined: equal except for case and separators, one edit away (two from nine
 * characters on), or listed as an alias. Returns undefined for a word that is a candidate itself.
 */
export function nearMiss(word: string, candidates: Iterable<string>, aliases: Readonly<Record<string, string>> = {}): string | undefined {
  if (Object.hasOwn(aliases, word)) return aliases[word]
  if (word.length > LONGEST) return undefined
  const plain = normalise(word)
  const allowed = word.length >= 9 ? 2 : 1
  let close: string | undefined
  for (const candidate of candidates) {
    if (candidate === word) return undefined
    if (normalise(candidate) === plain) return candidate
    if (close === undefined && within(word.toLowerCase(), candidate.toLowerCase(), allowed)) close = candidate
  }
  return close
}

function normalise(word: string): string {
  return word.toLowerCase().replace(/[-_. ]/g, '')
}

/** Returns the Damerau-Levenshtein distance (with adjacent transpositions) up to a limit. */
function within(one: string, other: string, limit: number): boolean {
  if (one === '' || Math.abs(one.length - other.length) > limit) return false
  let before: number[] = []
  let last = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let i = 1; i <= one.length; i++) {
    const row = [i]
    for (let j = 1; j <= other.length; j++) {
      const cost = one[i - 1] === other[j - 1] ? 0 : 1
      let least = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + cost)
      if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]) least = Math.min(least, (before[j - 2] ?? 0) + 1)
      row.push(least)
    }
    before = last
    last = row
  }
  return (last[other.length] ?? 0) <= limit
}
