/** The user's side: credentials of file and environment, made into an `Auth` when a command first needs it. */
import type { Auth } from '../auth/auth.ts'
import { isAuthError, SelectionError } from '../errors.ts'
import type { Context } from './context.ts'
import type { ByAddressOption, CredentialsOption } from './options.ts'
import { isAddress } from './read-document.ts'

/**
 * A function that makes the `Auth` on its first call and hands it out again after that. Warnings go to stderr at once.
 *
 * `typed` are the inputs that the user named: the origins of addresses among them may be loopback or private.
 * With `mayBeMissing` a credential file that is named need not be there.
 * `onUse` hears the id of each entry that was accepted.
 * Errors of the call: `CONFIG_INVALID`, `FILE_ACCESS`.
 */
export function openAuth(
  { io, diagnostics }: Context,
  { credentials, byAddress = false, mayBeMissing = false }: CredentialsOption & ByAddressOption & { readonly mayBeMissing?: boolean },
  typed: readonly string[],
  onUse?: (credential: string) => void,
): () => Promise<Auth> {
  let opened: Promise<Auth> | undefined
  const open = async (): Promise<Auth> => {
    const { createAuth } = await import('../auth/create-auth.ts')
    const { credentialFileText, credentialsFromFile } = await import('../node/credentials/credential-file.ts')
    const { credentialsFromEnvironment } = await import('../node/credentials/credential-file.ts')
    const { tokenStore } = await import('./token-store.ts')
    const warn = (message: string) => diagnostics.warn({ code: 'CONFIG_INVALID', message })
    const file = credentials ?? (io.env.STAC_AUTH_CREDENTIALS || undefined)
    const isMissing = mayBeMissing && file !== undefined && (await credentialFileText(file)) === undefined
    return createAuth({
      credentials: [isMissing ? [] : await credentialsFromFile(file), credentialsFromEnvironment({ ...io.env }, { warn })],
      typed: typed.filter(isAddress),
      byAddress,
      onWarning: diagnostics.warn,
      session: tokenStore(io.env, diagnostics.warn),
      ...(onUse && { onUse }),
    })
  }
  return () => (opened ??= open())
}

/** The engine for the commands of one service, whose key may also be in a variable: who has neither is told of both. */
export function serviceAuth(auth: Auth, variable: string): Auth {
  return {
    ...auth,
    service: (base) =>
      auth.service(base).catch((error: unknown) => {
        if (!isAuthError(error) || error.code !== 'NO_CREDENTIAL') throw error
        const hint = `set ${variable}, or ${error.hint ?? 'add an entry to the credential file'}`
        throw new SelectionError(error.code, error.message, { url: base, hint })
      }),
  }
}
