/** Checks of the network: proxy, certificates, clock, the hosts of the credentials and their discovery documents. Nothing secret is sent. */

import { connect } from 'node:net'
import type { Credential, CredentialObject, CredentialSet } from '../../auth/credential.ts'
import { loadStrategies } from '../../auth/strategy.ts'
import { NetworkError } from '../../errors.ts'
import type { HttpResponse, Send } from '../../http/message.ts'
import { certificatesOf, environmentProxies, namedAuthorities, OF_NODE } from '../../node/transport/index.ts'
import { ownString } from '../../stac/document.ts'
import { defaultStrategies } from '../../strategies/index.ts'
import { discoveryUrl } from '../../strategies/oauth2/server.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import type { Io } from '../io.ts'
import { jsonIn } from '../read-document.ts'
import { type Check, failed, ok, problem } from './check.ts'

/** Milliseconds for each request. */
const TIMEOUT = 10_000
/** Milliseconds that the clock may differ: signatures and tokens tolerate less than five minutes. */
const SKEW = 60_000

/** Checks the proxies that the environment names, and says which certificate authorities are trusted. */
export async function settingChecks({ env }: Pick<Io, 'env'>): Promise<readonly Check[]> {
  const checks = [await proxyChecks(env), caChecks(env)]
  const isDisabled = env.NODE_TLS_REJECT_UNAUTHORIZED === '0'
  const disabled = 'NODE_TLS_REJECT_UNAUTHORIZED=0 switches off the check of certificates: no credential is sent'
  return [
    ...checks.flat(),
    ...(isDisabled ? [problem('certificates', 'TLS_DISABLED', disabled, 'unset NODE_TLS_REJECT_UNAUTHORIZED')] : []),
  ]
}

async function proxyChecks(env: Io['env']): Promise<readonly Check[]> {
  const check = 'proxy'
  try {
    const proxies = environmentProxies({ ...env })
    const found = ['https:', 'http:'].map((protocol) => proxies?.for(protocol, 'data.example', protocol === 'https:' ? '443' : '80'))
    const used = [...new Map(found.filter((proxy) => proxy !== undefined).map((proxy) => [proxy.host, proxy])).values()]
    return await Promise.all(used.map(proxyCheck))
  } catch (error) {
    return [failed(check, error, 'correct HTTPS_PROXY, HTTP_PROXY or ALL_PROXY')]
  }
}

async function proxyCheck({ protocol, hostname, port, host }: URL): Promise<Check> {
  const number = Number(port || (protocol === 'https:' ? 443 : protocol.startsWith('socks') ? 1080 : 80))
  const problemOf = (why: string) =>
    problem('proxy', 'PROXY_UNREACHABLE', `${protocol}//${host} ${why}`, 'start the proxy, correct HTTPS_PROXY, or unset it')
  return new Promise((resolve) => {
    const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: number, timeout: TIMEOUT })
    const done = (check: Check) => {
      socket.destroy()
      resolve(check)
    }
    socket.on('connect', () => done(ok('proxy', `${protocol}//${host} accepts connections`)))
    socket.on('timeout', () => done(problemOf(`does not answer within ${TIMEOUT / 1000} s`)))
    socket.on('error', ({ code }: NodeJS.ErrnoException) => done(problemOf(`cannot be reached (${code})`)))
  })
}

/** Says which certificate authorities are trusted: Node's, and those of each variable that is set. */
function caChecks(env: Io['env']): readonly Check[] {
  const check = 'certificates'
  const { NODE_EXTRA_CA_CERTS: ofNode } = env
  try {
    const named = namedAuthorities({ ...env })
    const extra = ofNode ? [{ variable: OF_NODE, path: ofNode, certificates: certificatesOf(OF_NODE, ofNode) }] : []
    const sources = [...extra, ...named].map(({ variable, path, certificates }) => `${certificates.length} from ${path} (${variable})`)
    return [ok(check, `trusted are the authorities of Node ${process.versions.node}${sources.map((source) => `, ${source}`).join('')}`)]
  } catch (error) {
    return [failed(check, error)]
  }
}

/** Asks every host of the credentials for a response of any status, without a credential, and compares the clock with its `Date`. */
export async function hostChecks(origins: readonly string[], send: Send, signal: AbortSignal): Promise<readonly Check[]> {
  const results = await Promise.all(origins.map((origin) => hostCheck(origin, send, signal)))
  const skews = results.flatMap(({ skew }) => (skew === undefined ? [] : [skew]))
  return [...results.map(({ check }) => check), ...(skews.length > 0 ? [clockCheck(skews)] : [])]
}

