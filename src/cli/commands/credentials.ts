import type { Command } from 'commander'
import type { CredentialObject } from '../../auth/credential.ts'
import { isAuthError } from '../../errors.ts'
import { plural } from '../../lint/reporters/report.ts'
import { forLine } from '../../text/sanitize.ts'
import type { Context } from '../context.ts'
import type { AddOptions } from '../credentials/add.ts'
import { withNewCredentialOptions } from '../credentials/missing-credentials.ts'
import { EXIT } from '../exit-code.ts'
import { write } from '../io.ts'
import { type CredentialPath, type CredentialsOption, credentialPath, withCredentialsOption } from '../options.ts'
import { jsonText } from '../records.ts'

interface ShowOptions extends CredentialsOption {
  readonly json?: boolean
}

/** `credentials`: commands for the user's credential file; they never show a secret. */
export function addCredentials(program: Command, context: Context): void {
  const command = program.command('credentials').description('list, validate and edit credentials')
  const add = (name: string, description: string, action: typeof list) =>
    withCredentialsOption(command.command(name).description(description))
      .option('--json', 'print JSON')
      .action(context.run((file: string | undefined, options: ShowOptions) => action(file, options, context)))
  add('check [file]', 'validate the credential file', check)
  add('list [file]', 'list credentials with id, type and allowed URLs', list)
  addAdd(command, context)
  addTrust(command, context)
  addRemove(command, context)
}

/** The fields of a credential that may be shown. */
interface Listed {
  /** Its id. */
  readonly id: string | undefined
  /** Its type. */
  readonly type: string
  /** The URL patterns of the URLs that it may be sent to. */
  readonly sendTo: readonly string[]
  /** For `signedUrl`: the allowed hosts of signed URLs. */
  readonly signedUrlHosts?: readonly string[]
  /** For `s3`: the service that issues its keys. */
  readonly credentialsUrl?: string
  /** For `s3`: the security token service that issues its keys. */
  readonly stsEndpoint?: string
  /** Id of the credential whose login is used for that. */
  readonly with?: string
}

async function check(named: string | undefined, options: ShowOptions, context: Context): Promise<number> {
  const file = await credentialPath(options, context.io, named)
  const print = (text: string, credentials: readonly Listed[], problems: readonly unknown[]) =>
    write(context.io.stdout, options.json ? jsonText({ file: file.path, credentials, problems }) : text)
  try {
    const credentials = await listedCredentials(file)
    await print(`${textOf(credentials)}${forLine(file.path)}: ${await verdict(file, credentials.length)}\n`, credentials, [])
    return EXIT.done
  } catch (error) {
    if (isAuthError(error)) await print('', [], [error])
    throw error
  }
}

async function verdict({ path }: CredentialPath, count: number): Promise<string> {
  const { credentialFileText } = await import('../../node/credentials/index.ts')
  if (count === 0 && (await credentialFileText(path)) === undefined) return 'the file does not exist, so there are no credentials'
  return `${plural(count, 'credential')} ${count === 1 ? 'is' : 'are'} valid`
}

async function list(named: string | undefined, options: ShowOptions, { io, diagnostics }: Context): Promise<number> {
  const file = await credentialPath(options, io, named)
  const listed = await listedCredentials(file)
  await write(io.stdout, options.json ? jsonText(listed) : textOf(listed))
  if (options.json) return EXIT.done
  if (listed.length === 0)
    await diagnostics.note(`no credentials in ${forLine(file.path)}: stac-auth setup DOC creates those that a document needs`)
  const { credentialsFromEnvironment } = await import('../../node/credentials/index.ts')
  const { credentials } = credentialsFromEnvironment({ ...io.env }, { warn: () => {} })
  // Its patterns were checked, because a token may be in their place.
  for (const { sendTo = [] } of credentials as readonly CredentialObject[])
    await diagnostics.note(`not in the file: the bearer token in STAC_AUTH_TOKEN, for ${forLine([sendTo].flat().join(' '))}`)
  return EXIT.done
}

async function listedCredentials({ path, named }: CredentialPath): Promise<readonly Listed[]> {
  const { credentialsFromFile } = await import('../../node/credentials/index.ts')
  const { credentials } = await credentialsFromFile(named ? path : undefined)
  return credentials.map(({ id, type, sendTo = [], signedUrlHosts, credentialsUrl, stsEndpoint, with: via }: CredentialObject) => ({
    id,
    type,
    sendTo: [sendTo].flat(),
    ...(signedUrlHosts !== undefined && { signedUrlHosts: [signedUrlHosts].flat() as string[] }),
    ...(typeof credentialsUrl === 'string' && { credentialsUrl }),
    ...(typeof stsEndpoint === 'string' && { stsEndpoint }),
    ...(typeof via === 'string' && { with: via }),
  }))
}

function textOf(credentials: readonly Listed[]): string {
  return credentials.map((credential) => `${forLine(lineOf(credential))}\n`).join('')
}

function lineOf({ id = '', type, sendTo, signedUrlHosts = [], credentialsUrl, stsEndpoint = credentialsUrl, with: via }: Listed): string {
  const signed = signedUrlHosts.length > 0 ? `signed: ${signedUrlHosts.join(' ')}` : ''
  const keys = stsEndpoint === undefined ? '' : `keys from: ${stsEndpoint}`
  const [first, ...others] = [id, type, sendTo.join(' '), signed, keys, via === undefined ? '' : `with: ${via}`]
  return [first, ...others.filter((part) => part !== '')].join('  ')
}

/** `credentials add DOC | --file FILE`: adds the credentials that a document needs, or one from a file, after confirmation. */
function addAdd(credentials: Command, context: Context): void {
  const command = credentials.command('add [document]').description('create the credentials that a document needs, after confirmation')
  withNewCredentialOptions(withCredentialsOption(command))
    .option('--file <file>', 'add the credential in this JSON file instead')
    .action(
      context.run(async (document: string | undefined, options: AddOptions) =>
        (await import('../credentials/add.ts')).add(document, options, context),
      ),
    )
}

/** `credentials trust ID PATTERN`: adds a URL pattern to the `sendTo` of a credential, after confirmation. */
function addTrust(credentials: Command, context: Context): void {
  const command = credentials.command('trust <id> <pattern>')
  withCredentialsOption(command.description('add a URL pattern to the sendTo of a credential, after confirmation')).action(
    context.run(async (id: string, pattern: string, options: CredentialsOption) =>
      (await import('../credentials/trust.ts')).trust(id, pattern, options, context),
    ),
  )
}

/** `credentials remove ID`: removes a credential, its tokens, and the secrets that were stored for it. */
function addRemove(credentials: Command, context: Context): void {
  const command = credentials.command('remove <id>').description('remove a credential, its tokens and the secrets stored for it')
  withCredentialsOption(command).action(
    context.run(async (id: string, options: CredentialsOption) => {
      const [{ remove }, { logoutIfNeeded }] = await Promise.all([import('../credentials/remove.ts'), import('../login.ts')])
      return remove(id, options, context, () => logoutIfNeeded(id, options, context))
    }),
  )
}
