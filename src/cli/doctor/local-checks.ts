/** Checks of this machine that send nothing: versions, credential file, secrets, token store. */
import { randomBytes } from 'node:crypto'
import type { Stats } from 'node:fs'
import { access, constants, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname } from 'node:path'
import type { Credential, CredentialObject, CredentialSet, SecretSource } from '../../auth/credential.ts'
import { readCredentials } from '../../auth/parse-credentials.ts'
import type { SessionStore } from '../../auth/session.ts'
import { loadStrategies } from '../../auth/strategy.ts'
import { plural } from '../../lint/reporters/report.ts'
import {
  checkFolder,
  folderHint,
  folderVariables,
  installCommand,
  systemCode,
  temporaryHint,
  userFolder,
  writeFailure,
} from '../../node/base/index.ts'
import {
  credentialFileText,
  credentialsFromEnvironment,
  credentialsFromText,
  secretFilePath,
  secretSource,
  type TokenSettings,
  tokenSettingsFromText,
} from '../../node/credentials/index.ts'
import { defaultTokenFolder, tokenFiles } from '../../node/tokens/index.ts'
import { isObject } from '../../stac/document.ts'
import { defaultStrategies } from '../../strategies/index.ts'
import { shellWord } from '../../text/shell-word.ts'
import { type Io, version } from '../io.ts'
import { type CredentialsOption, credentialPath, hasCredentialPath } from '../options.ts'
import { evictionText, KEEP_ALL } from '../queue/state.ts'
import { type Check, failed, ok, problem, warning } from './check.ts'

/** The lowest supported version of Node. */
const NODE = [20, 19] as const

/** Checks the versions of Node and of this package. */
export function versionChecks(node = process.versions.node): readonly Check[] {
  const [major = 0, minor = 0] = node.split('.').map(Number)
  const isOld = major < NODE[0] || (major === NODE[0] && minor < NODE[1])
  return [
    isOld
      ? problem('node', 'CONFIG_INVALID', `Node ${node} is not supported`, `install Node ${NODE.join('.')} or later`)
      : ok('node', `Node ${node} on ${process.platform}`),
    ok('package', `stac-auth ${version()}`),
  ]
}

/** The credentials in use, raw and checked, and the results of reading them. */
export interface ReadCredentials {
  readonly set: CredentialSet<CredentialObject>
  readonly credentials: readonly Credential[]
  /** The token store that the file names; absent: private files. */
  readonly tokens?: TokenSettings
  readonly checks: readonly Check[]
}

const NO_PLACE = 'set STAC_AUTH_CREDENTIALS to a credential file, or HOME to a folder of yours'

/** Reads the credential file and checks its place, owner, mode and every field. */
export async function readCredentialFile(options: CredentialsOption, io: Io): Promise<ReadCredentials> {
  const check = 'credential file'
  const none = (checks: readonly Check[]) => ({ set: { credentials: [] }, credentials: [], checks })
  try {
    if (!(await hasCredentialPath(options, io)))
      return none([warning(check, 'NO_CREDENTIAL', `has no place: neither ${folderVariables('config')} is an absolute path`, NO_PLACE)])
    const { path, named } = await credentialPath(options, io)
    const text = await credentialFileText(path)
    if (text === undefined && named)
      return none([problem(check, 'CONFIG_INVALID', `${path} does not exist`, 'correct the path, or create the file: stac-auth setup DOC')])
    const folder = await credentialFolderChecks(dirname(path), named)
    if (text === undefined)
      return none([...folder, warning(check, 'NO_CREDENTIAL', `${path} does not exist, so it has no credential`, 'stac-auth setup DOC')])
    const set = (await credentialsFromText(text, path)) as CredentialSet<CredentialObject>
    const credentials = readCredentials(set, await loadStrategies(defaultStrategies), 'file')
    const { mode } = await stat(path)
    const tokens = tokenSettingsFromText(text, path)
    const checks = [ok(check, `${path}, mode ${octal(mode)}, ${plural(credentials.length, 'credential')}`), ...folder]
    return { set, credentials, checks, ...(tokens && { tokens }) }
  } catch (error) {
    return none([failed(check, error, 'correct the file there; stac-auth credentials check reads it again')])
  }
}

