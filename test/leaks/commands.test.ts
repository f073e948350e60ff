/**
 * What commands print and write holds no secret: every command that sends requests, each form of a secret, against servers that repeat what
 * they were sent in bodies, fields, redirects and challenges; standard output, standard error with `--verbose`, reports, manifests and all
 * other files. Only the token store may hold tokens.
 */
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { put, temporaryFolder } from '../cli/folder.ts'
import { run } from '../cli/run.ts'
import { type Canary, leaks } from '../harness/canary.ts'
import { EXTENSION } from '../harness/documents.ts'
import { type AnsweringServer, type Inquiry, startAnswering } from '../servers/answering-server.ts'
import { type Material, materials } from './materials.ts'

/** How the servers answer an authorized request. */
const ANSWERS = ['content', 'refusal', 'redirect', 'failure', 'page'] as const
type Manner = (typeof ANSWERS)[number]

let good: AnsweringServer
let evil: AnsweringServer
let material: Material
let manner: Manner = 'content'

beforeAll(async () => {
  evil = await startAnswering((request) => ({ status: 200, body: echo(request) }))
  good = await startAnswering((request) => answerTo(request))
})
afterAll(() => Promise.all([good.close(), evil.close()]))

const echo = ({ target, headers, body }: Inquiry) => `you sent ${target} ${JSON.stringify(headers)} ${body}`

function answerTo(request: Inquiry) {
  if (request.path === '/token') {
    return {
      status: 200,
      headers: json,
      body: JSON.stringify({ access_token: material.secrets[1]?.value, token_type: 'Bearer', expires_in: 60 }),
    }
  }
  if (request.path.startsWith('/items/')) return { status: 200, headers: json, body: JSON.stringify(item()) }
  const text = encodeURIComponent(echo(request))
  const asks = { 'www-authenticate': material.challenge ?? `Bearer realm="${text}"`, 'x-echo': text }
  if (material.challenge !== undefined && request.headers.authorization === undefined) return { status: 401, headers: asks }
  const answers = {
    content: { status: 200, headers: { 'content-type': 'image/tiff', etag: '"1"' }, body: 'content' },
    refusal: { status: 403, headers: asks, body: echo(request) },
    redirect: { status: 302, headers: { location: `${evil.origin}/taken?from=${text}` } },
    failure: {
      status: 400,
      headers: { 'x-echo': text, 'content-type': 'application/json' },
      body: JSON.stringify({ message: echo(request) }),
    },
    page: { status: 200, headers: { 'content-type': 'text/html' }, body: `<title>${echo(request)}</title>` },
  }
  return answers[manner]
}
const json = { 'content-type': 'application/json' }

const item = () => ({
  type: 'Feature',
  stac_version: '1.1.0',
  stac_extensions: [EXTENSION],
  id: 'scene',
  geometry: null,
  properties: { datetime: '2026-01-01T00:00:00Z', 'auth:schemes': { k: schemeHere() } },
  links: [{ rel: 'self', href: `${good.origin}/items/1.json` }],
  assets: { data: { href: `${good.origin}/bucket/f.tif`, 'auth:refs': ['k'] } },
})

/** The token endpoint is on this machine. */
const schemeHere = () => JSON.parse(JSON.stringify(material.scheme).replaceAll('https://login.victim.example', good.origin))

/** The credential with its secret in the environment. */
function credential() {
  const { value } = material.secrets[0] as Canary
  const text = JSON.stringify({ id: 'mine', ...material.credential, sendTo: [`${good.origin}/`] })
  const entry = JSON.parse(text.replaceAll('https://login.victim.example', good.origin)) as Record<string, unknown>
  for (const [name, field] of Object.entries(entry)) if (field === value) entry[name] = { env: 'SECRET_OF_TEST' }
  vi.stubEnv('SECRET_OF_TEST', value)
  return entry
}

type ArgumentsOf = Readonly<Record<string, (url: string, folder: string) => readonly string[]>>

