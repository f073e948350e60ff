/** A list of names and values, in order and with duplicates. */
export type Pairs = readonly (readonly [name: string, value: string])[]

/**
 * Reads `application/x-www-form-urlencoded` text and refuses what lenient readers guess at.
 *
 * Throws a `SyntaxError` for a lonely percent sign, bytes that are no UTF-8, raw blanks, control characters and
 * characters beyond ASCII, and for an empty piece between two ampersands.
 */
export function formPairs(text: string): Pairs {
  if (text === '') return []
  if (/[^\x21-\x7e]/.test(text)) throw new SyntaxError('a raw blank, control character or character beyond ASCII')
  return text.split('&').map((piece) => {
    if (piece === '') throw new SyntaxError('an empty piece')
    const equals = piece.indexOf('=')
    return equals < 0 ? ([decoded(piece), ''] as const) : ([decoded(piece.slice(0, equals)), decoded(piece.slice(equals + 1))] as const)
  })
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw new SyntaxError('percent-encoding that is no UTF-8')
  }
}