/** Checks that the folder of the credential file, or the first one above it that exists, can be written by the user alone; nothing if so. */
async function credentialFolderChecks(folder: string, named: boolean): Promise<readonly Check[]> {
  const check = 'credential folder'
  // Secrets that `setup` stores follow the default folder, a named file does not.
  const elsewhere = named ? 'set --credentials or STAC_AUTH_CREDENTIALS to a file in a folder that you can write' : folderHint('config')
  let stats: Stats
  try {
    stats = await stat(folder)
  } catch (error) {
    const code = systemCode(error)
    if ((code === 'ENOENT' || code === 'ENOTDIR') && dirname(folder) !== folder) return credentialFolderChecks(dirname(folder), named)
    return [warning(check, 'FILE_ACCESS', `${folder} cannot be read (${code})`, elsewhere)]
  }
  const { mode } = stats
  if (!stats.isDirectory()) return [problem(check, 'FILE_ACCESS', `${folder} is not a folder`, `move it away, or ${elsewhere}`)]
  const isWritable = await access(folder, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  )
  if (!isWritable) return [warning(check, 'FILE_ACCESS', `${folder} cannot be written: setup cannot add credentials`, elsewhere)]
  const isShared = process.platform !== 'win32' && (mode & 0o022) !== 0 && (mode & STICKY) === 0
  if (!isShared) return []
  const message = `${folder} can be written by other users (mode ${octal(mode)}), who could replace the credential file`
  return [warning(check, 'FILE_ACCESS', message, `chmod go-w ${shellWord(folder)}`)]
}

/** In such a folder only its owner replaces a file (`/tmp`). */
const STICKY = 0o1000

/** Checks the folders in which `run` and `gateway --name` write; nothing if they can. */
export async function programFolderChecks(options: CredentialsOption, { env }: Pick<Io, 'env'>): Promise<readonly Check[]> {
  const checks = [folderCheck('temporary folder', tmpdir(), 'run', temporaryHint())]
  // Otherwise it is the folder of the credential file, which is checked.
  if (options.credentials || env.STAC_AUTH_CREDENTIALS) {
    const folder = userFolder('config', ['stac-auth', 'gateways'], { ...env })
    checks.push(folderCheck('configuration folder', folder, 'gateway --name', folderHint('config')))
  }
  return (await Promise.all(checks)).flat()
}

async function folderCheck(check: string, folder: string | undefined, command: string, hint: string): Promise<readonly Check[]> {
  const fault = folder === undefined ? `neither ${folderVariables('config')} is an absolute path` : await unwritable(folder)
  return fault === undefined ? [] : [warning(check, 'FILE_ACCESS', `${command} has no place for its file: ${fault}`, hint)]
}

/** Checks that the fixed ports of redirect URIs are free; nothing for credentials without one. */
export async function redirectPortChecks({ credentials }: CredentialSet<CredentialObject>): Promise<readonly Check[]> {
  const checks = credentials.map(async ({ id, redirectHost = '127.0.0.1', redirectPort: port }) => {
    if (typeof port !== 'number') return []
    const check = `redirect port ${id}`
    const host = redirectHost === '::1' ? '::1' : '127.0.0.1'
    const code = await listenFailure(port, host)
    const hint = `stop the program that listens on port ${port}, or register another port with the provider and set redirectPort of "${id}" to it`
    return [
      code === undefined
        ? ok(check, `port ${port} of ${host} is free`)
        : problem(check, 'NETWORK_LISTEN', `a login cannot listen on port ${port} of ${host} (${code})`, hint),
    ]
  })
  return (await Promise.all(checks)).flat()
}

/** Returns the system's code where a port cannot be listened on. */
function listenFailure(port: number, host: '127.0.0.1' | '::1'): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error) => resolve(systemCode(error)))
    server.listen({ port, host: host satisfies '127.0.0.1' | '::1', exclusive: true }, () => server.close(() => resolve(undefined)))
  })
}

/** Checks `STAC_AUTH_TOKEN` and `STAC_AUTH_TOKEN_FOR`; nothing without them. */
export function environmentChecks({ env }: Pick<Io, 'env'>): readonly Check[] {
  const check = 'STAC_AUTH_TOKEN'
  const invalid = (message: string, hint: string) => warning(check, 'CONFIG_INVALID', message, hint)
  if (env.STAC_AUTH_TOKEN_FOR && !env.STAC_AUTH_TOKEN)
    return [invalid('STAC_AUTH_TOKEN_FOR is set, but STAC_AUTH_TOKEN is not', 'set STAC_AUTH_TOKEN, or unset both')]
  const checks: Check[] = []
  try {
    const warn = (message: string) => checks.push(invalid(message, 'export STAC_AUTH_TOKEN_FOR=https://data.example/'))
    const { credentials } = credentialsFromEnvironment({ ...env }, { warn })
    return credentials.length > 0 ? [...checks, ok(check, `is set, for ${env.STAC_AUTH_TOKEN_FOR}`)] : checks
  } catch (error) {
    return [...checks, failed(check, error)]
  }
}

