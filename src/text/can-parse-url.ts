/**
 * Returns true for text that `new URL(text, base)` parses.
 *
 * `URL.canParse` is wrong in optimized code of Node 20 and 22: it returns false for a host with Latin-1 letters (`https://bücher.example/`).
 */
export function canParseUrl(text: string, base?: string): boolean {
  try {
    return !!new URL(text, base)
  } catch {
    return false
  }
}
