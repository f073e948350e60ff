/** Profiles in the configuration files that object-store tools share. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CredentialError } from '../errors.ts'
import { HOME_HINT, homeFolder } from './user-folder.ts'

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
    throw new CredentialError('CREDENTIAL_SOURCE', `${file} is in a home folder, and there is none`, { hint: HOME_HINT })
  const path = file.startsWith('~/') && home !== undefined ? join(home, file.slice(2)) : file
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOENT') return ''
    throw new CredentialError('CREDENTIAL_SOURCE', `${file} cannot be read (${code})`)
  }
}