/** A secret of a credential, by the path of its field. */
interface NamedSource {
  readonly name: string
  readonly source: SecretSource
}

const SOURCES = ['env', 'file', 'command', 'keyring', 'netrc', 'prompt']

/** Reads each secret once, without showing it. */
export async function secretChecks({ credentials }: CredentialSet<CredentialObject>): Promise<readonly Check[]> {
  const sources = credentials.flatMap((credential) => [...sourcesIn(credential, String(credential.id))])
  return (await Promise.all(sources.map(secretCheck))).flat()
}

function* sourcesIn(value: object, name: string): Generator<NamedSource> {
  for (const [field, member] of Object.entries(value)) {
    if (!isObject(member)) continue
    const [key = '', ...more] = Object.keys(member)
    const path = `${name}.${field}`
    if (SOURCES.includes(key) && more.length === 0) yield { name: path, source: member as unknown as SecretSource }
    else yield* sourcesIn(member, path)
  }
}

async function secretCheck({ name, source }: NamedSource): Promise<readonly Check[]> {
  const check = `secret ${name}`
  if ('prompt' in source) return [ok(check, 'is asked for at the terminal')]
  try {
    const value = await secretSource(source, { field: name.slice(name.lastIndexOf('.') + 1) }).read()
    const isKey = value.startsWith('-----BEGIN ')
    const fault = /[\r\n\0]/.test(value) ? 'contains a line break' : value.trim() === value ? undefined : 'begins or ends with a space'
    if (fault !== undefined && !isKey)
      return [problem(check, 'CREDENTIAL_VALUE_INVALID', `the value from ${placeOf(source)} ${fault}`, 'correct the value')]
    return [ok(check, `is readable from ${placeOf(source)}`), ...(await openToOthers(check, source))]
  } catch (error) {
    return [failed(check, error)]
  }
}

function placeOf(source: SecretSource): string {
  if ('env' in source) return `the variable ${source.env}`
  if ('file' in source) return source.file
  if ('command' in source) return `the program ${source.command[0]}`
  if ('netrc' in source) return `the machine ${source.netrc} of the netrc file`
  return 'keyring' in source ? `the keyring account "${source.keyring}"` : 'the terminal'
}

/** Warns about a secret file that other users can read. */
async function openToOthers(check: string, source: SecretSource): Promise<readonly Check[]> {
  if (!('file' in source) || process.platform === 'win32') return []
  const path = secretFilePath(source.file)
  const { mode, uid } = await stat(path)
  if ((mode & 0o077) === 0) return []
  // Mode 600 of a mounted file that root owns would close it to this user.
  const hint = uid === process.getuid?.() ? `chmod 600 ${shellWord(path)}` : 'let only this user read it, or mount it for this user only'
  return [warning(check, 'CREDENTIAL_SOURCE', `${source.file} can be read by other users (mode ${octal(mode)})`, hint)]
}

function octal(mode: number): string {
  return (mode & 0o777).toString(8).padStart(4, '0')
}

/** Checks the folder of the token store: its mode, and that it can be written. */
export async function tokenStoreCheck({ env }: Pick<Io, 'env'>): Promise<Check> {
  const check = 'token store'
  const folder = defaultTokenFolder({ ...env })
  if (folder === undefined)
    return problem(
      check,
      'CACHE_NOT_WRITABLE',
      `has no folder: neither ${folderVariables('cache')} is an absolute path`,
      folderHint('cache'),
    )
  try {
    const stats = await stat(folder).catch((error: unknown) => {
      if (systemCode(error) === 'ENOENT') return undefined
      throw writeFailure(error, `"${folder}"`)
    })
    if (!stats) return await laterCheck(check, folder)
    checkFolder(folder, stats)
    const store = tokenFiles({ folder })
    return await storeCheck(check, store, folder, `${folder}, mode ${octal(stats.mode)}, writable`)
  } catch (error) {
    return failed(check, error, 'set XDG_CACHE_HOME to a folder of yours')
  }
}

/** Checks the token store of the credential file. */
export async function sharedStoreCheck(settings: TokenSettings): Promise<readonly Check[]> {
  const check = 'token store'
  const { tokenEviction, tokenRedis } = await import('../../node/tokens/index.ts')
  try {
    const store = tokenRedis(settings)
    const message = `${settings.url}, writable, entries are encrypted`
    const written = await storeCheck(check, store, settings.url, message).finally(() => store.close())
    return [written, ...evictionChecks(check, settings.url, await tokenEviction(settings))]
  } catch (error) {
    return [failed(check, error, 'correct "tokens" in the credential file, or start the server')]
  }
}

