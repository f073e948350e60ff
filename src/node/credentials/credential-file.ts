import type { Stats } from 'node:fs'
import type { CredentialSet, SecretSource } from '../../auth/credential.ts'
import { isSource, readCredentials } from '../../auth/parse-credentials.ts'
import { type LazyStrategy, loadStrategies, type Strategy } from '../../auth/strategy.ts'
import { parseUrlPattern } from '../../auth/url-pattern.ts'
import { ConfigurationError } from '../../errors.ts'
import { locate, type Position, positionAt, valueAt } from '../../lint/pointer.ts'
import { isObject, type JsonObject, pointer } from '../../stac/document.ts'
import { duplicateKeys, scan } from '../../stac/json-text.ts'
import { defaultStrategies } from '../../strategies/index.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import { commandWord, shellWord } from '../../text/shell-word.ts'
import { checkArgument, checkNamed, FUNCTION, OBJECT, type Table } from '../base/check-options.ts'
import { readRegularFile } from '../base/files.ts'
import { folderVariables, userFolder } from '../base/user-folder.ts'
import { isSecretPath, PATH_HINT } from './secret-source.ts'

const MAX_BYTES = 1_048_576

const MEMBERS = ['version', 'credentials', 'preferred', 'tokens', '$schema']

/**
 * Returns the checked credentials of the file `path`, else `STAC_AUTH_CREDENTIALS`, else `stac-auth/credentials.json` in the user's
 * configuration folder, which may be missing. The working directory is never searched.
 *
 * @param strategies the strategies passed to `createAuth`; credentials of other types are refused
 *
 * Errors: `CONFIG_INVALID` with file, line and column in the message and with `pointer`, never with text of the file.
 *
 * @example const auth = createAuth({ credentials: await credentialsFromFile(), session: tokenFiles() })
 */
export async function credentialsFromFile(
  path?: string,
  strategies: readonly (Strategy | LazyStrategy)[] = defaultStrategies,
): Promise<CredentialSet> {
  const named = path ?? (process.env.STAC_AUTH_CREDENTIALS || undefined)
  const name = named ?? defaultFileToRead()
  const text = name === undefined ? undefined : await credentialFileText(name)
  if (name !== undefined && text !== undefined) return credentialsFromText(text, name, strategies)
  if (named === undefined) return { credentials: [] }
  throw new ConfigurationError('CONFIG_INVALID', `the credential file ${name} does not exist`, {
    hint: `correct its name, or create it: stac-auth setup DOC --credentials ${commandWord(name ?? '')}`,
  })
}

/**
 * Returns the text of a credential file; undefined when it does not exist. Errors: `CONFIG_INVALID`, also for a file that others can
 * write.
 */
export async function credentialFileText(name: string): Promise<string | undefined> {
  const file = await readRegularFile(name, MAX_BYTES)
  if ('bytes' in file) {
    checkOwner(name, file.stats)
    return decode(file.bytes, name)
  }
  if (file.problem === 'does not exist') return undefined
  throw new ConfigurationError('CONFIG_INVALID', `the credential file ${name} ${file.problem}`, {
    hint: 'use a JSON file that you own, at most 1 MiB',
  })
}

/**
 * Returns the default path of the credential file (XDG Base Directory Specification; `APPDATA` on Windows).
 *
 * @param account the home folder of the account
 *
 * Errors: `CONFIG_INVALID` where the user has no configuration folder.
 */
export function defaultCredentialFile(
  env: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform,
  account?: () => string,
): string {
  const path = defaultFileToRead(env, platform, account)
  if (path !== undefined) return path
  const message = `the credential file has no default path: neither ${folderVariables('config', platform)} is an absolute path`
  throw new ConfigurationError('CONFIG_INVALID', message, {
    hint: 'set one of them, or name the file with --credentials or STAC_AUTH_CREDENTIALS',
  })
}

/**
 * Returns the default path for reading: undefined where the user has no configuration folder, as in a container without `HOME`. There is no
 * file then.
 */
export function defaultFileToRead(
  env: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform,
  account?: () => string,
): string | undefined {
  return userFolder('config', ['stac-auth', 'credentials.json'], env, platform, account)
}

/**
 * Refuses a file that others can write, because its writer decides where secrets are sent. Files of root are accepted: root mounts secrets
 * into containers and has full access anyway. Modes are not checked on Windows.
 */
function checkOwner(name: string, { mode, uid }: Stats): void {
  if (process.platform === 'win32') return
  if (uid !== process.getuid?.() && uid !== 0) {
    throw new ConfigurationError('CONFIG_INVALID', `the credential file ${name} belongs to another user`, {
      hint: 'use a file that you own, or one that root owns and only root can write',
    })
  }
  if (mode & 0o022) {
    throw new ConfigurationError('CONFIG_INVALID', `the credential file ${name} can be written by others`, {
      hint: `chmod go-w ${shellWord(name)}`,
    })
  }
}

