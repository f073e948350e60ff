import { usageError } from './exit-code.ts'
import type { Io } from './io.ts'
import type { CredentialsOption } from './options.ts'

/** The credential file in use; only the default one may be missing. */
export interface CredentialPath {
  readonly path: string
  readonly named: boolean
}

/** Returns the argument, the option, the variable or the default path, in this order. Errors: `USAGE` for argument and option. */
export async function credentialPath(
  { credentials }: CredentialsOption,
  { env }: Pick<Io, 'env'>,
  argument?: string,
): Promise<CredentialPath> {
  if (argument !== undefined && credentials !== undefined)
    throw usageError('the credential file is given twice: as argument and as --credentials')
  const named = argument ?? credentials ?? (env.STAC_AUTH_CREDENTIALS || undefined)
  if (named !== undefined) return { path: named, named: true }
  const { defaultCredentialFile } = await import('../node/credentials/credential-file.ts')
  return { path: defaultCredentialFile({ ...env }), named: false }
}
