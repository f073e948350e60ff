/** `credentials add`. */
import type { CredentialObject } from '../../auth/credential.ts'
import { CredentialError } from '../../errors.ts'
import { isObject } from '../../stac/document.ts'
import { forJson } from '../../text/sanitize.ts'
import type { Context } from '../context.ts'
import { EXIT, usageError } from '../exit-code.ts'
import { withoutRepeats } from '../io.ts'
import type { CredentialsOption } from '../options.ts'
import { jsonIn, readInput } from '../read-document.ts'
import { addCredential } from './edit-credentials.ts'
import type { NewCredentialOptions } from './missing-credentials.ts'
import { credentialsFor, type UserCredentials, userCredentials } from './needed-credentials.ts'
import { ownProposal } from './proposal.ts'
import { detailsText, questionText } from './question.ts'
import { atTerminal, isTerminal, Terminal } from './terminal.ts'

export interface AddOptions extends CredentialsOption, NewCredentialOptions {
  readonly file?: string
}

/** Adds the credentials that a document needs, or one from a file. Errors: `USAGE`, `CONFIG_INVALID`, `NO_CREDENTIAL` and those of {@link credentialsFor}. */
export async function add(document: string | undefined, options: AddOptions, shared: Context): Promise<number> {
  const context = { ...shared, diagnostics: withoutRepeats(shared.diagnostics) }
  if ((document === undefined) === (options.file === undefined)) throw usageError('no input is given: give a document, or --file FILE')
  const user = await userCredentials(options, context)
  if (options.file !== undefined) return addOwn(await readCredential(options.file, context), user, context)
  const { created, unusable } = await credentialsFor(
    document ?? '-',
    user,
    options,
    { command: 'stac-auth credentials add', terminal: new Terminal(context.io) },
    context,
  )
  if (created.length === 0) await context.diagnostics.note(nothingText(unusable))
  return EXIT.done
}

function nothingText(unusable: number): string {
  if (unusable === 0) return 'nothing to add: every scheme in this document has a credential'
  const which = unusable === 1 ? '1 asset or link cannot be requested' : `${unusable} assets and links cannot be requested`
  return `nothing to add: ${which} with any credential; stac-auth explain shows why`
}

async function readCredential(name: string, { io }: Context): Promise<CredentialObject> {
  const credential = jsonIn(await readInput(name, io))
  if (isObject(credential)) return credential as CredentialObject
  throw usageError('the file given with --file is not a JSON object with one credential')
}

async function addOwn(credential: CredentialObject, { file, credentials }: UserCredentials, context: Context): Promise<number> {
  const proposal = await ownProposal(credential, credentials)
  if (!isTerminal(context.io))
    throw notWritten(`the credential was not added: this needs a confirmation ${atTerminal(context.io)}`, credential, file)
  const terminal = new Terminal(context.io)
  await terminal.say(questionText(proposal))
  if (!(await terminal.agrees('Create this credential?', detailsText(proposal))))
    throw notWritten('no credential was written', credential, file)
  await addCredential(file, credential)
  await context.diagnostics.note(`credential "${credential.id}" is written to ${file}`)
  return EXIT.done
}

function notWritten(message: string, credential: CredentialObject, file: string): CredentialError {
  return new CredentialError('NO_CREDENTIAL', message, { hint: `add it to ${file} yourself: ${forJson(credential)}` })
}