/** Parses and checks the credentials in the text of a credential file. Errors: as {@link credentialsFromFile}. */
export async function credentialsFromText(
  text: string,
  name: string,
  strategies: readonly (Strategy | LazyStrategy)[] = defaultStrategies,
): Promise<CredentialSet> {
  const content = parseJson(text, name)
  const loaded = await loadStrategies(strategies)
  try {
    // First, because what is wrong with the last of two members may be right with the other one.
    refuseDuplicateKeys(text)
    const set = readSet(content)
    readCredentials(set, loaded, 'file')
    refuseRelativeFiles(content, '')
    return set
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    const at = error.pointer ?? ''
    const hint = error.hint ?? meantType(content, at, loaded)
    throw new ConfigurationError(error.code, `${place(name, locate(text, [at]).get(at))}: ${error.message}`, {
      ...error,
      pointer: at,
      ...(hint !== undefined && { hint }),
    })
  }
}

/** Names the type that has the word at the pointer as a value of another field: `bearer` is a `scheme` of the type `http`. */
function meantType(content: unknown, at: string, strategies: readonly Strategy[]): string | undefined {
  const word = at.endsWith('/type') ? valueAt(content, at) : undefined
  for (const { type, forms } of strategies) {
    const [field] =
      forms.flatMap(({ when = {} }) => Object.entries(when)).find(([, values]) => values.some((value) => value === word)) ?? []
    if (typeof word === 'string' && field !== undefined) return `did you mean "type": "${type}", "${field}": "${word}"?`
  }
  return undefined
}

/** Refuses a member that an object has twice: `JSON.parse` ignores the first, and each of them may be the `sendTo` that the user meant. */
function refuseDuplicateKeys(text: string): void {
  const [twice] = duplicateKeys(text)
  if (twice) throw invalid(twice.pointer, `${JSON.stringify(twice.name)} is written twice in one object`, 'remove one of them')
}

/** Refuses `{ "file": … }` with a relative path, which would be another file in each working directory. */
function refuseRelativeFiles(value: unknown, at: string): void {
  if (typeof value !== 'object' || value === null) return
  if (isObject(value) && isSource(value) && 'file' in value && !isSecretPath(value.file))
    throw invalid(`${at}/file`, `${at.slice(at.lastIndexOf('/') + 1)} is in a file with a relative path`, PATH_HINT)
  for (const [name, member] of Object.entries(value)) refuseRelativeFiles(member, pointer(at, name))
}

const EXAMPLE = 'its form is { "version": 1, "credentials": [ … ] }'

function readSet(content: unknown): CredentialSet {
  if (!isObject(content)) throw invalid('', 'the credential file must be a JSON object', EXAMPLE)
  const unknown = Object.keys(content).find((member) => !MEMBERS.includes(member))
  if (unknown !== undefined)
    throw invalid(pointer('', unknown), `"${unknown}" is not a member of a credential file`, `members: ${MEMBERS.join(', ')}`)
  if (content.version !== 1) throw invalid('/version', 'version must be 1', 'begin the file with { "version": 1,')
  readTokenSettings(content)
  const { credentials, preferred } = content
  if (!Array.isArray(credentials)) throw invalid('/credentials', 'credentials must be an array of credentials', EXAMPLE)
  if (preferred === undefined) return { credentials }
  if (Array.isArray(preferred) && preferred.every((id) => typeof id === 'string')) return { credentials, preferred }
  throw invalid('/preferred', 'preferred must be an array of ids')
}

/** The token store that a credential file names, in the shape of the options of `tokenRedis`. */
export interface TokenSettings {
  readonly url: string
  readonly username?: string
  readonly password?: SecretSource
  readonly key: readonly SecretSource[]
}

/** Returns the token store that the text of a credential file names; undefined for none. Errors: as {@link credentialsFromFile}. */
export function tokenSettingsFromText(text: string, name: string): TokenSettings | undefined {
  const content = parseJson(text, name)
  return isObject(content) ? readTokenSettings(content) : undefined
}

