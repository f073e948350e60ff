/** `credentials remove`. */
import type { CredentialObject } from '../../auth/credential.ts'
import { isStored, removeStoredSecret } from '../../node/credentials/index.ts'
import { forLine } from '../../text/sanitize.ts'
import type { Context } from '../context.ts'
import { EXIT, usageError } from '../exit-code.ts'
import type { CredentialsOption } from '../options.ts'
import { dropCredential } from './edit-credentials.ts'
import { userCredentials } from './needed-credentials.ts'
import { unknownCredential } from './trust.ts'

/**
 * Removes a credential from the credential file, after `logout` has removed its tokens, and the secrets that stac-auth stored for it alone.
 *
 * Errors: `NO_CREDENTIAL`, `USAGE` if another credential needs it, `CONFIG_INVALID`, those of `logout` and of the file system.
 */
export async function remove(id: string, options: CredentialsOption, context: Context, logout: () => Promise<unknown>): Promise<number> {
  const { file, credentials } = await userCredentials(options, context)
  const credential = credentials.find((one) => one.id === id)
  if (!credential) throw unknownCredential(id, credentials)
  const others = credentials.filter((one) => one !== credential)
  const user = others.find((one) => one.with === id || one.subject === id)
  if (user) throw usageError(`the credential "${user.id}" needs "${id}"`, `stac-auth credentials remove ${user.id} goes first`)
  await logout()
  const { env } = context.io
  const kept = new Set(others.flatMap(storedSources).map((source) => JSON.stringify(source)))
  const own = storedSources(credential).filter((source) => !kept.has(JSON.stringify(source)))
  // Before the credential: after a failure the same command does the rest.
  for (const source of own) await removeStoredSecret(source)
  await dropCredential(file, id)
  const secrets = own.length === 0 ? '' : `, with ${own.length === 1 ? 'its stored secret' : `its ${own.length} stored secrets`}`
  await context.diagnostics.note(`"${id}" is removed from ${forLine(file)}${secrets}`)
  return EXIT.done

  function storedSources(one: CredentialObject): readonly { readonly [kind: string]: string }[] {
    return Object.values(one).filter((value) => isStored(value, env))
  }
}
