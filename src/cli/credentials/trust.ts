/** `credentials trust`. */
import type { CredentialObject } from '../../auth/credential.ts'
import { parseUrlPattern } from '../../auth/url-pattern.ts'
import { CredentialError, TrustError } from '../../errors.ts'
import { providers } from '../../providers/registry.ts'
import { forJson } from '../../text/sanitize.ts'
import { nearMiss } from '../../text/suggest.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-code.ts'
import type { CredentialsOption } from '../options.ts'
import { addPattern, patternsOf } from './edit-credentials.ts'
import { userCredentials } from './needed-credentials.ts'
import { credentialText, kindOf, urlText } from './question.ts'
import { atTerminal, isTerminal, Terminal } from './terminal.ts'

/** Adds an allowed URL pattern to a credential. Errors: `CONFIG_INVALID`, `NO_CREDENTIAL`, `CREDENTIAL_TARGET_UNTRUSTED`, `ABORTED`. */
export async function trust(id: string, pattern: string, options: CredentialsOption, context: Context): Promise<number> {
  parseUrlPattern(pattern)
  const { file, credentials } = await userCredentials(options, context)
  const credential = credentials.find((one) => one.id === id)
  if (!credential && id === 'env' && context.io.env.STAC_AUTH_TOKEN) throw inEnvironment(pattern)
  if (!credential) throw unknownCredential(id, credentials)
  const current = patternsOf(credential)
  const { note } = context.diagnostics
  if (current.includes(pattern)) {
    await note(`"${id}" is already allowed for ${pattern}`)
    return EXIT.done
  }
  const refusal = (message: string) =>
    new TrustError('CREDENTIAL_TARGET_UNTRUSTED', message, {
      credential: id,
      actual: pattern,
      hint: `add it to the credential "${id}" in ${file} yourself: "sendTo": ${forJson([...current, pattern])}`,
    })
  if (!isTerminal(context.io)) throw refusal(`the URL pattern was not added: this needs a confirmation ${atTerminal(context.io)}`)
  if (!(await asked(credential, current, pattern, context))) throw refusal(`the URL pattern was not added: "${id}" is unchanged`)
  await addPattern(file, id, pattern)
  await note(`"${id}" is now allowed for ${pattern}`)
  return EXIT.done
}

async function asked(credential: CredentialObject, current: readonly string[], pattern: string, { io }: Context): Promise<boolean> {
  const terminal = new Terminal(io)
  await terminal.say(`"${credential.id}" (${kindOf(credential)}) is sent to\n`)
  await terminal.say(`  now    ${current.map(urlText).join('   ') || 'no URL'}\n`)
  await terminal.say(`  added  ${urlText(pattern)}\n`)
  return await terminal.agrees('Add this URL pattern?', `  credential\n${credentialText(credential)}\n`)
}

/** Returns the error for the credential from environment variables, which has no file. */
function inEnvironment(pattern: string): CredentialError {
  return new CredentialError('NO_CREDENTIAL', 'the credential "env" is STAC_AUTH_TOKEN and is not in a file', {
    hint: `add ${pattern} to STAC_AUTH_TOKEN_FOR, separated by a space`,
  })
}

/** Returns the error `NO_CREDENTIAL` for an unknown id. */
export function unknownCredential(id: string, credentials: readonly CredentialObject[]): CredentialError {
  const ids = credentials.flatMap((credential) => credential.id ?? [])
  if (providers.some((provider) => provider.id === id))
    return new CredentialError('NO_CREDENTIAL', `unknown credential "${id}"`, { hint: `stac-auth setup ${id} creates it` })
  const near = nearMiss(id, ids)
  const meant = near === undefined ? '' : `did you mean "${near}"? `
  return new CredentialError('NO_CREDENTIAL', `unknown credential "${id}"`, {
    hint:
      ids.length === 0
        ? 'there are no credentials; stac-auth setup DOC creates those that a document needs'
        : `${meant}the credentials are: ${ids.join(', ')}`,
  })
}
