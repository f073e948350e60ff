import { generateKeyPairSync, sign } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { STRATEGIES } from '../../scripts/sizes.ts'
import type { Auth, CredentialInput, Target } from '../../src/index.ts'
import { root } from '../architecture/files.ts'
import { unchecked } from '../harness/unchecked.ts'

const FILE = 'https://data.example/a.tif'
const ISSUER = 'https://auth.example'
const WELL_KNOWN = `${ISSUER}/.well-known/openid-configuration`
const keys = generateKeyPairSync('rsa', { modulusLength: 2048 })
const sendTo = 'https://data.example/'

/** What happens in a page for one row of the table: the scheme of the asset, the user's entry, and how it is used. */
interface Scene {
  readonly scheme?: object
  readonly entry?: CredentialInput
  readonly href?: string
  /** The strategy that the page names, instead of all. */
  readonly brought?: string
  readonly login?: boolean
}

const apiKey: Scene = {
  scheme: { type: 'apiKey', in: 'header', name: 'x-key' },
  entry: { type: 'apiKey', in: 'header', name: 'x-key', value: 'v', sendTo },
}
const openId = { type: 'openIdConnect', openIdConnectUrl: WELL_KNOWN }
const token = { type: 'http', scheme: 'bearer', token: 't', sendTo }

const SCENES: Readonly<Record<string, Scene>> = {
  'no credential, a public asset': {},
  '`apiKey`': apiKey,
  '`apiKey` by `createEngine`': { ...apiKey, brought: 'apiKey' },
  '`http`: `basic`, `bearer`, ready-made text': { scheme: { type: 'http', scheme: 'bearer' }, entry: unchecked(token) },
  '`http`: `digest` (SHA-256)': {
    scheme: { type: 'http', scheme: 'digest' },
    entry: { type: 'http', scheme: 'digest', username: 'u', password: 'p', sendTo },
  },
  '`oauth2`: client credentials': {
    scheme: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: `${ISSUER}/token`, scopes: {} } } },
    entry: { type: 'oauth2', flow: 'clientCredentials', tokenUrl: `${ISSUER}/token`, clientId: 'c', clientSecret: 's', sendTo },
  },
  '`openIdConnect` with a finished token': { scheme: openId, entry: unchecked(token) },
  '`openIdConnect` with a login': { scheme: openId, entry: unchecked({ id: 'me', ...openId, clientId: 'app', sendTo }), login: true },
  '`signedUrl`': {
    scheme: {
      type: 'signedUrl',
      flows: { a: { method: 'GET', authorizationApi: `${ISSUER}/sign`, responseField: 'signed_url', parameters: {} } },
    },
    entry: { type: 'signedUrl', method: 'GET', authorizationApi: `${ISSUER}/sign`, signedUrlHosts: sendTo, sendTo },
  },
  '`s3`': {
    scheme: { type: 's3' },
    href: 's3://pictures/a.tif',
    entry: { type: 's3', accessKeyId: 'a', secretAccessKey: 's', region: 'eu-central-1', sendTo: 's3://pictures/' },
  },
}

/** The servers of all scenes. What opens a file is looked at, so that a scene cannot succeed without its strategy. */
function answers(nonce: () => string) {
  return async (input: Request): Promise<Response> => {
    const { url, headers } = input
    if (url === WELL_KNOWN) {
      const endpoints = { authorization_endpoint: `${ISSUER}/authorize`, token_endpoint: `${ISSUER}/token`, jwks_uri: `${ISSUER}/keys` }
      return Response.json({ issuer: ISSUER, ...endpoints })
    }
    if (url === `${ISSUER}/keys`)
      return Response.json({ keys: [{ ...keys.publicKey.export({ format: 'jwk' }), alg: 'RS256', use: 'sig' }] })
    if (url === `${ISSUER}/token`)
      return Response.json({ access_token: 't', token_type: 'Bearer', expires_in: 300, ...(nonce() && { id_token: idToken(nonce()) }) })
    if (url.startsWith(`${ISSUER}/sign`)) return Response.json({ signed_url: `${FILE}?signature=s` })
    const given = headers.get('authorization') ?? headers.get('x-key') ?? new URL(url).searchParams.get('signature')
    if (given) return new Response('bytes')
    return new Response('', { status: 401, headers: { 'www-authenticate': 'Digest realm="r", nonce="n", qop="auth", algorithm=SHA-256' } })
  }
}

