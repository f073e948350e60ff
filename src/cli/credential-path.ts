import type { Io } from './io.ts'
import type { CredentialsOption } from './options.ts'
import { usageError } from './usage.ts'

/** The credential file that counts; only one that nobody named may be missing. */
export interface CredentialPath {
  readonly path: string
  readonly named: boolean
}

/** The argument, the option, the variable, or the file in the user's configuration folder. Errors: `USAGE` for two of the former. */
export async function credentialPath(
  { credentials }: CredentialsOption,
  { env }: Pick<Io, 'env'>,
  argument?: string,
): Promise<CredentialPath> {
  if (argument !== undefined && credentials !== undefined) throw usageError('the file is given twice')
  const named = argument ?? credentials ?? (env.STAC_AUTH_CREDENTIALS || undefined)
  if (named !== undefined) return { path: named, named: true }
  const { defaultCredentialFile } = await import('../node/credentials/credential-file.ts')
  return { path: defaultCredentialFile({ ...env }), named: false }
}
