/** Names that stand twice in one object. `JSON.parse` keeps the last one and says nothing. */
import { pointer } from '../stac/json.ts'
import { scan } from '../stac/json-scan.ts'

/** A repeated name; `pointer` is that of its value. */
export interface DuplicateKey {
  readonly pointer: string
  readonly name: string
}

/**
 * True when the text may hold a name twice. A parsed document of `members` members and `strings` string values must have
 * come from two quotes for each; a name that was overwritten leaves more. An escaped quote does so too: then look closer.
 */
export function mayRepeat(text: string, members: number, strings: number): boolean {
  let quotes = 0
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at + 1)) quotes++
  return quotes !== 2 * (members + strings)
}

/** Every name that is repeated, once each. The text must be JSON. */
export function duplicateKeys(text: string): readonly DuplicateKey[] {
  const seen: Set<string>[] = []
  const found = new Map<string, DuplicateKey>()
  let before = 0
  scan(text, {
    member(path) {
      const depth = path.length
      if (depth > before) seen[depth] = new Set()
      before = depth
      const name = String(path[depth - 1])
      const names = (seen[depth] ??= new Set())
      if (names.has(name)) found.set(pointer('', ...path), { pointer: pointer('', ...path), name })
      names.add(name)
    },
    value(path) {
      before = Math.min(before, path.length)
    },
  })
  return [...found.values()]
}