/** Checks the queue of `STAC_AUTH_QUEUE`; nothing without it. */
export async function queueChecks({ env }: Pick<Io, 'env'>): Promise<readonly Check[]> {
  const check = 'queue'
  if (!env.STAC_AUTH_QUEUE) return []
  try {
    const { queueControl, redisAddressOf } = await import('../../node/queue/index.ts')
    const address = redisAddressOf(env.STAC_AUTH_QUEUE)
    const control = await queueControl(address)
    const { eviction } = await control.status().finally(() => control.close())
    return [ok(check, `${address.shown} accepts connections`), ...evictionChecks(check, address.shown, eviction)]
  } catch (error) {
    return [failed(check, error, 'correct STAC_AUTH_QUEUE, or start the server')]
  }
}

function evictionChecks(check: string, place: string, policy: string | undefined): readonly Check[] {
  if (policy === undefined) return []
  return [warning(check, 'CONFIG_INVALID', `${place} ${evictionText(policy)}`, KEEP_ALL)]
}

/** Writes, reads and removes an entry. Errors: those of the store. */
async function storeCheck(check: string, store: SessionStore, place: string, message: string): Promise<Check> {
  const [key, text] = [randomBytes(32).toString('hex'), randomBytes(32).toString('hex')]
  const read = await store.exclusively(key, async () => {
    await store.write(key, text)
    return store.read(key).finally(() => store.remove(key))
  })
  return read === text
    ? ok(check, message)
    : problem(check, 'CACHE_UNSAFE', `${place} returned another entry than the one written`, 'check it')
}

/** Checks that a folder which does not exist can be created. */
async function laterCheck(check: string, folder: string): Promise<Check> {
  const above = await existingAbove(folder)
  const fault = await unwritable(folder)
  if (fault === undefined) return ok(check, `${folder} is created with the first login`)
  // Nobody should make the root folder writable: the home folder does not exist, as in containers.
  const hint = dirname(above) === above ? folderHint('cache') : `make ${above} a folder that you can write, or set XDG_CACHE_HOME to one`
  return problem(check, 'CACHE_NOT_WRITABLE', fault, hint)
}

/** Returns why nothing can be written into a folder, or why it cannot be created; undefined if it can. */
async function unwritable(folder: string): Promise<string | undefined> {
  const above = await existingAbove(folder)
  const code = await access(above, constants.W_OK | constants.X_OK).catch(systemCode)
  if (code === undefined) return undefined
  return above === folder ? `${folder} cannot be written (${code})` : `${folder} cannot be created: ${above} cannot be written (${code})`
}

/** Returns the folder, or the first one above it that exists. */
async function existingAbove(folder: string): Promise<string> {
  let above = folder
  while (dirname(above) !== above && (await access(above).catch(systemCode)) === 'ENOENT') above = dirname(above)
  return above
}

/** Packages that only some credentials need, besides the keyring, which is reported by its secrets. */
const PACKAGES: Readonly<Record<string, readonly [what: string, isNeeded: (credential: CredentialObject) => boolean]>> = {
  kerberos: ['HTTP Negotiate', ({ scheme }) => /^negotiate$/i.test(String(scheme))],
  '@cloudflare/privacypass-ts': ['HTTP PrivateToken', ({ scheme }) => /^privatetoken$/i.test(String(scheme))],
  '@aws-sdk/credential-providers': [
    'S3 keys of roles and single sign-on',
    ({ type, profile, accessKeyId, credentialsUrl, stsEndpoint }) =>
      type === 's3' && profile !== undefined && !accessKeyId && !credentialsUrl && !stsEndpoint,
  ],
}

/** Checks the optional packages that the credentials need. A profile may do without the AWS package, so that it is only a warning. */
export function packageChecks({ credentials }: CredentialSet<CredentialObject>, isInstalled = isInstalledHere): readonly Check[] {
  return Object.entries(PACKAGES).flatMap(([name, [what, isNeeded]]) => {
    if (!credentials.some(isNeeded)) return []
    const check = `package ${name}`
    if (isInstalled(name)) return [ok(check, `is installed, for ${what}`)]
    const report = name.startsWith('@aws-sdk/') ? warning : problem
    return [report(check, 'CREDENTIAL_SOURCE', `is not installed, and is needed for ${what}`, installCommand([name]))]
  })
}

function isInstalledHere(name: string): boolean {
  try {
    import.meta.resolve(name)
    return true
  } catch {
    return false
  }
}
