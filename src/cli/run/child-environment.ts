/** Builds the environment of the program that `run` starts. */
import type { Provider } from '../../providers/provider.ts'
import { isObject } from '../../stac/document.ts'
import type { Io } from '../io.ts'

type Environment = Io['env']

/** Variables of stac-auth, of its services, of the stores and of the archives whose keys it reads: all are secrets or lead to them. */
const READ_BY_US = /^(?:STAC_AUTH|AWS|CLOUD|EARTHDATA)_/i

/** Of these, the ones that name no secret and no place of one. */
const SETTINGS =
  /^(?:STAC_AUTH_(?:CREDENTIALS|DEBUG)|AWS_(?:REGION|DEFAULT_REGION|NO_SIGN_REQUEST|HTTPS|VIRTUAL_HOSTING|REQUEST_PAYER|S3_ENDPOINT|ENDPOINT_URL(?:_S3)?|CA_BUNDLE|EC2_METADATA_DISABLED))$/i

/** Variables with the URL of a proxy, which may have a password in it. */
const PROXY_URL = /^(?!no_)(?:.*_)?proxy$/i

/** The user and the password of a proxy. */
const PROXY_SECRET = /_PROXY(?:USERPWD|_(?:USER|USERNAME|PASS|PASSWORD|AUTH))$/i

/** Proxies that would be asked for URLs of the gateway, and so would learn them. */
const PROXIES = ['http_proxy', 'HTTP_PROXY', 'all_proxy', 'ALL_PROXY', 'GDAL_HTTP_PROXY']

const LOOPBACK = ['127.0.0.1', 'localhost', '::1']

/** The environment of the program: variables that are added, and those with secrets. */
export interface ChildEnvironmentOptions {
  /** Variables of the gateway. */
  readonly added: Readonly<Record<string, string>>
  /** Names of the variables that the credential file reads; undefined keeps all secrets. */
  readonly sources: readonly string[] | undefined
}

/**
 * Returns the environment of the program: no variable that stac-auth reads for a secret, and proxies without user and password. Where it
 * has a proxy, the loopback addresses are exempt from it.
 */
export function childEnvironment(env: Environment, { added, sources }: ChildEnvironmentOptions): Record<string, string> {
  // On Windows names are compared without their case.
  const fold = (name: string) => (process.platform === 'win32' ? name.toUpperCase() : name)
  const named = new Set(sources?.map(fold))
  const isSecret = (name: string) => named.has(fold(name)) || (READ_BY_US.test(name) && !SETTINGS.test(name)) || PROXY_SECRET.test(name)
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || (sources && isSecret(name))) continue
    kept[name] = sources && PROXY_URL.test(name) ? value.replace(USER_INFO, '$1') : value
  }
  return { ...kept, ...exemptions(env), ...added }
}

/** What is before the host of a URL, also of one without a scheme. */
const USER_INFO = /^(\s*(?:[a-z][a-z\d+.-]*:\/\/)?).*@/is

/** Returns `no_proxy` in both spellings, for programs read one or the other; nothing without a proxy. */
function exemptions(env: Environment): Record<string, string> {
  if (!PROXIES.some((name) => env[name])) return {}
  const listed = [env.no_proxy, env.NO_PROXY].flatMap((names) => (names ?? '').split(/[\s,]+/).filter(Boolean))
  const list = [...new Set([...listed, ...LOOPBACK])].join(',')
  return { no_proxy: list, NO_PROXY: list }
}

/**
 * Returns the names of the variables that a credential file reads, whatever its members are: those in `{ "env": NAME }` at any depth of the
 * parsed file, and `NETRC` where it has a `{ "netrc": MACHINE }`.
 */
export function secretVariables(file: unknown): readonly string[] {
  if (Array.isArray(file)) return file.flatMap(secretVariables)
  if (!isObject(file)) return []
  const named = [...(typeof file.env === 'string' ? [file.env] : []), ...(typeof file.netrc === 'string' ? ['NETRC'] : [])]
  return [...named, ...Object.values(file).flatMap(secretVariables)]
}

/** Returns the names of the variables that `setup` reads secrets of known providers from, which no credential file need name. */
export function providerVariables(providers: readonly Provider[]): readonly string[] {
  const holes = providers.flatMap(({ ways }) => ways.flatMap((way) => Object.values(way.holes)))
  return holes.flatMap(({ kind, env = [] }) => (kind === 'secret' ? env : []))
}
