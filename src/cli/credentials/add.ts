/** `credentials add`. */
import type { CredentialObject } from '../../auth/credential.ts'
import { CredentialError } from '../../errors.ts'
import { isObject } from '../../stac/json.ts'
import { forJson } from '../../text/sanitize.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-code.ts'
import type { CredentialsOption } from '../options.ts'
import { readInput } from '../read-document.ts'
import { usageError } from '../usage.ts'
import { addCredential } from './edit-credentials.ts'
import { credentialsFor, type UserCredentials, userCredentials } from './entries-for.ts'
import { ownProposal } from './proposal.ts'
import { detailsText, isTerminal, questionText, Terminal } from './question.ts'
import type { WishOptions } from './wanted.ts'

export interface AddOptions extends CredentialsOption, WishOptions {
  readonly entry?: string
}

/** Adds what a document needs, or an entry of the user's own. Errors: `USAGE`, `CONFIG_INVALID`, `NO_CREDENTIAL` and those of {@link credentialsFor}. */
export async function add(document: string | undefined, options: AddOptions, context: Context): Promise<number> {
  if ((document === undefined) === (options.entry === undefined)) throw usageError('give a document, or --entry FILE')
  const user = await userCredentials(options, context)
  if (options.entry !== undefined) return addOwn(await readEntry(options.entry, context), user, context)
  const { created } = await credentialsFor(document ?? '-', user, options, { command: 'stac-auth credentials add' }, context)
  if (created.length === 0) await context.diagnostics.note('nothing is missing: there is an entry for everything in this document')
  return EXIT.done
}

async function readEntry(name: string, { io }: Context): Promise<CredentialObject> {
  const text = Buffer.from(await readInput(name, io)).toString('utf8')
  try {
    const credential: unknown = JSON.parse(text)
    if (isObject(credential)) return credential as CredentialObject
  } catch {
    // What the platform says would quote the text.
  }
  throw usageError('--entry names a file that holds one entry as a JSON object')
}

async function addOwn(credential: CredentialObject, { file, credentials }: UserCredentials, context: Context): Promise<number> {
  const proposal = await ownProposal(credential, credentials)
  if (!isTerminal(context.io)) throw notWritten('only a person at a terminal can add an entry here', credential, file)
  const terminal = new Terminal(context.io)
  try {
    await terminal.say(questionText(proposal))
    if (!(await terminal.agrees('Create this entry?', detailsText(proposal)))) throw notWritten('no entry was written', credential, file)
  } finally {
    terminal.close()
  }
  await addCredential(file, credential)
  await context.diagnostics.note(`entry "${credential.id}" is written to ${file}`)
  return EXIT.done
}

function notWritten(message: string, credential: CredentialObject, file: string): CredentialError {
  return new CredentialError('NO_CREDENTIAL', message, { hint: `you can add it to ${file} yourself: ${forJson(credential)}` })
}
