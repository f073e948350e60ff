/** `credentials trust`. */
import type { CredentialObject } from '../../auth/credential.ts'
import { parseUrlPattern } from '../../auth/parse-url-pattern.ts'
import { CredentialError, TrustError } from '../../errors.ts'
import { forJson } from '../../text/sanitize.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-code.ts'
import type { CredentialsOption } from '../options.ts'
import { addPattern } from './edit-credentials.ts'
import { userCredentials } from './entries-for.ts'
import { addressText, credentialText, isTerminal, kindOf, Terminal } from './question.ts'

/** Lets an entry be sent to a further address. Errors: `CONFIG_INVALID`, `NO_CREDENTIAL`, `CREDENTIAL_TARGET_UNTRUSTED`, `ABORTED`. */
export async function trust(id: string, pattern: string, options: CredentialsOption, context: Context): Promise<number> {
  parseUrlPattern(pattern)
  const { file, credentials } = await userCredentials(options, context)
  const credential = credentials.find((one) => one.id === id)
  if (!credential && id === 'env' && context.io.env.STAC_AUTH_TOKEN) throw inEnvironment(pattern)
  if (!credential) throw unknownCredential(id, credentials)
  const current = patternsOf(credential)
  const { note } = context.diagnostics
  if (current.includes(pattern)) {
    await note(`"${id}" may be sent to ${pattern} already`)
    return EXIT.done
  }
  const refusal = (message: string) =>
    new TrustError('CREDENTIAL_TARGET_UNTRUSTED', message, {
      credential: id,
      actual: pattern,
      hint: `you can write it into entry "${id}" of ${file} yourself: "sendTo": ${forJson([...current, pattern])}`,
    })
  if (!isTerminal(context.io)) throw refusal('only a person at a terminal can trust a further address here')
  if (!(await asked(credential, current, pattern, context)))
    throw refusal(`"${id}" may be sent where it could be sent before, and nowhere else`)
  await addPattern(file, id, pattern)
  await note(`"${id}" may be sent to ${pattern} now`)
  return EXIT.done
}

async function asked(credential: CredentialObject, current: readonly string[], pattern: string, { io }: Context): Promise<boolean> {
  const terminal = new Terminal(io)
  try {
    await terminal.say(`"${credential.id}" (${kindOf(credential)}) may be sent to\n`)
    await terminal.say(`  now            ${current.map(addressText).join('   ') || 'no address'}\n`)
    await terminal.say(`  from now on    ${addressText(pattern)}\n`)
    return await terminal.agrees('Trust this address as well?', `  entry\n${credentialText(credential)}\n`)
  } finally {
    terminal.close()
  }
}

/** The entry that variables make is widened where it was made. */
function inEnvironment(pattern: string): CredentialError {
  return new CredentialError('NO_CREDENTIAL', 'entry "env" is the token of STAC_AUTH_TOKEN and stands in no file', {
    hint: `add ${pattern} to STAC_AUTH_TOKEN_FOR, separated by a blank`,
  })
}

/** `NO_CREDENTIAL` for an id that no entry has. */
export function unknownCredential(id: string, credentials: readonly CredentialObject[]): CredentialError {
  const ids = credentials.map((credential) => credential.id).join(', ')
  return new CredentialError('NO_CREDENTIAL', `there is no entry "${id}"`, {
    hint: ids === '' ? 'there are no entries' : `there are: ${ids}`,
  })
}

function patternsOf({ sendTo, signedUrlHosts }: CredentialObject): readonly string[] {
  const patterns = sendTo ?? (signedUrlHosts as string | readonly string[] | undefined) ?? []
  return typeof patterns === 'string' ? [patterns] : patterns
}
