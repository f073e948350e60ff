/** Quotes a text as one argument for POSIX shells, in single quotes. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** Quotes a text for a shell only where it needs that, for commands in messages, which people paste. */
export function commandWord(text: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(text) ? text : shellWord(text)
}

/**
 * Splits a command line into its words as a shell does with quotes and backslashes, without variables, patterns and other expansions.
 * Returns undefined if a quote is not closed.
 */
export function shellWords(line: string): readonly string[] | undefined {
  const words: string[] = []
  let word: string | undefined
  for (let at = 0; at < line.length; at++) {
    const character = line.charAt(at)
    if (character === "'" || character === '"') {
      const end = closing(line, at, character)
      if (end === undefined) return undefined
      const inner = line.slice(at + 1, end)
      word = (word ?? '') + (character === '"' ? inner.replace(/\\(["\\$`])/g, '$1') : inner)
      at = end
    } else if (/\s/.test(character)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else if (character === '\\' && at + 1 < line.length) word = (word ?? '') + line.charAt(++at)
    else word = (word ?? '') + character
  }
  return word === undefined ? words : [...words, word]
}

/** Returns the index of the quote that ends the text at `start`. */
function closing(line: string, start: number, quote: string): number | undefined {
  for (let at = start + 1; at < line.length; at++) {
    if (line.charAt(at) === quote) return at
    if (line.charAt(at) === '\\' && quote === '"') at++
  }
  return undefined
}
