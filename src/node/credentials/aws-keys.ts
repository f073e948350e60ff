/**
 * Object store keys of the user's environment, for `s3` credentials without keys. `CLOUD_*` takes precedence over `AWS_*`, variables over
 * profiles, profiles over containers and instances. Key id and secret always come from the same family.
 */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type AuthError, ConfigurationError, CredentialError, isAuthError } from '../../errors.ts'
import { parsedJson } from '../../http/message.ts'
import { isLoopbackHost } from '../../http/url.ts'
import type { S3KeySource, S3Keys, S3KeyWish } from '../../platform/platform.ts'
import { isObject } from '../../stac/document.ts'
import { keysIn } from '../../strategies/s3/keys.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import { shellWords } from '../../text/shell-word.ts'
import { HOME_HINT, homeFolder } from '../base/user-folder.ts'
import type { AwsProviders } from './aws-package.ts'
import { programError, promptSecret, runProgram, secretFilePath } from './secret-source.ts'

/** The environment and files that are searched for keys. */
export interface AwsUser {
  readonly environment: NodeJS.ProcessEnv
  /** Whether the instance metadata service may be queried. */
  readonly instanceMetadata: boolean
  readonly warn: (message: string) => void
  /** Loads the provider for AWS services; default: the optional package. */
  readonly load: (() => Promise<AwsProviders>) | undefined
}

const HINT =
  'set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (or CLOUD_ACCESS_KEY_ID and CLOUD_SECRET_ACCESS_KEY), or AWS_PROFILE (CLOUD_PROFILE with CLOUD_CONFIG_FILE), or give the credential a "profile", a "credentialsUrl" or keys'

/**
 * Returns the key source of a credential: its profile, else the variables, else the profile named by the variables or `default`, else the
 * container or instance.
 *
 * Errors: `CREDENTIAL_SOURCE` and `LOGIN_REQUIRED` when the keys are read, `CONFIG_INVALID` immediately for an endpoint that is not an
 * https URL.
 */
export function awsKeys(credential: S3KeyWish, environment: NodeJS.ProcessEnv = process.env, load?: AwsUser['load']): S3KeySource {
  const { AWS_REGION, AWS_DEFAULT_REGION } = environment
  const place = { endpoint: endpointIn(environment), region: AWS_REGION || AWS_DEFAULT_REGION || undefined }
  return Object.assign(async (warn = (_message: string) => {}) => {
    noteUnsigned(environment, warn)
    const pair = credential.profile ? undefined : pairIn(environment, warn)
    return pair ?? keysBeyond(credential.profile, { environment, instanceMetadata: credential.instanceMetadata ?? false, warn, load })
  }, place)
}

/** Returns the keys of a profile, container or instance, when no variable contains keys. */
async function keysBeyond(wanted: string | undefined, user: AwsUser): Promise<S3Keys> {
  const { environment } = user
  const named = wanted || environment.CLOUD_PROFILE || environment.AWS_PROFILE
  // The profile in CLOUD_PROFILE is in the file CLOUD_CONFIG_FILE, where that is set.
  const places = profileFiles(environment).slice(0, !wanted && environment.CLOUD_PROFILE ? 1 : undefined)
  const profile = await findProfile(named ?? 'default', places)
  if (named && !profile) throw noProfile(named, places)
  if (profile) {
    if (named || givesKeys(profile)) return profileKeys(profile, user)
  }
  const keys = await (await import('./aws-package.ts')).machineKeys(user)
  if (!keys) throw new CredentialError('CREDENTIAL_SOURCE', 'no object store keys were found in the environment', { hint: HINT })
  const region = profile?.settings.get('region')
  return region ? { ...keys, region } : keys
}

async function findProfile(name: string, places: readonly ProfileFiles[]): Promise<NamedProfile | undefined> {
  for (const files of places) {
    const settings = await readProfile(name, files)
    if (settings) return { name, settings, files }
  }
  return undefined
}

function noProfile(name: string, places: readonly ProfileFiles[]): CredentialError {
  if (places.length === 0) {
    const message = `the profile "${name}" does not exist: no file is configured, and there is no home folder`
    return new CredentialError('CREDENTIAL_SOURCE', message, { hint: `${HOME_HINT}, or name a file in AWS_CONFIG_FILE` })
  }
  const files = new Set(places.flatMap(({ credentials, config }) => [credentials, config]))
  return new CredentialError('CREDENTIAL_SOURCE', `the profile "${name}" does not exist in ${[...files].join(' or ')}`)
}