/** Arguments of each command that requests no asset, for the document at that URL: how assets are answered is one to them. */
const READING: ArgumentsOf = {
  lint: (url) => ['lint', url, '--format', 'json'],
  'lint --crawl': (url) => ['lint', '--crawl', url, '--format', 'ndjson'],
  explain: (url) => ['explain', url],
  'explain --json': (url) => ['explain', url, '--json'],
  'list --json': (url) => ['list', url, '--json'],
  'authorize --as curl': (url) => ['authorize', url, '--asset', 'data', '--as', 'curl', '--verbose'],
  'authorize --as http': (url) => ['authorize', url, '--asset', 'data', '--as', 'http', '--verbose'],
  'authorize --as ndjson': (url) => ['authorize', '--as', 'ndjson', url, '--verbose'],
  'download --dry-run': (url, folder) => ['download', url, '-d', folder, '--dry-run'],
  'credentials list': () => ['credentials', 'list', '--json'],
  'doctor --json': () => ['doctor', '--json', '--offline'],
}

/** The others, with a folder of their own. */
const SENDING: ArgumentsOf = {
  fetch: (url, folder) => ['fetch', url, '--asset', 'data', '-o', join(folder, 'f.tif'), '--verbose'],
  'fetch to stdout': (url) => ['fetch', url, '--asset', 'data', '--verbose'],
  download: (url, folder) => ['download', url, '-d', folder, '--retries', '1', '--verbose', '--manifest', join(folder, 'manifest.ndjson')],
  'download --json': (url, folder) => ['download', url, '-d', folder, '--retries', '1', '--json', '--verbose'],
  verify: (_url, folder) => ['verify', join(folder, '../download'), '--remote', '--verbose'],
  doctor: (url) => ['doctor', url],
}

const cells = materials().flatMap((one) => ANSWERS.map((how) => ({ name: one.name, how, one })))

describe.each(cells)('$name and servers that answer with $how', ({ one, how }) => {
  it('is not in what any command prints or writes', { timeout: 240_000 }, async () => {
    material = one
    manner = how
    const root = await temporaryFolder()
    const file = await put(root, 'credentials.json', { version: 1, credentials: [credential()] })
    const texts: Record<string, string> = {}
    for (const [name, argumentsOf] of Object.entries({ ...(how === 'content' && READING), ...SENDING })) {
      const folder = join(root, name.replaceAll(/\W+/g, '-'))
      await mkdir(folder)
      const around = { env: { STAC_AUTH_CREDENTIALS: file, XDG_CACHE_HOME: join(root, 'cache'), HOME: root } }
      const { code, stdout, stderr } = await run(argumentsOf(`${good.origin}/items/1.json`, folder), around)
      expect([name, code === 70 || /unknown option|USAGE/.test(stderr) ? stderr : '']).toEqual([name, ''])
      texts[`stdout of ${name}`] = stdout
      texts[`stderr of ${name}`] = stderr
    }
    for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name)
      if (entry.isFile() && !path.startsWith(join(root, 'cache'))) texts[path.slice(root.length)] = await readFile(path, 'latin1')
    }
    texts.evil = JSON.stringify(evil.exchanges.map(({ request }) => [request.target, request.headers, request.body]))
    expect(leaks(one.secrets, withoutContent(texts, how))).toEqual([])
  })
})

/** A file that a server gave as content holds what the server wrote into it: a page that was accepted, the answer of another host. */
function withoutContent(texts: Readonly<Record<string, string>>, how: Manner): Readonly<Record<string, string>> {
  if (how !== 'redirect' && how !== 'page') return texts
  return Object.fromEntries(Object.entries(texts).filter(([name]) => !/\/f\.tif$|stdout of fetch to stdout/.test(name)))
}

it('the servers were sent every secret by some command', () => {
  const received = JSON.stringify(good.exchanges.map(({ request }) => [request.target, request.headers, request.body]))
  const unseen = cells.filter(({ one }) => one.secrets.every((secret) => secret.seenIn(received).length === 0)).map(({ name }) => name)
  expect([...new Set(unseen)].sort()).toEqual(['a Digest password', 'a signature with S3 keys'])
})
