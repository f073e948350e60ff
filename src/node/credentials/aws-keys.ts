/**
 * Object store keys of the user's environment, for `s3` credentials without keys. `CLOUD_*` takes precedence over `AWS_*`, variables over
 * profiles, profiles over containers and instances. Key id and secret always come from the same family.
 */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigurationError, CredentialError } from '../../errors.ts'
import { isLoopbackHost } from '../../http/url.ts'
import type { S3KeySource, S3Keys, S3KeyWish } from '../../platform/platform.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import { HOME_HINT, homeFolder } from '../base/user-folder.ts'
import type { AwsProviders } from './aws-package.ts'
import type { FoundProfile } from './aws-profile-keys.ts'

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
    const { givesKeys, profileKeys } = await import('./aws-profile-keys.ts')
    if (named || givesKeys(profile)) return profileKeys(profile, user)
  }
  const keys = await (await import('./aws-package.ts')).machineKeys(user)
  if (!keys) throw new CredentialError('CREDENTIAL_SOURCE', 'no object store keys were found in the environment', { hint: HINT })
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
export const FAMILIES = ['CLOUD', 'AWS'] as const

/** Returns key id and secret of the first family that has both, with its session token. An incomplete pair is reported and ignored. */
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

/** Settings of profiles by name. */
export type Profile = ReadonlyMap<string, string>

/** The two files that contain profiles. AWS tools read `credentials` before `config`. */
export interface ProfileFiles {
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
export async function readProfile(name: string, { credentials, config }: ProfileFiles): Promise<Profile | undefined> {
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
  const home = homeFolder()
  if (file.startsWith('~/') && home === undefined)
    throw new CredentialError('CREDENTIAL_SOURCE', `the file ${file} cannot be read: there is no home folder`, { hint: HOME_HINT })
  const path = file.startsWith('~/') && home !== undefined ? join(home, file.slice(2)) : file
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOENT') return ''
    throw new CredentialError('CREDENTIAL_SOURCE', `the file ${file} cannot be read: ${code}`)
  }
}
