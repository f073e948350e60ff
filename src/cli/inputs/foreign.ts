/** Files below a folder that are no STAC documents, such as the settings of other programs. */
import { claimsStac } from '../../stac/recognition.ts'
import type { Piece } from './pieces.ts'

/**
 * True for a piece that claims nothing of STAC: it is not judged when nobody has named its file. What cannot be read is judged, for it
 * may have been a document, unless it is JSON with comments.
 */
export function isForeign({ task: { text, value }, oversized }: Piece): boolean {
  if (oversized) return false
  if (text === undefined) return !claimsStac(value)
  if (isPlainlyStac(text)) return false
  const read = parsed(typeof text === 'string' ? text : new TextDecoder().decode(text))
  return read !== undefined && !claimsStac(read.value)
}

/** Nearly all files of a catalog; looked for in the bytes, because they will be parsed by the linter. */
function isPlainlyStac(text: string | Uint8Array): boolean {
  const start =
    typeof text === 'string' ? text : Buffer.from(text.buffer, text.byteOffset, Math.min(text.byteLength, START)).toString('latin1')
  return START_OF_STAC.test(start)
}

const START = 256

/** An object that begins with its type and its version, in this or that order. */
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

/** JSON with comments, as editors and compilers have it in their settings, as JSON. */
function withoutComments(text: string): string {
  return text.replace(/("(?:[^"\\]|\\.)*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, '$1').replace(/("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])/g, '$1')
}
