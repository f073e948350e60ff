/** Characters that are mapped to a space (RFC 3454 table C.1.2). */
const SPACE = /[\u00a0\u1680\u2000-\u200b\u202f\u205f\u3000]/g

/** Characters that are removed (table B.1). */
const NOTHING = /\u00ad|\u034f|\u1806|[\u180b-\u180d]|[\u200c\u200d]|\u2060|[\ufe00-\ufe0f]|\ufeff/g

/** Prohibited characters, tables C.1.2 and C.2.1 to C.9: other spaces, controls, private use, surrogates, tagging characters. */
const PROHIBITED = new RegExp(
  '[\\0-\\x1f\\x7f-\\xa0\\u0340\\u0341\\u06dd\\u070f\\u1680\\u180e\\u2000-\\u200f\\u2028-\\u202f\\u205f-\\u2063\\u206a-\\u206f' +
    '\\u2ff0-\\u2ffb\\u3000\\ud800-\\uf8ff\\ufeff\\ufff9-\\uffff\\u{1d173}-\\u{1d17a}\\u{e0001}\\u{e0020}-\\u{e007f}' +
    '\\u{f0000}-\\u{10ffff}\\p{Noncharacter_Code_Point}]',
  'u',
)

/** Right-to-left characters (table D.1). */
const RIGHT_TO_LEFT = new RegExp(
  '[\\u05be\\u05c0\\u05c3\\u05d0-\\u05ea\\u05f0-\\u05f4\\u061b\\u061f\\u0621-\\u063a\\u0640-\\u064a\\u066d-\\u066f\\u0671-\\u06d5' +
    '\\u06dd\\u06e5\\u06e6\\u06fa-\\u06fe\\u0700-\\u070d\\u0710\\u0712-\\u072c\\u0780-\\u07a5\\u07b1\\u200f\\ufb1d\\ufb1f-\\ufb28' +
    '\\ufb2a-\\ufb36\\ufb38-\\ufb3c\\ufb3e\\ufb40\\ufb41\\ufb43\\ufb44\\ufb46-\\ufbb1\\ufbd3-\\ufd3d\\ufd50-\\ufd8f\\ufd92-\\ufdc7' +
    '\\ufdf0-\\ufdfc\\ufe70-\\ufe74\\ufe76-\\ufefc]',
  'u',
)

/** Letters of any direction; without those of D.1 they represent table D.2. */
const LETTER = /[\p{L}\p{Mc}\p{Nl}]/u

/**
 * Prepares a user name or password with SASLprep (RFC 4013). Returns undefined for text that the profile prohibits, or that becomes empty.
 * Characters added after Unicode 3.2 pass: the tables do not contain them, and servers differ about them.
 */
export function saslprep(text: string): string | undefined {
  const prepared = text.replace(SPACE, ' ').replace(NOTHING, '').normalize('NFKC')
  return prepared === '' || PROHIBITED.test(prepared) || !isOneWay(prepared) ? undefined : prepared
}

/** Returns true for valid bidirectional text: text with right-to-left letters has no others, and starts and ends with one (RFC 3454 §6). */
function isOneWay(text: string): boolean {
  const characters = [...text]
  const isRight = (character = '') => RIGHT_TO_LEFT.test(character)
  if (!characters.some(isRight)) return true
  const others = characters.some((character) => !isRight(character) && LETTER.test(character))
  return !others && isRight(characters[0]) && isRight(characters.at(-1))
}