/** A checked host, and by how many milliseconds this machine's clock is ahead of it. */
interface HostResult {
  readonly check: Check
  readonly skew?: number
}

async function hostCheck(origin: string, send: Send, signal: AbortSignal): Promise<HostResult> {
  const check = `host ${origin}`
  try {
    const response = await request('HEAD', `${origin}/`, send, signal)
    await response.discard()
    const date = Date.parse(response.headers.get('date') ?? '')
    const result = ok(check, `answers${origin.startsWith('https:') ? ', its certificate is valid' : ''}`)
    return Number.isNaN(date) ? { check: result } : { check: result, skew: Date.now() - date }
  } catch (error) {
    return { check: failed(check, error) }
  }
}

/** The median counts, because the clock of one server may be wrong. */
function clockCheck(skews: readonly number[]): Check {
  const skew = [...skews].sort((one, other) => one - other)[Math.floor(skews.length / 2)] ?? 0
  const seconds = Math.round(Math.abs(skew) / 1000)
  if (Math.abs(skew) <= SKEW) return ok('clock', seconds <= 2 ? 'agrees with the servers' : `differs from the servers by ${seconds} s`)
  const message = `this machine is ${seconds} s ${skew > 0 ? 'ahead of' : 'behind'} the servers: signatures and tokens are refused`
  return problem('clock', 'CLOCK_SKEW', message, 'set the clock, or start time synchronization')
}

/** Returns the origins that the credentials name: endpoints of theirs, and hosts of `sendTo` without a wildcard. */
export async function originsOf(
  credentials: readonly Credential[],
  { credentials: raw }: CredentialSet<CredentialObject>,
): Promise<readonly string[]> {
  const strategies = await loadStrategies(defaultStrategies)
  const endpoints = credentials.flatMap(
    (credential) => strategies.find(({ type }) => type === credential.type)?.endpoints?.(credential) ?? [],
  )
  const named = raw.flatMap(({ sendTo = [], signedUrlHosts = [] }) => [sendTo, signedUrlHosts].flat() as string[])
  const urls = [...endpoints.map((endpoint) => (typeof endpoint === 'string' ? endpoint : endpoint.origin)), ...named]
  const origins = urls.filter((url) => /^https?:/.test(url) && !url.includes('*') && canParseUrl(url)).map((url) => new URL(url).origin)
  return [...new Set(origins)]
}

const SUFFIX = '/.well-known/openid-configuration'

/** Reads each discovery document and compares its issuer (OpenID Connect Discovery 1.0 §4.3, RFC 8414 §3.3). */
export async function discoveryChecks(
  { credentials }: CredentialSet<CredentialObject>,
  send: Send,
  signal: AbortSignal,
): Promise<readonly Check[]> {
  const checks = credentials.map(async ({ id, openIdConnectUrl, issuer }) => {
    const base = openIdConnectUrl ?? issuer
    return typeof base === 'string' ? [await discoveryCheck(String(id), discoveryUrl(base), issuer, send, signal)] : []
  })
  return (await Promise.all(checks)).flat()
}

async function discoveryCheck(id: string, url: string, issuer: unknown, send: Send, signal: AbortSignal): Promise<Check> {
  const check = `discovery ${id}`
  const hint = `compare openIdConnectUrl or issuer of "${id}" with the documentation of the provider`
  try {
    const response = await request('GET', url, send, signal)
    if (response.status !== 200) {
      await response.discard()
      return problem(check, 'OAUTH_RESPONSE_INVALID', `${url} answers ${response.status}`, hint)
    }
    const document = jsonIn(await response.text(1_048_576))
    const [named, expected] = [ownString(document, 'issuer'), typeof issuer === 'string' ? issuer : url.replace(SUFFIX, '')]
    if (named === undefined) return problem(check, 'OAUTH_RESPONSE_INVALID', `${url} is not a discovery document`, hint)
    if (named !== expected && named !== `${expected}/`)
      return problem(check, 'OAUTH_ISSUER_MISMATCH', `${url} names the issuer ${named} instead of ${expected}`, hint)
    return ok(check, `${url} names the issuer ${named}`)
  } catch (error) {
    return failed(check, error, hint)
  }
}

/** Sends one request without a credential. The user named its host in a credential, so it may be private. */
async function request(method: string, url: string, send: Send, signal: AbortSignal): Promise<HttpResponse> {
  if (!canParseUrl(url)) throw new NetworkError('NETWORK_FAILED', `${url} is not a URL`)
  return send({ method, url, headers: { accept: 'application/json, */*;q=0.1' } }, { signal, timeout: TIMEOUT, allowPrivateNetwork: true })
}
