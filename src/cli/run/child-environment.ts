/** Builds the environment of the program that `run` starts. */
import { isObject } from '../../stac/document.ts'
import type { Io } from '../io.ts'

type Environment = Io['env']

/** Variables with secrets of ours, whatever the credential file says. */
const OWN_SECRETS = ['STAC_AUTH_TOKEN', 'STAC_AUTH_TRANSLATION_KEY', 'STAC_AUTH_TIME_TOKEN', 'STAC_AUTH_QUEUE']

/** Variables with the keys of `s3` credentials that name none (`node/credentials/aws-keys.ts`). */
const STORE_SECRETS = ['AWS', 'CLOUD'].flatMap((family) => [
  `${family}_ACCESS_KEY_ID`,
  `${family}_SECRET_ACCESS_KEY`,
  `${family}_SESSION_TOKEN`,
])

/** Proxies that would be asked for URLs of the gateway, and so would learn them. */
const PROXIES = ['http_proxy', 'HTTP_PROXY', 'all_proxy', 'ALL_PROXY', 'GDAL_HTTP_PROXY']

const LOOPBACK = ['127.0.0.1', 'localhost', '::1']

/** The environment of the program: variables that are added, and variables that are removed. */
export interface ChildEnvironmentOptions {
  /** Variables of the gateway. */
  readonly added: Readonly<Record<string, string>>
  /** Names of the variables that are taken out. */
  readonly without: readonly string[]
}

/** Returns the environment of the program. Where it has a proxy, the loopback addresses are exempt from it. */
export function childEnvironment(env: Environment, { added, without }: ChildEnvironmentOptions): Record<string, string> {
  // On Windows names are compared without their case.
  const fold = (name: string) => (process.platform === 'win32' ? name.toUpperCase() : name)
  const removed = new Set(without.map(fold))
  const kept = Object.entries(env).filter(([name, value]) => value !== undefined && !removed.has(fold(name)))
  return { ...(Object.fromEntries(kept) as Record<string, string>), ...exemptions(env), ...added }
}

/** Returns `no_proxy` in both spellings, for programs read one or the other; nothing without a proxy. */
function exemptions(env: Environment): Record<string, string> {
  if (!PROXIES.some((name) => env[name])) return {}
  const listed = [env.no_proxy, env.NO_PROXY].flatMap((list) => (list ?? '').split(/[\s,]+/).filter(Boolean))
  const list = [...new Set([...listed, ...LOOPBACK])].join(',')
  return { no_proxy: list, NO_PROXY: list }
}

/** Returns the names of the variables that hold secrets for these credentials, as they stand in a credential file. */
export function secretVariables(credentials: readonly unknown[]): readonly string[] {
  const names = new Set(OWN_SECRETS)
  for (const credential of credentials) {
    if (isObject(credential) && credential.type === 's3' && credential.accessKeyId === undefined) {
      for (const name of STORE_SECRETS) names.add(name)
    }
    for (const name of sources(credential)) names.add(name)
  }
  return [...names]
}

/** Returns the names in `{ "env": NAME }` at any depth: parameters of signing APIs have sources of their own. */
function sources(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(sources)
  if (!isObject(value)) return []
  const members = Object.values(value)
  return typeof value.env === 'string' && members.length === 1 ? [value.env] : members.flatMap(sources)
}
