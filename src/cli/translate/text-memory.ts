/** Translations that were paid for, by their texts: the file of `--memory`, and the finished part of a resume record. */

import { createHash } from 'node:crypto'
import { ConfigurationError, IntegrityError } from '../../errors.ts'
import { readRegularFile } from '../../node/base/index.ts'
import type { TranslateParams } from '../../services/translation/translate-text.ts'
import { isObject, own } from '../../stac/document.ts'
import { replacePrivateFile } from '../credentials/edit-credentials.ts'
import { jsonIn } from '../read-document.ts'

/** Translations by {@link memoryKey}, the oldest first: the text, and the language that was detected. */
export type TextMemory = Map<string, readonly [text: string, language: string]>

/** Returns the key of a text: a hash of it, of the service, and of all parameters, because each changes the translation. */
export function memoryKey(service: string, { target_lang, source_lang, ...params }: TranslateParams, text: string): string {
  const others = Object.entries(params).sort(([one], [other]) => (one < other ? -1 : 1))
  return hashOf(JSON.stringify([service, source_lang?.toLowerCase() ?? null, target_lang.toLowerCase(), others, text]))
}

/** Returns the SHA-256 of a text or file as base64url. */
export function hashOf(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('base64url')
}

/** Returns the translations in a parsed file; undefined if they are malformed. */
export function memoryIn(texts: unknown): TextMemory | undefined {
  const entries = isObject(texts) ? Object.entries(texts) : undefined
  const isValid = entries?.every(([, one]) => Array.isArray(one) && one.length === 2 && one.every((word) => typeof word === 'string'))
  return isValid ? new Map(entries as [string, readonly [string, string]][]) : undefined
}

/** Largest file in bytes; the oldest translations are dropped. */
const LARGEST = 32 * 1024 * 1024

/** Reads the file of `--memory`; a missing or empty one has no translations. Errors: `CONFIG_INVALID` for another file, `FILE_ACCESS`. */
export async function readMemory(file: string): Promise<TextMemory> {
  const read = await readRegularFile(file, 2 * LARGEST)
  if ('problem' in read) {
    if (read.problem === 'does not exist') return new Map()
    throw new IntegrityError('FILE_ACCESS', `cannot read the memory "${file}": it ${read.problem}`)
  }
  if (read.bytes.length === 0) return new Map()
  const parsed = jsonIn(read.bytes)
  const texts = own(parsed, 'version') === 1 ? memoryIn(own(parsed, 'texts')) : undefined
  if (texts) return texts
  const hint = 'name another file, or remove this one: its translations are then paid for again'
  throw new ConfigurationError('CONFIG_INVALID', `"${file}" is not a memory of translations, or it is damaged; nothing was sent`, { hint })
}

/** Adds translations to the file of `--memory`, readable by its owner only. Errors: those of {@link readMemory} and of the file system. */
export function addToMemory(file: string, added: TextMemory): Promise<void> {
  return replacePrivateFile(file, async () => {
    const all = await readMemory(file)
    for (const [key, translation] of added) {
      all.delete(key)
      all.set(key, translation)
    }
    return memoryText(all)
  })
}

function memoryText(all: TextMemory): string {
  const lines = [...all].map(([key, translation]) => `${JSON.stringify(key)}:${JSON.stringify(translation)}`)
  let size = 0
  const kept = lines.reverse().filter((line) => (size += Buffer.byteLength(line) + 2) < LARGEST)
  return `{"version":1,"texts":{\n${kept.reverse().join(',\n')}\n}}\n`
}
