/** Builds the environment of the program of `run`, starts it, passes signals on to it and waits for it. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { constants } from 'node:os'
import type { ConfigurationError } from '../../errors.ts'
import { systemCode } from '../../node/base/index.ts'
import type { Provider } from '../../providers/provider.ts'
import { isObject } from '../../stac/document.ts'
import { usageError } from '../exit-code.ts'
import type { Io } from '../io.ts'

const PASSED_ON = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const

/**
 * Runs a program with the standard streams of this process and returns its exit code; 128 and the number of the signal that ended it.
 * It does not outlive this process, unless that is killed.
 *
 * Errors: `USAGE` for a program that cannot be started.
 */
export async function runChild(command: readonly string[], env: Record<string, string>, io: Io): Promise<number> {
  const [program = '', ...args] = command
  const stdio = [stdioOf(io.stdin), stdioOf(io.stdout), stdioOf(io.stderr)]
  const child = started(program, args, { env, stdio, windowsHide: true })
  const ended = new Promise<number>((resolve, reject) => {
    child.once('error', (error) => reject(notStarted(program, error)))
    child.once('close', (code, signal) => resolve(signal === null ? (code ?? 0) : 128 + constants.signals[signal]))
  })
  // A program that does not read its input closes it.
  if (child.stdin) io.stdin.pipe(child.stdin.on('error', () => undefined))
  child.stdout?.pipe(io.stdout, { end: false })
  child.stderr?.pipe(io.stderr, { end: false })
  const isAtTerminal = [io.stdin, io.stdout, io.stderr].some(({ isTTY }) => isTTY)
  const release = passSignals(child, isAtTerminal)
  try {
    return await ended
  } finally {
    release()
  }
}

/** Node throws some failures instead of reporting them, such as for the batch files of Windows. */
function started(program: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  try {
    return spawn(program, args, options)
  } catch (error) {
    throw notStarted(program, error)
  }
}

/** A stream of this process is inherited, so that a terminal stays one; another one is piped. */
function stdioOf(stream: unknown): 'inherit' | 'pipe' {
  return stream === process.stdin || stream === process.stdout || stream === process.stderr ? 'inherit' : 'pipe'
}

/**
 * Passes signals on until the returned function is called. Those of the keyboard reach the program from the terminal already, and twice
 * they would mean something else.
 */
function passSignals(child: ChildProcess, terminal: boolean): () => void {
  const pass = (signal: NodeJS.Signals) => {
    if (!terminal || (signal !== 'SIGINT' && signal !== 'SIGQUIT')) child.kill(signal)
  }
  const kill = () => child.kill()
  for (const signal of PASSED_ON) process.on(signal, pass)
  process.once('exit', kill)
  return () => {
    for (const signal of PASSED_ON) process.off(signal, pass)
    process.off('exit', kill)
  }
}

const BATCH_HINT = 'put cmd /c before a batch file (.cmd, .bat)'

function notStarted(program: string, error: unknown): ConfigurationError {
  const code = systemCode(error)
  if (/\.(?:bat|cmd)$/i.test(program) && code === 'EINVAL') return usageError(`cannot start "${program}": it is a batch file`, BATCH_HINT)
  const hint = process.platform === 'win32' ? `check its name, or give its path; ${BATCH_HINT}` : 'check its name, or give its path'
  if (code === 'ENOENT') return usageError(`cannot start "${program}": the program was not found`, hint)
  const why = code === 'EACCES' ? 'it is not an executable file' : `the system refuses it (${code ?? 'unknown reason'})`
  return usageError(`cannot start "${program}": ${why}`, 'give the path of a program, and its arguments after it')
}

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

/**
 * Returns the environment of the program: no variable that stac-auth reads for a secret, and proxies without user and password. Where it
 * has a proxy, the loopback addresses are exempt from it.
 *
 * @param sources names of the variables that the credential file reads; undefined keeps all secrets
 */
export function childEnvironment(
  env: Environment,
  { added, sources }: { readonly added: Readonly<Record<string, string>>; readonly sources: readonly string[] | undefined },
): Record<string, string> {
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
