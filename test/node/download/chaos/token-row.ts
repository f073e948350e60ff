/** Files whose token ends again and again while they come, from a token server that fails now and then. */
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAuth } from '../../../../src/auth/create-auth.ts'
import { download } from '../../../../src/node/download/download.ts'
import { MANIFEST_NAME } from '../../../../src/node/download/manifest.ts'
import { startChaosProxy } from '../../../servers/chaos/chaos-proxy.ts'
import { differenceOf } from '../../../servers/chaos/depot-content.ts'
import { contentName, startFileDepot } from '../../../servers/chaos/file-depot.ts'
import { seededFaults } from '../../../servers/chaos/seeded-faults.ts'
import { startTokenServer } from '../../../servers/token-server.ts'

export interface TokenRow {
  /** Files, all of them fetched at a time, each by many requests for parts. */
  readonly count: number
  readonly size: number
  /** Seconds that it takes, as it is fetched no faster. */
  readonly seconds: number
}

export interface TokenResult {
  readonly codes: readonly string[]
  readonly wrong: readonly string[]
  readonly leftovers: readonly string[]
  readonly tokenRequests: number
  /** Requests for files that were refused, and those for parts of files. */
  readonly refused: number
  readonly parts: number
  readonly seconds: number
}

const CLIENT = { id: 'loader', secret: 'loader-secret', scopes: ['read'] }
/** Seconds that a token is good for. */
const LIFETIME = 2

/** A fifth of all requests for a token are answered 503, and connections of files end all the time. */
export async function runTokens({ count, size, seconds }: TokenRow, seed = 1): Promise<TokenResult> {
  const folder = await mkdtemp(join(tmpdir(), 'stac-auth-tokens-'))
  const tokens = await startTokenServer({ client: CLIENT, lifetime: LIFETIME })
  const issuer = await startChaosProxy({
    upstream: tokens.origin,
    faultOf: seededFaults(seed, [[0.2, () => ({ do: 'answer', status: 503 })]]),
  })
  const refuses = (headers: { readonly authorization?: string | undefined }) =>
    tokens.accepts(headers.authorization?.replace(/^Bearer /, '') ?? '', 'read') ? undefined : 'Bearer error="invalid_token"'
  const depot = await startFileDepot({ files: () => ({ size }), refuses })
  const proxy = await startChaosProxy({
    upstream: depot.origin,
    faultOf: seededFaults(seed, [[0.8, (random) => ({ do: 'reset', at: random() })]]),
  })
  try {
    const told = await toldBy({ count, folder, origin: proxy.origin, issuer: issuer.origin, bytesPerSecond: (count * size) / seconds })
    return {
      ...told,
      ...(await inspected(folder, count, size)),
      tokenRequests: issuer.requests,
      refused: depot.refused,
      parts: proxy.passed.filter(({ range }) => range !== undefined).length,
    }
  } finally {
    for (const server of [proxy, depot, issuer, tokens]) await server.close()
    await rm(folder, { recursive: true, force: true })
  }
}

interface Run {
  readonly count: number
  readonly folder: string
  readonly origin: string
  readonly issuer: string
  readonly bytesPerSecond: number
}

async function toldBy({ count, folder, origin, issuer, bytesPerSecond }: Run): Promise<Pick<TokenResult, 'codes' | 'seconds'>> {
  const tokenUrl = `${issuer}/token`
  const auth = createAuth({
    credentials: [
      {
        id: 'loader',
        type: 'oauth2',
        flow: 'clientCredentials',
        tokenUrl,
        clientId: CLIENT.id,
        clientSecret: CLIENT.secret,
        sendTo: [`${origin}/`],
      },
    ],
    typed: [origin, issuer],
  })
  const schemes = { oauth: { type: 'oauth2', flows: { clientCredentials: { tokenUrl, scopes: { read: 'Read' } } } } }
  const assets = Object.fromEntries(
    Array.from({ length: count }, (_, at) => [String(at), { href: `${origin}/${at}.bin`, 'auth:refs': ['oauth'] }]),
  )
  const document = { type: 'Feature', id: 'one', properties: { 'auth:schemes': schemes }, assets }
  const options = { folder, auth, template: '{name}', concurrency: count, perHost: count, bytesPerSecond, retries: 50 }
  const codes: string[] = []
  let seconds = Number.NaN
  for await (const event of download([{ document, url: `${origin}/item.json` }], options)) {
    if (event.kind === 'failed') codes.push(`${event.error.code}: ${event.error.message}`)
    if (event.kind === 'summary') seconds = event.milliseconds / 1000
  }
  return { codes, seconds }
}

async function inspected(folder: string, count: number, size: number): Promise<Pick<TokenResult, 'wrong' | 'leftovers'>> {
  const names = new Set(Array.from({ length: count }, (_, at) => `${at}.bin`))
  const there = await readdir(folder)
  const differences = there
    .filter((name) => names.has(name))
    .map((name) => differenceOf(join(folder, name), contentName(`/${name}`, 0), size))
  return {
    wrong: (await Promise.all(differences)).filter((difference) => difference !== undefined),
    leftovers: there.filter((name) => !names.has(name) && name !== MANIFEST_NAME),
  }
}