/** Reports settings for unsigned requests, which are ignored because the document requires a signature. */
function noteUnsigned(environment: NodeJS.ProcessEnv, warn: (message: string) => void): void {
  for (const name of FAMILIES.map((family) => `${family}_NO_SIGN_REQUEST`)) {
    if (/^(yes|true|1)$/i.test(environment[name] ?? '')) warn(`${name} is ignored: the document requires signed requests`)
  }
}

/** Variables with the endpoint, in order of precedence. */
const ENDPOINTS = ['CLOUD_ENDPOINT_URL_S3', 'CLOUD_ENDPOINT_URL', 'AWS_ENDPOINT_URL_S3', 'AWS_ENDPOINT_URL'] as const

/**
 * Returns the endpoint of object stores that the user's environment names, without a slash at its end. Ignored with
 * `AWS_IGNORE_CONFIGURED_ENDPOINT_URLS`, as by AWS tools. Errors: `CONFIG_INVALID` unless it is an https URL, or an http URL on loopback.
 */
export function endpointIn(environment: NodeJS.ProcessEnv = process.env): string | undefined {
  if (/^true$/i.test(environment.AWS_IGNORE_CONFIGURED_ENDPOINT_URLS ?? '')) return undefined
  const name = ENDPOINTS.find((variable) => environment[variable])
  const endpoint = name && environment[name]
  if (!endpoint) return undefined
  const url = canParseUrl(endpoint) ? new URL(endpoint) : undefined
  const secure = url && (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url.hostname)))
  if (!secure || url.username || url.search) throw new ConfigurationError('CONFIG_INVALID', `${name} must be an https URL`)
  return url.origin + url.pathname.replace(/\/+$/, '')
}

/** Prefixes of variables, in order of precedence. */
const FAMILIES = ['CLOUD', 'AWS'] as const

/** Returns key id and secret of the first family that has both, with its session token. An incomplete pair is reported and ignored. */
function pairIn(
  environment: NodeJS.ProcessEnv,
  warn: (message: string) => void,
  families: readonly (typeof FAMILIES)[number][] = FAMILIES,
): S3Keys | undefined {
  for (const family of families) {
    const [idName, secretName] = [`${family}_ACCESS_KEY_ID`, `${family}_SECRET_ACCESS_KEY`] as const
    const accessKeyId = environment[idName]
    const secretAccessKey = environment[secretName]
    const sessionToken = environment[`${family}_SESSION_TOKEN`]
    if (accessKeyId && secretAccessKey) return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) }
    if (accessKeyId || secretAccessKey) {
      const [there, missing] = accessKeyId ? [idName, secretName] : [secretName, idName]
      warn(`${there} is set without ${missing} and is ignored`)
    }
  }
  return undefined
}

/** Settings of profiles by name. */
type Profile = ReadonlyMap<string, string>

/** The two files that contain profiles. AWS tools read `credentials` before `config`. */
interface ProfileFiles {
  readonly credentials: string
  readonly config: string
}

/** Returns the files to search, in order: one configured by the user, then those of the AWS tools. */
export function profileFiles(environment: NodeJS.ProcessEnv): readonly ProfileFiles[] {
  const { CLOUD_CONFIG_FILE: own, AWS_CONFIG_FILE, AWS_SHARED_CREDENTIALS_FILE } = environment
  const home = homeFolder(environment)
  const credentials = AWS_SHARED_CREDENTIALS_FILE || (home && join(home, '.aws', 'credentials'))
  const config = AWS_CONFIG_FILE || (home && join(home, '.aws', 'config'))
  // A single configured file is used even without a home folder for the other one.
  const either = credentials || config
  const usual = either === undefined ? [] : [{ credentials: credentials || either, config: config || either }]
  return own ? [{ credentials: own, config: own }, ...usual] : usual
}

/** Returns the settings of the profile from the first file that defines it; undefined when neither does. Errors: `CREDENTIAL_SOURCE`. */
async function readProfile(name: string, { credentials, config }: ProfileFiles): Promise<Profile | undefined> {
  const found: Profile[] = []
  for (const file of new Set([credentials, config])) {
    const profiles = parseProfiles(await textOf(file))
    found.push(...[profiles.get(name), profiles.get(`profile ${name}`)].filter((profile) => profile !== undefined))
  }
  return found.length > 0 ? new Map(found.reverse().flatMap((profile) => [...profile])) : undefined
}

