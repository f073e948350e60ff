/** What a user has agreed to: for each document and name of a scheme the fingerprint of what was shown. */
import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import { ConfigurationError, SelectionError } from '../../errors.ts'
import { readRegularFile } from '../../node/regular-file.ts'
import { isObject, type JsonObject, own, ownString } from '../../stac/json.ts'
import { quoted } from './inert.ts'
import { replacePrivateFile } from './private-file.ts'

const MAX_BYTES = 16 * 1_048_576

/** The list stands beside the credential file. */
export function knownSchemesFile(credentialFile: string): string {
  return join(dirname(credentialFile), 'known-schemes.json')
}

/**
 * Passes a scheme that is new in its document, or one of whose `fingerprints` is the one that the user agreed to.
 *
 * Errors: `SCHEME_CHANGED` with the fingerprints; `CONFIG_INVALID` for a list that cannot be read.
 */
export async function checkUnchanged(
  file: string,
  { name, pointer }: { readonly name: string; readonly pointer: string },
  document: string,
  fingerprints: readonly string[],
): Promise<void> {
  const known = ownString(own(await read(file), keyOf(document)), name)
  if (known === undefined || fingerprints.includes(known)) return
  throw new SelectionError('SCHEME_CHANGED', `${quoted(name)} is not what you agreed to when you trusted it in this document`, {
    pointer,
    ref: name,
    url: document,
    expected: known,
    actual: fingerprints.join(', '),
    hint: `if its provider announced the change, remove ${quoted(name)} under "${keyOf(document)}" from ${file} and look closely when you are asked again`,
  })
}

/** Remembers what the user has agreed to. Errors: those of the file system, `CONFIG_INVALID`. */
export function remember(file: string, name: string, document: string, fingerprint: string): Promise<void> {
  return replacePrivateFile(file, async () => {
    const documents = await read(file)
    const known = own(documents, keyOf(document))
    const schemes = withMember(isObject(known) ? known : {}, name, fingerprint)
    return `${JSON.stringify({ version: 1, documents: withMember(documents, keyOf(document), schemes) }, undefined, 2)}\n`
  })
}

/** A name may be `__proto__`: it becomes a member like any other. */
function withMember(object: JsonObject, name: string, value: unknown): JsonObject {
  return Object.fromEntries([...Object.entries(object).filter(([other]) => other !== name), [name, value]])
}

/** Queries can hold signatures and keys: they are told apart and not kept. */
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
    // The platform's own message would quote the text.
  }
  throw broken(file, 'is damaged')
}

function broken(file: string, problem: string): ConfigurationError {
  return new ConfigurationError('CONFIG_INVALID', `the list of schemes that you agreed to, ${file}, ${problem}`, {
    hint: 'restore it, or remove it: you will not be warned of changes then',
  })
}
