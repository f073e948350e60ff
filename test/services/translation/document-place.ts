/** Documents of tests, and where they lie. */
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { DocumentParams } from '../../../src/services/translation/document-upload.ts'
import { temporaryFolder } from '../../cli/folder.ts'

export const HELLO = new TextEncoder().encode('Hello')
export const TXT: DocumentParams = { target_lang: 'DE', filename: 'a.txt' }

/** An empty folder with a document in it. */
export async function place() {
  const path = await temporaryFolder()
  await writeFile(join(path, 'a.txt'), 'Hello')
  return { source: { path: join(path, 'a.txt') }, sink: { path: join(path, 'a.de.txt') }, files: () => readdir(path) }
}

/** A document that can be read once. */
export async function* stream() {
  yield HELLO.subarray(0, 2)
  yield HELLO.subarray(2)
}
