/** Checks of this machine that send nothing: versions, credential file, secrets, token store. */
import { randomBytes } from 'node:crypto'
import type { Stats } from 'node:fs'
import { access, constants, readdir, readFile, rm, stat, statfs, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Credential, CredentialObject, CredentialSet, SecretSource } from '../../auth/credential.ts'
import { readCredentials } from '../../auth/parse-credentials.ts'
import { loadStrategies } from '../../auth/strategy.ts'
import { isAuthError } from '../../errors.ts'
import { checkFolder, folderHint, parseHolder, stateOf, systemCode, writeFailure } from '../../node/base/index.ts'
import {
  credentialFileText,
  credentialsFromEnvironment,
  credentialsFromText,
  secretSource,
  type TokenSettings,
  tokenSettingsFromText,
} from '../../node/credentials/index.ts'
import { defaultTokenFolder } from '../../node/tokens/index.ts'
import { isObject } from '../../stac/document.ts'
import { defaultStrategies } from '../../strategies/index.ts'
import { shellWord } from '../../text/shell-word.ts'
import type { Io } from '../io.ts'
import { version } from '../io.ts'
import type { CredentialsOption } from '../options.ts'
import { credentialPath } from '../options.ts'
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

const NONE = { set: { credentials: [] }, credentials: [] }

/** Reads the credential file and checks its place, owner, mode and every field. */
export async function readCredentialFile(options: CredentialsOption, io: Io): Promise<ReadCredentials> {
  const check = 'credential file'
  try {
    const { path, named } = await credentialPath(options, io)
    const text = await credentialFileText(path)
    if (text === undefined && named)
      return {
        ...NONE,
        checks: [problem(check, 'CONFIG_INVALID', `${path} does not exist`, 'correct the path, or create the file: stac-auth setup DOC')],
      }
    if (text === undefined)
      return {
        ...NONE,
        checks: [
          ...(await folderChecks(dirname(path), named)),
          warning(check, 'NO_CREDENTIAL', `${path} does not exist, so it has no credential`, 'stac-auth setup DOC'),
        ],
      }
    const set = (await credentialsFromText(text, path)) as CredentialSet<CredentialObject>
    const credentials = readCredentials(set, await loadStrategies(defaultStrategies), 'file')
    const { mode } = await stat(path)
    const count = `${credentials.length} ${credentials.length === 1 ? 'credential' : 'credentials'}`
    const tokens = tokenSettingsFromText(text, path)
    const checks = [ok(check, `${path}, mode ${octal(mode)}, ${count}`), ...(await folderChecks(dirname(path), named))]
    return { set, credentials, checks, ...(tokens && { tokens }) }
  } catch (error) {
    return { ...NONE, checks: [failed(check, error, 'correct the file there; stac-auth credentials check reads it again')] }
  }
}

