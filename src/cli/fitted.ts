/** Text that must fit. */

/** As many parts as fit into the width, those of the lowest rank first, in the order in which they are given. */
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

/** The text, or its end behind a sign that something is missing: the end of a path says most. */
export function shortened(text: string, width: number, sign: string): string {
  if (widthOf(text) <= width) return text
  const characters = [...text]
  while (characters.length > 0 && widthOf(sign) + widthOf(characters.join('')) > width) characters.shift()
  return sign + characters.join('')
}

/** Columns that a text takes at most: what is not Latin, Greek or Cyrillic may take two. */
export function widthOf(text: string): number {
  let width = 0
  for (const character of text) width += /[\0-\u052f\u2010-\u2027\u2580-\u259f]/.test(character) ? 1 : 2
  return width
}
