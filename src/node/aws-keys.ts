/**
 * Object-store keys of the user's environment, for `s3` entries without keys of their own. `CLOUD_*` goes before `AWS_*`,
 * variables before profiles, and a pair never mixes the two families.
 */
import { ConfigurationError, CredentialError } from '../errors.ts'
import { isLoopbackHost } from '../http/public-address.ts'
import type { S3KeySource, S3Keys } from '../platform/platform.ts'
import { profileFiles, profileKeys, readProfile } from './aws-profile.ts'

const FAMILIES = ['CLOUD', 'AWS'] as const

const HINT =
  'set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (or CLOUD_ACCESS_KEY_ID and CLOUD_SECRET_ACCESS_KEY), or AWS_PROFILE (CLOUD_PROFILE with CLOUD_CONFIG_FILE), or give the entry a "profile" or keys'

/**
 * The source of an entry's keys: the entry's profile, else the variables, else the profile that the variables name.
 *
 * Errors: `CREDENTIAL_SOURCE` when asked for keys, `CONFIG_INVALID` at once for an endpoint that is no https URL.
 */
export function awsKeys(entry: { readonly profile?: string }, environment: NodeJS.ProcessEnv = process.env): S3KeySource {
  const { AWS_REGION, AWS_DEFAULT_REGION } = environment
  const place = { endpoint: endpointIn(environment), region: AWS_REGION || AWS_DEFAULT_REGION || undefined }
  return Object.assign(async (warn = (_message: string) => {}) => {
    noteUnsigned(environment, warn)
    return (entry.profile ? undefined : pairIn(environment, warn)) ?? keysOfProfile(entry.profile, environment)
  }, place)
}

/** Key id and secret of the first family that has both. */
function pairIn(environment: NodeJS.ProcessEnv, warn: (message: string) => void): S3Keys | undefined {
  for (const family of FAMILIES) {
    const [idName, secretName] = [`${family}_ACCESS_KEY_ID`, `${family}_SECRET_ACCESS_KEY`] as const
    const accessKeyId = environment[idName]
    const secretAccessKey = environment[secretName]
    const sessionToken = environment[`${family}_SESSION_TOKEN`]
    if (accessKeyId && secretAccessKey) return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) }
    if (accessKeyId || secretAccessKey) {
      const [there, missing] = accessKeyId ? [idName, secretName] : [secretName, idName]
      warn(`${there} is set without ${missing} and is passed over`)
    }
  }
  return undefined
}

async function keysOfProfile(wanted: string | undefined, environment: NodeJS.ProcessEnv): Promise<S3Keys> {
  const named = wanted || environment.CLOUD_PROFILE || environment.AWS_PROFILE
  const files = profileFiles(environment)
  const profile = await readProfile(named ?? 'default', files)
  if (profile) return profileKeys(named ?? 'default', profile)
  if (named) throw new CredentialError('CREDENTIAL_SOURCE', `there is no profile "${named}" in ${files.join(' or ')}`)
  throw new CredentialError('CREDENTIAL_SOURCE', 'there are no object-store keys in the environment', { hint: HINT })
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
