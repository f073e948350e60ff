/** Recognizes files in folders that are not STAC documents, such as settings of other programs. */
import { claimsStac } from '../../stac/document.ts'
import type { Piece } from './pieces.ts'

/**
 * Returns true for a piece that is not STAC; it is skipped unless the user named its file. Malformed JSON is linted, because it may be
 * a damaged document, unless it is JSON with comments.
 */
export function isForeign({ task: { text, value }, oversized }: Piece): boolean {
  if (oversized) return false
  if (text === undefined) return !claimsStac(value)
  if (isPlainlyStac(text)) return false
  const read = parsed(typeof text === 'string' ? text : new TextDecoder().decode(text))
  return read !== undefined && !claimsStac(read.value)
}

/** Recognizes most STAC documents by their first bytes, without parsing. */
function isPlainlyStac(text: string | Uint8Array): boolean {
  const start =
    typeof text === 'string' ? text : Buffer.from(text.buffer, text.byteOffset, Math.min(text.byteLength, START)).toString('latin1')
  return START_OF_STAC.test(start)
}

const START = 256

/** An object that starts with type and version, in any order. */
const START_OF_STAC =
  /^\s*\{\s*(?:"type"\s*:\s*"(?:Feature|Collection|Catalog)"\s*,\s*"stac_version"\s*:\s*"|"stac_version"\s*:\s*"[^"]*"\s*,\s*"type"\s*:\s*"(?:Feature|Collection|Catalog)")/

function parsed(text: string): { readonly value: unknown } | undefined {
  for (const source of [text, withoutComments(text)]) {
    try {
      return { value: JSON.parse(source.replace(/^\ufeff/, '')) }
    } catch {
      // The other one may be JSON.
    }
  }
  return undefined
}

/** Removes comments and trailing commas, as in settings of editors and compilers. */
function withoutComments(text: string): string {
  return text.replace(/("(?:[^"\\]|\\.)*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, '$1').replace(/("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])/g, '$1')
}