/** Checks that the folder of the credential file, or the first one above it that exists, can be written by the user alone; nothing if so. */
async function folderChecks(folder: string, named: boolean): Promise<readonly Check[]> {
  const check = 'credential folder'
  // Secrets that `setup` stores follow the default folder, a named file does not.
  const elsewhere = named ? 'set --credentials or STAC_AUTH_CREDENTIALS to a file in a folder that you can write' : folderHint('config')
  let stats: Stats
  try {
    stats = await stat(folder)
  } catch (error) {
    const code = systemCode(error)
    if ((code === 'ENOENT' || code === 'ENOTDIR') && dirname(folder) !== folder) return folderChecks(dirname(folder), named)
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
  const checks: Check[] = []
  try {
    const warn = (message: string) =>
      checks.push(warning(check, 'CONFIG_INVALID', message, 'export STAC_AUTH_TOKEN_FOR=https://data.example/'))
    const { credentials } = credentialsFromEnvironment({ ...env }, { warn })
    if (credentials.length > 0) checks.push(ok(check, `is set, for ${env.STAC_AUTH_TOKEN_FOR}`))
    else if (env.STAC_AUTH_TOKEN_FOR && !env.STAC_AUTH_TOKEN)
      checks.push(
        warning(check, 'CONFIG_INVALID', 'STAC_AUTH_TOKEN_FOR is set, but STAC_AUTH_TOKEN is not', 'set STAC_AUTH_TOKEN, or unset both'),
      )
  } catch (error) {
    checks.push(failed(check, error))
  }
  return checks
}

/** A secret of a credential, by the path of its field. */
interface NamedSource {
  readonly name: string
  readonly source: SecretSource
  /** True where an empty value is meant. */
  readonly mayBeEmpty: boolean
}

const SOURCES = ['env', 'file', 'command', 'keyring', 'netrc', 'prompt']

/** Reads each secret once, without showing it. */
export async function secretChecks({ credentials }: CredentialSet<CredentialObject>): Promise<readonly Check[]> {
  const sources = credentials.flatMap((credential) => [...sourcesIn(credential, String(credential.id), credential.emptyPassword === true)])
  const checks = await Promise.all(sources.map(secretCheck))
  return checks.flat()
}

function* sourcesIn(value: object, name: string, mayBeEmpty: boolean): Generator<NamedSource> {
  for (const [field, member] of Object.entries(value)) {
    if (!isObject(member)) continue
    const [key = '', ...more] = Object.keys(member)
    const path = `${name}.${field}`
    if (SOURCES.includes(key) && more.length === 0) yield { name: path, source: member as unknown as SecretSource, mayBeEmpty }
    else yield* sourcesIn(member, path, mayBeEmpty)
  }
}

async function secretCheck({ name, source, mayBeEmpty }: NamedSource): Promise<readonly Check[]> {
  const check = `secret ${name}`
  if ('prompt' in source) return [ok(check, 'is asked for at the terminal')]
  try {
    const value = await secretSource(source, { field: name.slice(name.lastIndexOf('.') + 1) }).read()
    const fault = faultOf(value, mayBeEmpty)
    if (fault !== undefined)
      return [problem(check, 'CREDENTIAL_VALUE_INVALID', `the value from ${placeOf(source)} ${fault}`, 'correct the value')]
    return [ok(check, `is readable from ${placeOf(source)}`), ...(await openToOthers(check, source))]
  } catch (error) {
    return [failed(check, error)]
  }
}

/** Returns what is wrong with a value, by the rules for all secrets. */
function faultOf(value: string, mayBeEmpty: boolean): string | undefined {
  if (value === '') return mayBeEmpty ? undefined : 'is empty'
  if (/[\r\n\0]/.test(value.replace(/^-----BEGIN [\s\S]*-----\s*$/, ''))) return 'contains a line break'
  return value.trim() === value || value.startsWith('-----BEGIN ') ? undefined : 'begins or ends with a space'
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
  const path = source.file.replace(/^~(?=\/)/, homedir())
  const { mode } = await stat(path)
  if ((mode & 0o077) === 0) return []
  return [
    warning(check, 'CREDENTIAL_SOURCE', `${source.file} can be read by other users (mode ${octal(mode)})`, `chmod 600 ${shellWord(path)}`),
  ]
}

function octal(mode: number): string {
  return (mode & 0o777).toString(8).padStart(4, '0')
}

/** Free bytes that a token store needs. */
const ROOM = 1_048_576

/** Checks the folder of the token store: mode, that it can be written, free space, and locks that were left behind. */
export async function tokenStoreChecks({ env }: Pick<Io, 'env'>, freeBytes = freeBytesOf): Promise<readonly Check[]> {
  const check = 'token store'
  const folder = defaultTokenFolder({ ...env })
  if (folder === undefined)
    return [problem(check, 'CACHE_NOT_WRITABLE', 'has no folder: neither XDG_CACHE_HOME nor HOME is an absolute path', 'set HOME')]
  try {
    const stats = await stat(folder).catch((error: unknown) => {
      if (systemCode(error) === 'ENOENT') return undefined
      throw error
    })
    if (!stats) return [await laterCheck(check, folder)]
    checkFolder(folder, stats)
    await tryToWrite(folder)
    const free = await freeBytes(folder)
    const room =
      free < ROOM
        ? problem(check, 'DISK_FULL', `${folder} has ${free} bytes left`, 'free some space, or set XDG_CACHE_HOME to another disk')
        : ok(check, `${folder}, mode ${octal(stats.mode)}, writable`)
    return [room, ...(await lockChecks(folder))]
  } catch (error) {
    return [failed(check, isAuthError(error) ? error : writeFailure(error, `"${folder}"`), 'set XDG_CACHE_HOME to a folder of yours')]
  }
}

/** Writes, reads and removes an entry in the token store of the credential file. */
export async function sharedStoreChecks(settings: TokenSettings): Promise<readonly Check[]> {
  const check = 'token store'
  const { tokenRedis } = await import('../../node/tokens/index.ts')
  const key = randomBytes(32).toString('hex')
  const text = randomBytes(32).toString('hex')
  try {
    const store = tokenRedis(settings)
    try {
      const read = await store.exclusively(key, async () => {
        await store.write(key, text)
        const stored = await store.read(key)
        await store.remove(key)
        return stored
      })
      if (read !== text)
        return [problem(check, 'CACHE_UNSAFE', `${settings.url} returned another entry than the one written`, 'check the server')]
      return [ok(check, `${settings.url}, writable, entries are encrypted`)]
    } finally {
      await store.close()
    }
  } catch (error) {
    return [failed(check, error, 'correct "tokens" in the credential file, or start the server')]
  }
}

/** Checks that a folder which does not exist can be created. */
async function laterCheck(check: string, folder: string): Promise<Check> {
  let above = dirname(folder)
  while (dirname(above) !== above && (await access(above).catch(systemCode)) === 'ENOENT') above = dirname(above)
  const code = await access(above, constants.W_OK | constants.X_OK).catch(systemCode)
  if (code === undefined) return ok(check, `${folder} is created with the first login`)
  const message = `${folder} cannot be created: ${above} cannot be written (${code})`
  // Nobody should make the root folder writable: the home folder does not exist, as in containers.
  const hint = dirname(above) === above ? folderHint('cache') : `make ${above} a folder that you can write, or set XDG_CACHE_HOME to one`
  return problem(check, 'CACHE_NOT_WRITABLE', message, hint)
}

async function tryToWrite(folder: string): Promise<void> {
  const path = join(folder, `doctor-${randomBytes(8).toString('hex')}.tmp`)
  try {
    await writeFile(path, randomBytes(4096), { mode: 0o600, flag: 'wx', flush: true })
  } finally {
    await rm(path, { force: true })
  }
}

async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}

