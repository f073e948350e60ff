import { createHash } from 'node:crypto'
import type { Identity } from '../../auth/strategy.ts'

/** SHA-256, in hex, of a scheme's canonical tuple as RFC 8785 JSON: names sorted, no blanks, texts as ECMAScript writes them. */
export function fingerprintOf(type: string, identity: Identity): string {
  const members = new Map([['type', type], ...identity.map(({ name, value }) => [name, value] as const)])
  const sorted = [...members].sort(([one], [other]) => (one < other ? -1 : 1))
  const json = `{${sorted.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`
  return createHash('sha256').update(json).digest('hex')
}
