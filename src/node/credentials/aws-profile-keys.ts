/** Keys of a profile, from the sources that AWS tools support and in their order. */
import { type AuthError, CredentialError } from '../../errors.ts'
import type { S3Keys } from '../../platform/platform.ts'
import { isObject } from '../../stac/document.ts'
import { keysIn } from '../../strategies/s3/keys.ts'
import { type AwsUser, type Profile, type ProfileFiles, pairIn, readProfile } from './aws-keys.ts'
import { programError, promptSecret, runProgram } from './secret-source.ts'

/** A profile and the files that define it. */
export interface FoundProfile {
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
export function givesKeys({ settings }: FoundProfile): boolean {
  return WAYS.some((setting) => settings.has(setting))
}

/**
 * Returns the keys, with the region of the profile.
 *
 * Errors: `CREDENTIAL_SOURCE` for missing settings and failures, `LOGIN_REQUIRED` for an expired session.
 */
export async function profileKeys(profile: FoundProfile, user: AwsUser): Promise<S3Keys> {
  const keys = await keysBy(profile, user, [])
  const region = profile.settings.get('region')
  return region ? { ...keys, region } : keys
}

async function keysBy(profile: FoundProfile, user: AwsUser, seen: readonly string[]): Promise<S3Keys> {
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

function ownKeys({ name, settings }: FoundProfile): S3Keys {
  const accessKeyId = settings.get('aws_access_key_id')
  const secretAccessKey = settings.get('aws_secret_access_key')
  const sessionToken = settings.get('aws_session_token')
  if (accessKeyId && secretAccessKey) return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) }
  const missing = accessKeyId ? 'aws_secret_access_key' : 'aws_access_key_id'
  throw new CredentialError('CREDENTIAL_SOURCE', `profile "${name}" is incomplete: it has no ${missing}`)
}

/** Returns the keys of a user who logged in with the AWS tools. */
async function sessionKeys({ name, files }: FoundProfile, way: string, { load }: AwsUser): Promise<S3Keys> {
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

async function roleKeys(profile: FoundProfile, user: AwsUser, seen: readonly string[]): Promise<S3Keys> {
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
async function startingKeys({ name, settings, files }: FoundProfile, user: AwsUser, seen: readonly string[]): Promise<S3Keys> {
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

const HINT = 'run it yourself: it must print {"Version": 1, "AccessKeyId": …, "SecretAccessKey": …} and exit with code 0'

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
  const answer = parsed(await runProgram(words, HINT))
  if (!isObject(answer) || answer.Version !== 1) throw programError(program, 'did not print JSON with "Version": 1', HINT)
  const keys = keysIn(answer)
  if (!keys) throw programError(program, 'did not print usable keys', HINT)
  return keys
}

const WORD = /((?:[^\s"'\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+)(?:\s+|$)/y

/** Backslashes separate folders on Windows. */
const WINDOWS_WORD = /((?:[^\s"]|"[^"]*")+)(?:\s+|$)/y

/** Splits a command line as a POSIX shell does, without expansion; undefined for an unterminated quote. */
export function wordsOf(line: string, windows = process.platform === 'win32'): readonly string[] | undefined {
  const text = line.trim()
  const pattern = new RegExp(windows ? WINDOWS_WORD : WORD)
  const words: string[] = []
  while (pattern.lastIndex < text.length) {
    const word = pattern.exec(text)?.[1]
    if (word === undefined) return undefined
    words.push(windows ? word.replaceAll('"', '') : unquoted(word))
  }
  return words
}

/** In double quotes, a backslash escapes only a quote or a backslash. */
function unquoted(word: string): string {
  return word.replace(/"((?:[^"\\]|\\.)*)"|'([^']*)'|\\(.)/g, (_, double?: string, single?: string, escaped?: string) =>
    double === undefined ? (single ?? escaped ?? '') : double.replace(/\\(["\\$`])/g, '$1'),
  )
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return undefined
  }
}