function idToken(nonce: string): string {
  const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const now = Math.floor(Date.now() / 1000)
  const text = `${encoded({ alg: 'RS256' })}.${encoded({ iss: ISSUER, aud: 'app', sub: 'ada', nonce, iat: now, exp: now + 300 })}`
  return `${text}.${sign('sha256', Buffer.from(text), keys.privateKey).toString('base64url')}`
}

afterEach(() => vi.unstubAllGlobals())

/** Writes a page as bundlers cut it; tells which module each file begins with. */
async function cut(folder: string, brought: Scene['brought']): Promise<ReadonlyMap<string, string>> {
  const imports = brought
    ? `import { assetOf, createEngine } from './dist/index.js'; import { ${brought} } from './dist/strategies/index.js'
       const make = (options) => createEngine({ ...options, strategies: [${brought}] })`
    : `import { assetOf, createAuth as make } from './dist/index.js'`
  const { metafile, outputFiles } = await build({
    stdin: { contents: `${imports}; export { assetOf, make }`, resolveDir: root },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    outdir: folder,
    write: false,
    metafile: true,
    logLevel: 'silent',
    banner: { js: 'globalThis.chunks.push(import.meta.url);' },
  })
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  await Promise.all(outputFiles.map(({ path, text }) => writeFile(path, text)))
  return new Map(Object.entries(metafile.outputs).map(([path, { entryPoint = '' }]) => [basename(path), entryPoint]))
}

/** Plays a scene; the modules that `import()` brought, and the status of the answer. */
async function played({ scheme, entry, href = FILE, brought, login }: Scene): Promise<{ status: number; loaded: readonly string[] }> {
  const folder = await mkdtemp(join(tmpdir(), 'stac-auth-chunks-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const entries = await cut(folder, brought)
  let nonce = ''
  const chunks: string[] = []
  vi.stubGlobal('chunks', chunks)
  vi.stubGlobal(
    'fetch',
    answers(() => nonce),
  )
  const page = await import(/* @vite-ignore */ pathToFileURL(join(folder, 'stdin.js')).href)
  const auth: Auth = page.make({ credentials: entry ? [entry] : [] })
  const answer = async (address: string) => {
    const asked = new URL(address).searchParams
    nonce = asked.get('nonce') ?? ''
    return new URL(`https://page.example/?code=c&state=${asked.get('state')}`)
  }
  if (login) await auth.login('me', { redirect: async () => ({ uri: 'https://page.example/', answer, close: async () => {} }) })
  const asset = { href, ...(scheme ? { 'auth:refs': ['k'] } : {}) }
  const item = { type: 'Feature', properties: scheme ? { 'auth:schemes': { k: scheme } } : {}, assets: { data: asset }, links: [] }
  const target: Target = page.assetOf(item, 'data')
  const { status } = await auth.fetch(target)
  const loaded = chunks.map((url) => entries.get(basename(url)) ?? '').filter((path) => path.startsWith('dist/'))
  return { status, loaded: loaded.sort() }
}

describe.each(STRATEGIES)('the row $name of the table of sizes', ({ name, later = [] }) => {
  it('names what a page has loaded then', async () => {
    const scene = SCENES[name]
    expect(scene, 'a scene for the row').toBeDefined()
    const { status, loaded } = await played(scene ?? {})
    expect(status).toBe(name.startsWith('no credential') ? 401 : 200)
    expect(loaded).toEqual([...later].sort())
  })
})
