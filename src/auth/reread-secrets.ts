/** Reads the sources of a credential's secrets again after a server refused them: programs outside may have renewed them. */

import { isAuthError } from '../errors.ts'
import type { HttpResponse } from '../http/message.ts'
import { type Credential, inputIdOf, Secret, type SecretReader } from './credential.ts'
import type { EngineContext } from './exchange.ts'
import type { CredentialMatch } from './scheme-matching.ts'

/** Error codes of a refused credential: by the server of the data, a signing API, an object store or a token endpoint. */
const REFUSED = ['AUTH_REJECTED', 'OAUTH_ERROR']

/**
 * Returns the result of the attempt; of a second one if the first was refused (401, or an error that says so) and the source of a
 * secret, of this credential or of one that it uses, has another value by now. Concurrent calls share one reading.
 */
export async function withRereadSecrets<Result extends { readonly response: HttpResponse } | undefined>(
  engine: Pick<EngineContext, 'credential'>,
  match: CredentialMatch,
  attempt: () => Promise<Result>,
): Promise<Result> {
  const readers = readersOf(engine, match)
  if (readers.length === 0) return attempt()
  // A source that was not read yet is read for this attempt.
  const used = readers.map((reader) => Math.max(reader.reading, 1))
  const hasNewValue = async () => (await Promise.all(readers.map((reader, index) => reader.isNewer(used[index] ?? 1)))).includes(true)
  let result: Result
  try {
    result = await attempt()
  } catch (error) {
    if (!isAuthError(error) || !REFUSED.includes(error.code) || !(await hasNewValue())) throw error
    return attempt()
  }
  if (result?.response.status !== 401 || !(await hasNewValue())) return result
  await result.response.discard()
  return attempt()
}

/** Returns the readers of the credential's secrets and of those in `with` and `subject`; such chains are finite. */
function readersOf(engine: Pick<EngineContext, 'credential'>, match: CredentialMatch): readonly SecretReader[] {
  const readers: SecretReader[] = []
  for (let next: CredentialMatch | undefined = match; next; ) {
    const credential: Credential = next.credential
    const values = Object.values(credential).flatMap((value) => (value instanceof Map ? [...value.values()] : [value]))
    for (const value of values) if (value instanceof Secret && value.reader) readers.push(value.reader)
    const via = inputIdOf(credential)
    next = via === undefined ? undefined : engine.credential(via)
  }
  return readers
}