/** Milliseconds without a heartbeat after which a lock of an unknown process is stale. */
const HEARTBEAT = 60_000

/** Warns about locks whose process is gone; the next one that needs the token removes them. */
async function lockChecks(folder: string): Promise<readonly Check[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.lock'))
  const checks = await Promise.all(
    names.map(async (name) => {
      const path = join(folder, name)
      const text = await readFile(path, 'utf8').catch(() => '')
      const holder = parseHolder(text)
      const state = holder ? await stateOf(holder) : 'unknown'
      const isRecent = Date.now() - (await stat(path)).mtimeMs < HEARTBEAT
      if (state === 'alive' || (state === 'unknown' && isRecent)) return ok('token lock', `process ${holder?.pid} is using a token`)
      const hint = `nothing: the next command that needs the token removes it after a minute; or: rm ${shellWord(path)}`
      const why = state === 'gone' ? `process ${holder?.pid} has left it` : 'its process is on another host or cannot be identified'
      return warning('token lock', 'CACHE_LOCK_TIMEOUT', `${path} is a stale lock: ${why}`, hint)
    }),
  )
  return checks
}

/** Packages that only some credentials need. */
const PACKAGES: readonly { readonly name: string; readonly what: string; readonly isNeeded: (credential: CredentialObject) => boolean }[] =
  [
    {
      name: '@napi-rs/keyring',
      what: 'a secret in the keyring',
      isNeeded: (credential) => [...sourcesIn(credential, '', false)].some(({ source }) => 'keyring' in source),
    },
    { name: 'kerberos', what: 'HTTP Negotiate', isNeeded: ({ scheme }) => String(scheme).toLowerCase() === 'negotiate' },
    {
      name: '@cloudflare/privacypass-ts',
      what: 'HTTP PrivateToken',
      isNeeded: ({ scheme }) => String(scheme).toLowerCase() === 'privatetoken',
    },
    {
      name: '@aws-sdk/credential-providers',
      what: 'S3 keys of roles and single sign-on',
      isNeeded: ({ type, profile, accessKeyId, credentialsUrl, stsEndpoint }) =>
        type === 's3' && profile !== undefined && !accessKeyId && !credentialsUrl && !stsEndpoint,
    },
  ]

/** Checks the optional packages that the credentials need. A profile may do without the AWS package, so that it is only a warning. */
export function packageChecks(
  { credentials }: CredentialSet<CredentialObject>,
  isInstalled: (name: string) => boolean = isInstalledHere,
): readonly Check[] {
  return PACKAGES.filter(({ isNeeded }) => credentials.some(isNeeded)).map(({ name, what }) => {
    const check = `package ${name}`
    if (isInstalled(name)) return ok(check, `is installed, for ${what}`)
    const report = name.startsWith('@aws-sdk/') ? warning : problem
    return report(check, 'CREDENTIAL_SOURCE', `is not installed, and is needed for ${what}`, `npm install ${name}`)
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
