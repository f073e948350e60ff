/** One run of `setup`, in which refused secrets can be typed again. */
import type { CredentialObject } from '../../auth/credential.ts'
import { loadStrategies } from '../../auth/strategy.ts'
import type { AuthError, ErrorCode } from '../../errors.ts'
import { isStored, replaceSecret } from '../../node/credentials/index.ts'
import { isObject } from '../../stac/document.ts'
import { defaultStrategies } from '../../strategies/index.ts'
import type { Context } from '../context.ts'
import type { Errand } from '../credentials/create-credentials.ts'
import type { NewCredentialOptions } from '../credentials/missing-credentials.ts'
import { userCredentials } from '../credentials/needed-credentials.ts'
import { quoted } from '../credentials/question.ts'
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

/** Errors that a wrong secret causes. */
const WRONG_SECRET: readonly ErrorCode[] = ['AUTH_REJECTED', 'CREDENTIAL_VALUE_INVALID', 'OAUTH_ERROR']

/**
 * Offers to type the secrets again that `setup` has stored for a credential, or for the one that it names in `with` or `subject`. Returns
 * true if they were replaced.
 */
export async function retyped(id: string, { code }: AuthError, { options, errand: { terminal }, context }: Run): Promise<boolean> {
  const { io } = context
  if (!WRONG_SECRET.includes(code)) return false
  const { credentials, file } = await userCredentials(options, context)
  const own = credentials.find((one) => one.id === id)
  const chain = [own, credentials.find((one) => one.id !== undefined && one.id === (own?.with ?? own?.subject))]
  const secrets = chain.map((one) => ({
    id: one?.id,
    type: one?.type,
    name: one?.username ?? one?.clientId,
    stored: membersOf(one).filter(([, source]) => isStored(source, io.env)),
  }))
  const wrong = secrets.find(({ stored }) => stored.length > 0)
  if (!wrong) return false
  // It was typed as well, and may be what is wrong.
  if (typeof wrong.name === 'string')
    await context.diagnostics.note(`"${wrong.id}" is for ${quoted(wrong.name)}; if that is wrong, correct it in ${file}`)
  const answer = await terminal.ask(`Type the ${wrong.stored.length === 1 ? 'secret' : 'secrets'} of "${wrong.id}" again?  [y]es / [N]o `)
  if (!/^y(?:es)?$/i.test(answer)) return false
  const strategy = (await loadStrategies(defaultStrategies)).find(({ type }) => type === wrong.type)
  for (const [name, source] of wrong.stored) {
    const label = strategy?.forms.flatMap(({ fields }) => fields[name]?.label ?? [])[0] ?? name
    const text = await terminal.askHidden(`  ${label}, not shown (press Enter to keep it): `)
    if (text !== '' && isStored(source, io.env)) await replaceSecret(source, text)
  }
  return true
}

/** Returns the fields of a credential, and those of the objects in them. */
function membersOf(credential: CredentialObject | undefined): readonly (readonly [name: string, value: unknown])[] {
  const fields = Object.entries(credential ?? {})
  return [...fields, ...fields.flatMap(([, value]) => (isObject(value) ? Object.entries(value) : []))]
}
