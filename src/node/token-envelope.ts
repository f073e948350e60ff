import { isObject } from '../stac/json.ts'

/** What a file of the token store holds besides its version and key. */
export interface TokenEnvelope {
  /** The token set; absent when only the keyring has it. */
  readonly text?: string
  /** The keyring has, or may have, a token set of that key. */
  readonly keyring?: true
}

const VERSION = 1

/** The content of a file. */
export function formatEnvelope(key: string, { text, keyring }: TokenEnvelope): string {
  return `${JSON.stringify({ version: VERSION, key, keyring, text })}\n`
}

/** The file's content; undefined when it is cut, damaged, of another version or for another key. */
export function parseEnvelope(bytes: Uint8Array, key: string): TokenEnvelope | undefined {
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes))
  } catch {
    return undefined
  }
  if (!isObject(value) || value.version !== VERSION || value.key !== key) return undefined
  const { text, keyring } = value
  if (keyring !== undefined && keyring !== true) return undefined
  if (text === undefined ? !keyring : typeof text !== 'string') return undefined
  return { ...(typeof text === 'string' && { text }), ...(keyring && { keyring }) }
}