function readTokenSettings({ tokens }: JsonObject): TokenSettings | undefined {
  if (tokens === undefined) return undefined
  const example = '"tokens": { "redis": "rediss://host:6379", "key": { "env": "NAME" } }'
  if (!isObject(tokens)) throw invalid('/tokens', 'tokens must be an object', example)
  const unknown = Object.keys(tokens).find((member) => !['redis', 'username', 'password', 'key'].includes(member))
  if (unknown !== undefined) throw invalid(pointer('/tokens', unknown), `"${unknown}" is not a member of tokens`, example)
  const { redis, username, password, key } = tokens
  const url = typeof redis === 'string' && canParseUrl(redis) ? new URL(redis) : undefined
  if (!url) throw invalid('/tokens/redis', 'redis must be the URL of a Redis server', example)
  if (url.password !== '') throw invalid('/tokens/redis', 'redis contains a password', 'write it as "password": { "env": "NAME" }')
  if (username !== undefined && typeof username !== 'string') throw invalid('/tokens/username', 'username must be a string')
  if (password !== undefined && !(isObject(password) && isSource(password)))
    throw invalid('/tokens/password', 'password must name a source', example)
  const keys = Array.isArray(key) ? key : [key]
  if (keys.length === 0 || !keys.every((one): one is JsonObject & SecretSource => isObject(one) && isSource(one)))
    throw invalid('/tokens/key', 'key must name the source of 32 bytes in base64', example)
  return {
    url: String(redis),
    key: keys,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password: password as SecretSource }),
  }
}

function invalid(at: string, message: string, hint?: string): ConfigurationError {
  return new ConfigurationError('CONFIG_INVALID', message, { pointer: at, ...(hint && { hint }) })
}

function decode(bytes: Uint8Array, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new ConfigurationError('CONFIG_INVALID', `the credential file ${name} is not UTF-8 text`)
  }
}

/** Error texts of `JSON.parse` quote the file and are not used. */
function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    const at = scan(text) ?? text.length
    const hint = syntaxHint(text, at)
    throw new ConfigurationError('CONFIG_INVALID', `${place(name, positionAt(text, at))}: not valid JSON`, { hint })
  }
}

function syntaxHint(text: string, at: number): string {
  if (text.trim() === '') return `the file is empty; ${EXAMPLE}`
  if (/^(?:\/[/*]|#)/.test(text.slice(at, at + 2))) return 'JSON has no comments: remove this one'
  return 'write names and strings in double quotes, one comma between members and none after the last'
}

function place(name: string, position: Position | undefined): string {
  return position ? `${name}:${position.line}:${position.column}` : name
}

/** Options of `credentialsFromEnvironment`. */
export interface EnvironmentOptions {
  /** Called with one line when a token is not used; default: a warning of the process. */
  readonly warn?: (message: string) => void
}

const OPTIONS: Table<EnvironmentOptions> = { warn: FUNCTION }

/**
 * Returns the bearer token in `STAC_AUTH_TOKEN` as a credential `env` for the URL patterns in `STAC_AUTH_TOKEN_FOR` (separated by spaces).
 * Without patterns the token is ignored, with a warning. The variable is read on first use.
 *
 * Errors: `CONFIG_INVALID` for an invalid pattern.
 *
 * @example const auth = createAuth({ credentials: [credentialsFromEnvironment(), await credentialsFromFile()] })
 */
export function credentialsFromEnvironment(env: NodeJS.ProcessEnv = process.env, options: EnvironmentOptions = {}): CredentialSet {
  checkArgument('the first argument of credentialsFromEnvironment', env, OBJECT)
  checkNamed('credentialsFromEnvironment', options, OPTIONS)
  const { warn = emitWarning } = options
  if (!env.STAC_AUTH_TOKEN) return { credentials: [] }
  const sendTo = (env.STAC_AUTH_TOKEN_FOR ?? '').split(/\s+/).filter(Boolean)
  if (sendTo.length === 0) {
    warn('STAC_AUTH_TOKEN is ignored: set STAC_AUTH_TOKEN_FOR to the URL pattern that it may be sent to, for example https://data.example/')
    return { credentials: [] }
  }
  for (const pattern of sendTo) checkPattern(pattern)
  return { credentials: [{ id: 'env', type: 'http', scheme: 'bearer', token: () => env.STAC_AUTH_TOKEN ?? '', sendTo }] }
}

/** Removes the pointer, which would refer to a credential file that the user does not have. Errors: `CONFIG_INVALID`. */
function checkPattern(pattern: string): void {
  try {
    parseUrlPattern(pattern)
  } catch (error) {
    const message = `STAC_AUTH_TOKEN_FOR: ${(error as ConfigurationError).message}`
    // The pattern itself is not repeated: it is the token when the two variables were mixed up.
    throw new ConfigurationError('CONFIG_INVALID', message, { ...(error as ConfigurationError), hint: 'separate patterns with spaces' })
  }
}

function emitWarning(message: string): void {
  process.emitWarning(message, 'StacAuthWarning')
}
