/** Creates the `Auth` of a command from the credential file and the environment on first use. */
import type { Auth } from '../auth/auth.ts'
import type { SessionStore } from '../auth/session.ts'
import type { Warning } from '../auth/strategy.ts'
import { IntegrityError, isAuthError, SelectionError } from '../errors.ts'
import { isAddress } from '../http/url.ts'
import { folderHint } from '../node/base/index.ts'
import type { TokenSettings } from '../node/credentials/index.ts'
import type { Context } from './context.ts'
import type { Io } from './io.ts'
import type { ByAddressOption, CredentialsOption } from './options.ts'
import { loggedTransport } from './request-log.ts'

interface OpenOptions extends CredentialsOption, ByAddressOption {
  readonly mayBeMissing?: boolean
  /** Milliseconds for which tokens and signed URLs must stay valid. */
  readonly minValidity?: number
}

/**
 * Returns a function that creates the `Auth` on its first call and returns the same one afterwards. Warnings are written to stderr.
 *
 * `typed` are the inputs of the user: the origins of URLs among them may be loopback or private, as may the endpoint of object stores that
 * the environment names.
 * With `mayBeMissing` a given credential file need not exist.
 * `onUse` is called with the id of each accepted credential.
 * Errors of the call: `CONFIG_INVALID`, `FILE_ACCESS`.
 */
export function openAuth(
  context: Context,
  { credentials, byAddress = false, mayBeMissing = false, minValidity }: OpenOptions,
  typed: readonly string[],
  onUse?: (credential: string) => void,
): () => Promise<Auth> {
  let opened: Promise<Auth> | undefined
  const { io, diagnostics } = context
  const open = async (): Promise<Auth> => {
    const { createAuth } = await import('../auth/create-auth.ts')
    const { credentialFileText, credentialsFromEnvironment, credentialsFromFile } = await import('../node/credentials/index.ts')
    const warn = (message: string) => diagnostics.warn({ code: 'CONFIG_INVALID', message })
    const file = credentials ?? (io.env.STAC_AUTH_CREDENTIALS || undefined)
    const isMissing = mayBeMissing && file !== undefined && (await credentialFileText(file)) === undefined
    const onStoreWarning = (warning: Warning) =>
      diagnostics.warn(warning.code === 'CACHE_MEMORY_ONLY' ? { ...warning, hint: folderHint('cache') } : warning)
    const store = await tokenStore(io.env, onStoreWarning, file)
    return createAuth({
      credentials: [isMissing ? [] : await credentialsFromFile(file), credentialsFromEnvironment({ ...io.env }, { warn })],
      typed: [...typed.filter(isAddress), ...(await environmentEndpoint())],
      byAddress,
      ...(minValidity !== undefined && { minValidity }),
      onWarning: diagnostics.warn,
      session: store,
      ...(await loggedTransport(context)),
      ...(onUse && { onUse }),
    })
  }
  return () => (opened ??= open())
}

/** Returns the endpoint of object stores in the environment: the user named that origin. An invalid one is reported when it is used. */
async function environmentEndpoint(): Promise<readonly string[]> {
  const { endpointIn } = await import('../node/credentials/index.ts')
  try {
    return [endpointIn() ?? []].flat()
  } catch {
    return []
  }
}

/**
 * Returns the token store of the commands: the one that the credential file names, else private files; on Windows, where file modes do not
 * protect, the keyring. Errors: those of the credential file.
 */
async function tokenStore(env: Io['env'], onWarning: (warning: Warning) => void, file: string | undefined): Promise<SessionStore> {
  const settings = await tokenSettings(file)
  if (settings) return (await import('../node/tokens/index.ts')).tokenRedis(settings)
  const { files, options } = await localStore(env, onWarning)
  return process.platform === 'win32' ? (await import('../node/tokens/index.ts')).tokenKeyring(options) : files
}

async function localStore(env: Io['env'], onWarning: (warning: Warning) => void) {
  const { defaultTokenFolder, tokenFiles } = await import('../node/tokens/index.ts')
  const folder = defaultTokenFolder({ ...env })
  const options = { ...(folder !== undefined && { folder }), onWarning }
  return { files: tokenFiles(options), options }
}

/** Errors: `CACHE_NOT_WRITABLE` where the folder of tokens cannot be written: those of a login would be gone when this command ends. */
export async function checkTokenFolder({ io }: Context, credential: string, { credentials }: CredentialsOption): Promise<void> {
  if (await tokenSettings(credentials ?? (io.env.STAC_AUTH_CREDENTIALS || undefined))) return
  const { files } = await localStore(io.env, () => {})
  const key = '0'.repeat(64)
  await files.exclusively(key, async () => {
    await files.reserve?.(key, 4096).catch((error: unknown) => {
      if (!isAuthError(error) || !['FILE_ACCESS', 'DISK_FULL'].includes(error.code)) throw error
      throw new IntegrityError('CACHE_NOT_WRITABLE', `cannot log in as "${credential}", its tokens cannot be stored: ${error.message}`, {
        credential,
        hint: folderHint('cache'),
      })
    })
  })
}

async function tokenSettings(file: string | undefined): Promise<TokenSettings | undefined> {
  const { credentialFileText, defaultFileToRead, tokenSettingsFromText } = await import('../node/credentials/index.ts')
  const name = file ?? defaultFileToRead()
  const text = name === undefined ? undefined : await credentialFileText(name)
  return name === undefined || text === undefined ? undefined : tokenSettingsFromText(text, name)
}

/** Wraps an `Auth` for a service whose key may also be in a variable: the error `NO_CREDENTIAL` names both. */
export function serviceAuth(auth: Auth, variable: string): Auth {
  return {
    ...auth,
    service: (base) =>
      auth.service(base).catch((error: unknown) => {
        if (!isAuthError(error) || error.code !== 'NO_CREDENTIAL') throw error
        const hint = `set ${variable}, or ${error.hint ?? 'add a credential to the credential file'}`
        throw new SelectionError(error.code, error.message, { url: base, hint })
      }),
  }
}
