/** Returns the length of a text in UTF-8 bytes without encoding it. */
export function utf8Length(text: string): number {
  let length = text.length
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 0x80) continue
    // A surrogate pair is 4 bytes for 2 units; a lone surrogate becomes U+FFFD, which has 3.
    if (code >= 0xd800 && code < 0xdc00 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) {
      length += 2
      at++
    } else length += code < 0x800 ? 1 : 2
  }
  return length
}
