/**
 * Object-store keys of the user's environment, for `s3` credentials without keys of their own. `CLOUD_*` goes before `AWS_*`,
 * variables before profiles, profiles before what the machine gives, and a pair never mixes the two families.
 */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigurationError, CredentialError } from '../../errors.ts'
import { isLoopbackHost } from '../../http/public-address.ts'
import type { S3KeySource, S3Keys, S3KeyWish } from '../../platform/platform.ts'
import type { AwsProviders } from './aws-package.ts'
import type { FoundProfile } from './aws-profile-keys.ts'
import { HOME_HINT, homeFolder } from './user-folder.ts'

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
  'set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (or CLOUD_ACCESS_KEY_ID and CLOUD_SECRET_ACCESS_KEY), or AWS_PROFILE (CLOUD_PROFILE with CLOUD_CONFIG_FILE), or give the credential a "profile", a "credentialsUrl" or keys'

/**
 * The source of a credential's keys: its profile, else the variables, else the profile that the variables name or the one called
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
  const keys = await (await import('./aws-package.ts')).machineKeys(user)
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
    if (/^(yes|true|1)$/i.test(environment[name] ?? '')) warn(`${name} is ignored: the document requires signed requests`)
  }
}

function endpointIn({ AWS_ENDPOINT_URL_S3: endpoint }: NodeJS.ProcessEnv): string | undefined {
  if (!endpoint) return undefined
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined
  const secure = url && (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url.hostname)))
  if (!secure || url.username || url.search) throw new ConfigurationError('CONFIG_INVALID', 'AWS_ENDPOINT_URL_S3 must be an https URL')
  return url.origin + url.pathname.replace(/\/+$/, '')
}

/** Prefixes of variables, the one that goes first first. */
export const FAMILIES = ['CLOUD', 'AWS'] as const

/** Key id and secret of the first family that has both, with its own session token; half a pair is reported and ignored. */
export function pairIn(
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

/** Settings of a profile by name. */
export type Profile = ReadonlyMap<string, string>

/** The two files that hold profiles: the tools of AWS read `credentials` before `config`. */
export interface ProfileFiles {
  readonly credentials: string
  readonly config: string
}

/** The files to look in, in their order: one of the user's own choice, then those of the tools of AWS. */
export function profileFiles(environment: NodeJS.ProcessEnv): readonly ProfileFiles[] {
  const { CLOUD_CONFIG_FILE: own, AWS_CONFIG_FILE, AWS_SHARED_CREDENTIALS_FILE } = environment
  const home = homeFolder(environment)
  const credentials = AWS_SHARED_CREDENTIALS_FILE || (home && join(home, '.aws', 'credentials'))
  const config = AWS_CONFIG_FILE || (home && join(home, '.aws', 'config'))
  // One file that is named is read where there is no place for the other one.
  const either = credentials || config
  const usual = either === undefined ? [] : [{ credentials: credentials || either, config: config || either }]
  return own ? [{ credentials: own, config: own }, ...usual] : usual
}

/** The profile's settings, the first file that has one counts; undefined when neither file knows it. Errors: `CREDENTIAL_SOURCE`. */
export async function readProfile(name: string, { credentials, config }: ProfileFiles): Promise<Profile | undefined> {
  const found: Profile[] = []
  for (const file of new Set([credentials, config])) {
    const profiles = parseProfiles(await textOf(file))
    found.push(...[profiles.get(name), profiles.get(`profile ${name}`)].filter((profile) => profile !== undefined))
  }
  return found.length > 0 ? new Map(found.reverse().flatMap((profile) => [...profile])) : undefined
}

/** Sections and their settings. Indented lines belong to a nested group and are left out. */
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

/** A file that is not there has no profiles. */
async function textOf(file: string): Promise<string> {
  const home = homeFolder()
  if (file.startsWith('~/') && home === undefined)
    throw new CredentialError('CREDENTIAL_SOURCE', `${file} is in the home folder, but no home folder is set`, { hint: HOME_HINT })
  const path = file.startsWith('~/') && home !== undefined ? join(home, file.slice(2)) : file
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOENT') return ''
    throw new CredentialError('CREDENTIAL_SOURCE', `${file} cannot be read (${code})`)
  }
}
