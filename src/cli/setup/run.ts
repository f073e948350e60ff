/** One run of `setup`. */
import type { Context } from '../context.ts'
import type { Errand } from '../credentials/create-credentials.ts'
import type { NewCredentialOptions } from '../credentials/missing-credentials.ts'
import type { CredentialsOption } from '../options.ts'

export interface SetupOptions extends CredentialsOption, Pick<NewCredentialOptions, 'scope' | 'redirectHost'> {
  /** Id of a way in of the provider. */
  readonly way?: string
  readonly browser?: boolean
  readonly port?: number
  readonly dryRun?: boolean
  readonly json?: boolean
}

/** One run of the command. */
export interface Run {
  readonly options: SetupOptions
  readonly errand: Errand
  readonly context: Context
}

/** The name of the command, for errors. */
export const COMMAND = 'stac-auth setup'
