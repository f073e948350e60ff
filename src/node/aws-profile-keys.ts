/** Keys of a profile, whichever way it gets them; in the order of the tools of AWS. */
import { type AuthError, CredentialError } from '../errors.ts'
import type { S3Keys } from '../platform/platform.ts'
import type { AwsUser } from './aws-keys.ts'
import { type Profile, type ProfileFiles, readProfile } from './aws-profile.ts'

/** A profile and where it was found. */
export interface FoundProfile {
  readonly name: string
  readonly settings: Profile
  readonly files: ProfileFiles
}

/** Settings that say how a profile gets its keys, in the order in which they are looked at. */
const WAYS = [
  'role_arn',
  'aws_access_key_id',
  'aws_secret_access_key',
  'credential_process',
  'sso_session',
  'sso_start_url',
  'login_session',
]

/** True when the profile says anything about keys; many name a region only. */
export function givesKeys({ settings }: FoundProfile): boolean {
  return WAYS.some((setting) => settings.has(setting))
}

/**
 * The keys, with the profile's region. Errors: `CREDENTIAL_SOURCE` for what is missing or fails, `LOGIN_REQUIRED` for a session that has
 * ended.
 */
export async function profileKeys(profile: FoundProfile, user: AwsUser): Promise<S3Keys> {
  const keys = await keysBy(profile, user, [])
  const region = profile.settings.get('region')
  return region ? { ...keys, region } : keys
}

async function keysBy(profile: FoundProfile, user: AwsUser, seen: readonly string[]): Promise<S3Keys> {
  const { settings, name } = profile
  // A role may start from the keys that stand beside it.
  if (settings.has('role_arn') && !seen.includes(name)) return roleKeys(profile, user, seen)
  if (settings.has('aws_access_key_id') || settings.has('aws_secret_access_key')) return ownKeys(profile)
  const line = settings.get('credential_process')
  if (line) return (await import('./credential-process.ts')).keysOfProcess(line)
  const way = ['sso_session', 'sso_start_url', 'login_session'].find((setting) => settings.has(setting))
  if (way === undefined) throw new CredentialError('CREDENTIAL_SOURCE', `profile "${name}" has no aws_access_key_id`)
  return sessionKeys(profile, way, user)
}

function ownKeys({ name, settings }: FoundProfile): S3Keys {
  const accessKeyId = settings.get('aws_access_key_id')
  const secretAccessKey = settings.get('aws_secret_access_key')
  const sessionToken = settings.get('aws_session_token')
  if (accessKeyId && secretAccessKey) return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) }
  const missing = accessKeyId ? 'aws_secret_access_key' : 'aws_access_key_id'
  throw new CredentialError('CREDENTIAL_SOURCE', `profile "${name}" has no ${missing}`)
}

/** Those of a person who logged in with the tools of AWS. */
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
    const { webIdentityKeys } = await import('./aws-machine.ts')
    return webIdentityKeys(source, { roleArn, webIdentityTokenFile, ...(roleSessionName && { roleSessionName }) }, user, name)
  }
  const masterCredentials = await startingKeys(profile, user, [...seen, name])
  const serial = settings.get('mfa_serial')
  const duration = settings.get('duration_seconds')
  const region = settings.get('region')
  const code = serial && (await (await import('./secret-prompt.ts')).promptSecret(`MFA code of ${serial} for profile "${name}"`))
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

/** The keys with which a role is assumed. */
async function startingKeys({ name, settings, files }: FoundProfile, user: AwsUser, seen: readonly string[]): Promise<S3Keys> {
  const source = settings.get('source_profile')
  if (source === undefined) return sourceKeys(name, settings.get('credential_source'), user)
  if (seen.includes(source) && source !== name) throw circular(name, source)
  const starting = await readProfile(source, files)
  if (starting) return keysBy({ name: source, settings: starting, files }, user, seen)
  throw new CredentialError(
    'CREDENTIAL_SOURCE',
    `profile "${name}" starts from "${source}", and there is no such profile in ${files.config}`,
  )
}

/** `credential_source` names the place instead of a profile. */
async function sourceKeys(name: string, source: string | undefined, user: AwsUser): Promise<S3Keys> {
  const { containerKeys, instanceKeys } = await import('./aws-machine.ts')
  const { pairIn } = await import('./aws-pair.ts')
  const found =
    source === 'Environment'
      ? pairIn(user.environment, user.warn, ['AWS'])
      : source === 'EcsContainer'
        ? await containerKeys(user)
        : source === 'Ec2InstanceMetadata'
          ? await instanceKeys(user)
          : undefined
  if (found) return found
  if (source === undefined) throw new CredentialError('CREDENTIAL_SOURCE', `profile "${name}" has role_arn without source_profile`)
  throw new CredentialError('CREDENTIAL_SOURCE', `profile "${name}" gets its keys from ${source}, which has none here`, {
    ...(source === 'Ec2InstanceMetadata' && { hint: 'the metadata service is asked only for an entry with "instanceMetadata": true' }),
  })
}

function circular(name: string, source: string): AuthError {
  return new CredentialError('CREDENTIAL_SOURCE', `profiles "${name}" and "${source}" start from each other`)
}
