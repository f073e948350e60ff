/**
 * Object-store keys of the user's environment, for `s3` entries without keys of their own. `CLOUD_*` goes before `AWS_*`,
 * variables before profiles, profiles before what the machine gives, and a pair never mixes the two families.
 */
import { ConfigurationError, CredentialError } from '../errors.ts'
import { isLoopbackHost } from '../http/public-address.ts'
import type { S3KeySource, S3Keys, S3KeyWish } from '../platform/platform.ts'
import type { AwsProviders } from './aws-package.ts'
import { FAMILIES, pairIn } from './aws-pair.ts'
import { type ProfileFiles, profileFiles, readProfile } from './aws-profile.ts'
import type { FoundProfile } from './aws-profile-keys.ts'
import { HOME_HINT } from './user-folder.ts'

/** The user's side of the search for keys. */
export interface AwsUser {
  readonly environment: NodeJS.ProcessEnv
  /** The metadata service of the machine may be asked. */
  readonly instanceMetadata: boolean
  readonly warn: (message: string) => void
  /** Loads what asks the services of AWS; default: the optional package. */
  readonly load: (() => Promise<AwsProviders>) | undefined
}

const HINT =
  'set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (or CLOUD_ACCESS_KEY_ID and CLOUD_SECRET_ACCESS_KEY), or AWS_PROFILE (CLOUD_PROFILE with CLOUD_CONFIG_FILE), or give the entry a "profile", a "credentialsUrl" or keys'

/**
 * The source of an entry's keys: the entry's profile, else the variables, else the profile that the variables name or the one called
 * `default`, else what the machine gives.
 *
 * Errors: `CREDENTIAL_SOURCE` and `LOGIN_REQUIRED` when asked for keys, `CONFIG_INVALID` at once for an endpoint that is no https URL.
 */
export function awsKeys(entry: S3KeyWish, environment: NodeJS.ProcessEnv = process.env, load?: AwsUser['load']): S3KeySource {
  const { AWS_REGION, AWS_DEFAULT_REGION } = environment
  const place = { endpoint: endpointIn(environment), region: AWS_REGION || AWS_DEFAULT_REGION || undefined }
  return Object.assign(async (warn = (_message: string) => {}) => {
    noteUnsigned(environment, warn)
    const pair = entry.profile ? undefined : pairIn(environment, warn)
    return pair ?? keysBeyond(entry.profile, { environment, instanceMetadata: entry.instanceMetadata ?? false, warn, load })
  }, place)
}

/** Where no variable holds keys. */
async function keysBeyond(wanted: string | undefined, user: AwsUser): Promise<S3Keys> {
  const { environment } = user
  const named = wanted || environment.CLOUD_PROFILE || environment.AWS_PROFILE
  // The name of CLOUD_PROFILE belongs to CLOUD_CONFIG_FILE, where that is set.
  const places = profileFiles(environment).slice(0, !wanted && environment.CLOUD_PROFILE ? 1 : undefined)
  const profile = await findProfile(named ?? 'default', places)
  if (named && !profile) throw noProfile(named, places)
  if (profile) {
    const { givesKeys, profileKeys } = await import('./aws-profile-keys.ts')
    if (named || givesKeys(profile)) return profileKeys(profile, user)
  }
  const keys = await (await import('./aws-machine.ts')).machineKeys(user)
  if (!keys) throw new CredentialError('CREDENTIAL_SOURCE', 'there are no object-store keys in the environment', { hint: HINT })
  const region = profile?.settings.get('region')
  return region ? { ...keys, region } : keys
}

async function findProfile(name: string, places: readonly ProfileFiles[]): Promise<FoundProfile | undefined> {
  for (const files of places) {
    const settings = await readProfile(name, files)
    if (settings) return { name, settings, files }
  }
  return undefined
}

function noProfile(name: string, places: readonly ProfileFiles[]): CredentialError {
  if (places.length === 0) {
    const message = `there is no profile "${name}": no file is named, and there is no home folder`
    return new CredentialError('CREDENTIAL_SOURCE', message, { hint: `${HOME_HINT}, or name a file in AWS_CONFIG_FILE` })
  }
  const files = new Set(places.flatMap(({ credentials, config }) => [credentials, config]))
  return new CredentialError('CREDENTIAL_SOURCE', `there is no profile "${name}" in ${[...files].join(' or ')}`)
}

/** The document asks for a signature, so a wish not to sign does not count for it. */
function noteUnsigned(environment: NodeJS.ProcessEnv, warn: (message: string) => void): void {
  for (const name of FAMILIES.map((family) => `${family}_NO_SIGN_REQUEST`)) {
    if (/^(yes|true|1)$/i.test(environment[name] ?? '')) warn(`${name} is overruled: the document asks for signed requests`)
  }
}

function endpointIn({ AWS_ENDPOINT_URL_S3: endpoint }: NodeJS.ProcessEnv): string | undefined {
  if (!endpoint) return undefined
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined
  const secure = url && (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url.hostname)))
  if (!secure || url.username || url.search) throw new ConfigurationError('CONFIG_INVALID', 'AWS_ENDPOINT_URL_S3 must be an https URL')
  return url.origin + url.pathname.replace(/\/+$/, '')
}
