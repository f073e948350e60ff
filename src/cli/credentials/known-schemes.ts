/** The file of confirmed schemes: the fingerprint of each, by document. */

import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import { ConfigurationError, SelectionError } from '../../errors.ts'
import { readRegularFile } from '../../node/files.ts'
import { isObject, type JsonObject, own, ownString } from '../../stac/document.ts'
import { replacePrivateFile } from './edit-credentials.ts'
import { quoted } from './question.ts'

const MAX_BYTES = 16 * 1_048_576

/** Returns the path of the file of confirmed schemes, next to the credential file. */
export function knownSchemesFile(credentialFile: string): string {
  return join(dirname(credentialFile), 'known-schemes.json')
}

/**
 * Accepts a scheme that is new in its document, or that has the fingerprint that the user confirmed.
 *
 * Errors: `SCHEME_CHANGED` with the fingerprints; `CONFIG_INVALID` if the file of confirmed schemes cannot be read.
 */
export async function checkUnchanged(
  file: string,
  { name, pointer }: { readonly name: string; readonly pointer: string },
  document: string,
  fingerprints: readonly string[],
): Promise<void> {
  const known = ownString(own(await read(file), keyOf(document)), name)
  if (known === undefined || fingerprints.includes(known)) return
  throw new SelectionError('SCHEME_CHANGED', `the scheme ${quoted(name)} has changed since you confirmed it for this document`, {
    pointer,
    ref: name,
    url: document,
    expected: known,
    actual: fingerprints.join(', '),
    hint: `if its provider announced the change, remove ${quoted(name)} under "${keyOf(document)}" from ${file}, run the command again and check each URL`,
  })
}

/** Stores the fingerprint of a confirmed scheme. Errors: those of the file system, `CONFIG_INVALID`. */
export function remember(file: string, name: string, document: string, fingerprint: string): Promise<void> {
  return replacePrivateFile(file, async () => {
    const documents = await read(file)
    const known = own(documents, keyOf(document))
    const schemes = withMember(isObject(known) ? known : {}, name, fingerprint)
    return `${JSON.stringify({ version: 1, documents: withMember(documents, keyOf(document), schemes) }, undefined, 2)}\n`
  })
}

/** Returns a copy with the member set; safe for the name `__proto__`. */
function withMember(object: JsonObject, name: string, value: unknown): JsonObject {
  return Object.fromEntries([...Object.entries(object).filter(([other]) => other !== name), [name, value]])
}

/** Returns the key of a document URL, with its query hashed because it may contain signatures and keys. */
function keyOf(document: string): string {
  const [address = '', query] = document.split('#', 1)[0]?.split(/\?(.*)/s, 2) ?? []
  return query === undefined ? address : `${address}?sha256=${createHash('sha256').update(query).digest('hex')}`
}

async function read(file: string): Promise<JsonObject> {
  const found = await readRegularFile(file, MAX_BYTES)
  if (!('bytes' in found)) {
    if (found.problem === 'does not exist') return {}
    throw broken(file, found.problem)
  }
  try {
    const documents = own(JSON.parse(Buffer.from(found.bytes).toString('utf8')), 'documents')
    if (isObject(documents)) return documents
  } catch {
    // The message of the parser would quote the text.
  }
  throw broken(file, 'is damaged')
}

function broken(file: string, problem: string): ConfigurationError {
  return new ConfigurationError('CONFIG_INVALID', `the file of confirmed schemes, ${file}, ${problem}`, {
    hint: 'restore it, or remove it: then changed schemes are no longer detected',
  })
}
