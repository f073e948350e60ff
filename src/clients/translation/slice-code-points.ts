/** A half-open range of code points: the first, and the one behind the last. */
export type CodePointSpan = readonly [start: number, end: number]

/**
 * The part of a text between two code points: spans of an evaluation do not count the halves of surrogate pairs.
 *
 * @example sliceCodePoints('Na 😀 du', [3, 4]) // '😀'
 */
export function sliceCodePoints(text: string, [start, end]: CodePointSpan): string {
  const from = unitsBefore(text, start)
  return text.slice(from, from + unitsBefore(text.slice(from), end - start))
}

/** Code units of that many code points; all there are when there are fewer. */
function unitsBefore(text: string, points: number): number {
  let at = 0
  for (let left = points; left > 0 && at < text.length; left--) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1
  return at
}