/** Parses sections and their settings. Indented lines belong to nested settings and are skipped. */
function parseProfiles(text: string): ReadonlyMap<string, Profile> {
  const profiles = new Map<string, Map<string, string>>()
  let current = new Map<string, string>()
  for (const line of text.split(/\r?\n/)) {
    const section = /^\[\s*(.*?)\s*\]/.exec(line)?.[1]
    if (section !== undefined) {
      const name = section.replace(/\s+/g, ' ').replace(/"/g, '')
      current = profiles.get(name) ?? new Map()
      profiles.set(name, current)
    }
    const [, setting, value] = /^([^\s#;[=][^=]*?)\s*=\s*(.*?)(?:\s+[#;].*)?\s*$/.exec(line) ?? []
    if (setting && value) current.set(setting.toLowerCase(), value)
  }
  return profiles
}

/** Reads a file of profiles; a missing file has no profiles. */
async function textOf(file: string): Promise<string> {
  try {
    return await readFile(secretFilePath(file), 'utf8')
  } catch (error) {
    if (isAuthError(error)) throw error
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOENT') return ''
    throw new CredentialError('CREDENTIAL_SOURCE', `the file ${file} cannot be read: ${code}`)
  }
}

/** A profile and the files that define it. */
interface NamedProfile {
  readonly name: string
  readonly settings: Profile
  readonly files: ProfileFiles
}

/** Settings that determine the source of a profile's keys, in order of precedence. */
const WAYS = [
  'role_arn',
  'aws_access_key_id',
  'aws_secret_access_key',
  'credential_process',
  'sso_session',
  'sso_start_url',
  'login_session',
]

/** Returns true when the profile defines a source of keys; many profiles set only a region. */
function givesKeys({ settings }: NamedProfile): boolean {
  return WAYS.some((setting) => settings.has(setting))
}

/**
 * Returns the keys, with the region of the profile.
 *
 * Errors: `CREDENTIAL_SOURCE` for missing settings and failures, `LOGIN_REQUIRED` for an expired session.
 */
async function profileKeys(profile: NamedProfile, user: AwsUser): Promise<S3Keys> {
  const keys = await keysBy(profile, user, [])
  const region = profile.settings.get('region')
  return region ? { ...keys, region } : keys
}

async function keysBy(profile: NamedProfile, user: AwsUser, seen: readonly string[]): Promise<S3Keys> {
  const { settings, name } = profile
  // A role may be assumed with keys of the same profile.
  if (settings.has('role_arn') && !seen.includes(name)) return roleKeys(profile, user, seen)
  if (settings.has('aws_access_key_id') || settings.has('aws_secret_access_key')) return ownKeys(profile)
  const line = settings.get('credential_process')
  if (line) return keysOfProcess(line)
  const way = ['sso_session', 'sso_start_url', 'login_session'].find((setting) => settings.has(setting))
  if (way === undefined) throw new CredentialError('CREDENTIAL_SOURCE', `profile "${name}" is incomplete: it has no aws_access_key_id`)
  return sessionKeys(profile, way, user)
}

function ownKeys({ name, settings }: NamedProfile): S3Keys {
  const accessKeyId = settings.get('aws_access_key_id')
  const secretAccessKey = settings.get('aws_secret_access_key')
  const sessionToken = settings.get('aws_session_token')
  if (accessKeyId && secretAccessKey) return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) }
  const missing = accessKeyId ? 'aws_secret_access_key' : 'aws_access_key_id'
  throw new CredentialError('CREDENTIAL_SOURCE', `profile "${name}" is incomplete: it has no ${missing}`)
}

/** Returns the keys of a user who logged in with the AWS tools. */
async function sessionKeys({ name, files }: NamedProfile, way: string, { load }: AwsUser): Promise<S3Keys> {
  const { askAws, SERVICE_CLIENT } = await import('./aws-package.ts')
  const options = {
    profile: name,
    filepath: files.credentials,
    configFilepath: files.config,
    ignoreCache: true,
    clientConfig: SERVICE_CLIENT,
  }
  return askAws(
    {
      source: `profile "${name}" (${way})`,
      profile: name,
      provider: (aws) => (way === 'login_session' ? aws.fromLoginCredentials?.(options) : aws.fromSSO(options)),
    },
    load,
  )
}

async function roleKeys(profile: NamedProfile, user: AwsUser, seen: readonly string[]): Promise<S3Keys> {
  const { name, settings } = profile
  const source = `profile "${name}" (role_arn)`
  const roleArn = settings.get('role_arn')
  const roleSessionName = settings.get('role_session_name')
  const webIdentityTokenFile = settings.get('web_identity_token_file')
  if (webIdentityTokenFile && !settings.has('source_profile') && !settings.has('credential_source')) {
    const { webIdentityKeys } = await import('./aws-package.ts')
    return webIdentityKeys(source, { roleArn, webIdentityTokenFile, ...(roleSessionName && { roleSessionName }) }, user, name)
  }
  const masterCredentials = await startingKeys(profile, user, [...seen, name])
  const serial = settings.get('mfa_serial')
  const duration = settings.get('duration_seconds')
  const region = settings.get('region')
  const code = serial && (await promptSecret(`MFA code of ${serial} for profile "${name}"`))
  const { askAws, SERVICE_CLIENT } = await import('./aws-package.ts')
  const params = {
    RoleArn: roleArn,
    ...(roleSessionName && { RoleSessionName: roleSessionName }),
    ...(settings.has('external_id') && { ExternalId: settings.get('external_id') }),
    ...(duration && { DurationSeconds: Number(duration) }),
    ...(serial && { SerialNumber: serial }),
  }
  const clientConfig = { ...SERVICE_CLIENT, ...(region && { region }) }
  const options = { masterCredentials, params, clientConfig, mfaCodeProvider: async () => code }
  return askAws({ source, profile: name, provider: (aws) => aws.fromTemporaryCredentials(options) }, user.load)
}

/** Returns the keys with which a role is assumed. */
async function startingKeys({ name, settings, files }: NamedProfile, user: AwsUser, seen: readonly string[]): Promise<S3Keys> {
  const source = settings.get('source_profile')
  if (source === undefined) return sourceKeys(name, settings.get('credential_source'), user)
  if (seen.includes(source) && source !== name) throw circular(name, source)
  const starting = await readProfile(source, files)
  if (starting) return keysBy({ name: source, settings: starting, files }, user, seen)
  throw new CredentialError(
    'CREDENTIAL_SOURCE',
    `profile "${name}" cannot be used: its source_profile "${source}" is not defined in ${files.config}`,
  )
}

/** `credential_source` names an environment, container or instance instead of a profile. */
async function sourceKeys(name: string, source: string | undefined, user: AwsUser): Promise<S3Keys> {
  const { containerKeys, instanceKeys } = await import('./aws-package.ts')
  const found =
    source === 'Environment'
      ? pairIn(user.environment, user.warn, ['AWS'])
      : source === 'EcsContainer'
        ? await containerKeys(user)
        : source === 'Ec2InstanceMetadata'
          ? await instanceKeys(user)
          : undefined
  if (found) return found
  if (source === undefined)
    throw new CredentialError('CREDENTIAL_SOURCE', `profile "${name}" is incomplete: it has role_arn without source_profile`)
  throw new CredentialError(
    'CREDENTIAL_SOURCE',
    `profile "${name}" cannot be used: its credential_source ${source} is not available on this machine`,
    {
      ...(source === 'Ec2InstanceMetadata' && { hint: 'the metadata service is used only for a credential with "instanceMetadata": true' }),
    },
  )
}

function circular(name: string, source: string): AuthError {
  return new CredentialError(
    'CREDENTIAL_SOURCE',
    `profiles "${name}" and "${source}" cannot be used: they refer to each other in source_profile`,
  )
}

const PROGRAM_HINT = 'run it yourself: it must print {"Version": 1, "AccessKeyId": …, "SecretAccessKey": …} and exit with code 0'

/**
 * Returns the keys that the `credential_process` of a profile prints. The program is started directly, without a shell; arguments are not
 * expanded.
 *
 * Errors: `CREDENTIAL_SOURCE` with the name of the program and the problem, never with its output or arguments.
 */
export async function keysOfProcess(line: string): Promise<S3Keys> {
  const words = wordsOf(line)
  const [program = ''] = words ?? []
  if (!words || !program)
    throw programError('of credential_process', 'cannot be separated from its arguments', 'check the quotes in its line')
  const answer = parsedJson(new TextDecoder().decode(await runProgram(words, PROGRAM_HINT)))
  if (!isObject(answer) || answer.Version !== 1) throw programError(program, 'did not print JSON with "Version": 1', PROGRAM_HINT)
  const keys = keysIn(answer)
  if (!keys) throw programError(program, 'did not print usable keys', PROGRAM_HINT)
  return keys
}

/** Splits a command line as a shell does, without expansion; on Windows, backslashes separate folders. */
export function wordsOf(line: string, windows = process.platform === 'win32'): readonly string[] | undefined {
  return shellWords(windows ? line.replaceAll('\\', '\\\\') : line)
}
