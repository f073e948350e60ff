/** Profiles in the configuration files that object-store tools share. */
import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { CredentialError } from '../errors.ts'
import type { S3Keys } from '../platform/platform.ts'

/** Settings of a profile by name. */
export type Profile = ReadonlyMap<string, string>

/** Ways to obtain keys that a profile may name, in the order in which they are looked for. */
const INDIRECT = ['sso_session', 'sso_start_url', 'credential_process', 'role_arn', 'source_profile', 'web_identity_token_file']

/** The files that may hold profiles; a file of the user's own choice stands alone. */
export function profileFiles(environment: NodeJS.ProcessEnv): readonly string[] {
  const { CLOUD_CONFIG_FILE, AWS_CONFIG_FILE, AWS_SHARED_CREDENTIALS_FILE } = environment
  if (CLOUD_CONFIG_FILE) return [CLOUD_CONFIG_FILE]
  const folder = join(homedir(), '.aws')
  return [AWS_SHARED_CREDENTIALS_FILE || join(folder, 'credentials'), AWS_CONFIG_FILE || join(folder, 'config')]
}

/** The profile's settings, the first file that has one counts; undefined when no file knows it. Errors: `CREDENTIAL_SOURCE`. */
export async function readProfile(name: string, files: readonly string[]): Promise<Profile | undefined> {
  const found: Profile[] = []
  for (const file of files) {
    const profiles = parseProfiles(await textOf(file))
    found.push(...[profiles.get(name), profiles.get(`profile ${name}`)].filter((profile) => profile !== undefined))
  }
  return found.length > 0 ? new Map(found.reverse().flatMap((profile) => [...profile])) : undefined
}

/** The keys in a profile. Errors: `CREDENTIAL_SOURCE` with the way out for keys that the profile only points to. */
export function profileKeys(name: string, profile: Profile): S3Keys {
  const accessKeyId = profile.get('aws_access_key_id')
  const secretAccessKey = profile.get('aws_secret_access_key')
  const sessionToken = profile.get('aws_session_token')
  const region = profile.get('region')
  if (accessKeyId && secretAccessKey) {
    return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }), ...(region && { region }) }
  }
  const indirect = INDIRECT.find((setting) => profile.has(setting))
  if (indirect) {
    throw new CredentialError('CREDENTIAL_SOURCE', `profile "${name}" gets its keys by ${indirect}, which is not supported`, {
      hint: `eval "$(aws configure export-credentials --profile ${name} --format env)"`,
    })
  }
  const missing = accessKeyId ? 'aws_secret_access_key' : 'aws_access_key_id'
  throw new CredentialError('CREDENTIAL_SOURCE', `profile "${name}" has no ${missing}`)
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
  const path = file.startsWith('~/') ? join(homedir(), file.slice(2)) : file
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOENT') return ''
    throw new CredentialError('CREDENTIAL_SOURCE', `${file} cannot be read (${code})`)
  }
}
