/** Arguments of programs without types: what is wrong is refused with an error of the library, and `null` options count as none. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import * as library from '../../src/index.ts'
import * as node from '../../src/node/index.ts'
import { ApiClient } from '../../src/services/client/index.ts'
import { TranslationClient } from '../../src/services/translation/index.ts'
import { foreignErrors, isForeign } from '../setup/observed-calls.ts'

type Work = (...given: never[]) => unknown

/** A function with arguments that it accepts, and the members of the argument that holds its options. */
interface Call {
  readonly name: string
  readonly work: Work
  readonly given: () => readonly unknown[]
  readonly options?: { readonly at: number; readonly names: readonly string[] }
}

const SECRET = 's3cr3t-4711'

/** What takes the place of each argument and of each option. */
const WRONG: Readonly<Record<string, unknown>> = {
  null: null,
  undefined: undefined,
  'number below 0': -1,
  text: SECRET,
  'empty text': '',
  list: [],
  'list of null': [null],
  object: {},
  'object of nulls': { href: null, refs: null, scope: null, url: null, type: null },
  function: () => undefined,
  URL: new URL('https://data.example/'),
  promise: Promise.resolve({}),
}

const DATA = 'https://data.example/'
const folder = mkdtempSync(join(tmpdir(), 'stac-auth-arguments-'))
afterAll(() => rmSync(folder, { recursive: true }))

const item = {
  type: 'Feature',
  stac_version: '1.1.0',
  id: 'a',
  properties: { 'auth:schemes': { k: { type: 'apiKey', name: 'x-key', in: 'header' } } },
  links: [{ rel: 'next', href: `${DATA}next.json` }],
  assets: { data: { href: `${DATA}f.tif`, 'auth:refs': ['k'], alternate: { s3: { href: 's3://eo/f.tif' } } } },
}
const transport = async ({ url }: library.HttpRequest) => {
  const bytes = async () => new Uint8Array()
  return {
    status: 200,
    url,
    headers: new Headers(),
    bytes,
    text: async () => '',
    discard: async () => {},
    toResponse: () => new Response(),
  }
}
const credential = library.apiKey(SECRET, { in: 'header', name: 'x-key' }, DATA)
const engine = { credentials: [credential], transport }
const auth = library.createAuth(engine)
const target = library.assetOf(item, 'data')
const redirect = async () => Promise.reject(new library.CredentialError('LOGIN_DENIED', 'no'))

const used = async (options: library.AuthOptions) => {
  // The transport of the platform would connect to another machine.
  const made = library.createAuth(Object(options).transport === undefined ? { ...options, transport } : options)
  await made.fetch(target)
  await made.fetch(`${DATA}x`)
}

/** A call of an engine. */
function call(name: keyof library.Auth, given: readonly unknown[], names: readonly string[] = []): Call {
  return { name: `auth.${name}`, work: auth[name] as Work, given: () => given, options: { at: given.length - 1, names } }
}

const FETCH = ['signal', 'method', 'headers', 'redirect']
const TARGETS = ['url', 'parents']

const CORE: readonly Call[] = [
  {
    name: 'createEngine',
    work: (options: unknown) => library.createEngine(options as never).ready(),
    given: () => [{ ...engine, strategies: library.defaultStrategies }],
    options: { at: 0, names: ['credentials', 'strategies', 'transport', 'typed', 'anonymous', 'byAddress', 'minValidity'] },
  },
  {
    name: 'createAuth',
    work: used,
    given: () => [engine],
    options: {
      at: 0,
      names: [
        ...['credentials', 'strategies', 'transport', 'typed', 'anonymous', 'byAddress', 'minValidity', 'redirects'],
        ...['onWarning', 'onUse', 'onSession', 'clock', 'session', 'memory'],
      ],
    },
  },
  call('authorize', [target, {}], ['signal', 'method', 'headers', 'presign', 'keys']),
  call('fetch', [target, {}], FETCH),
  call('fetch', [`${DATA}x`, {}], FETCH),
  call('send', [{ method: 'GET', url: `${DATA}x`, headers: {} }, {}], ['signal', 'headers', 'anonymous']),
  call('send', [target, {}], ['signal', 'method', 'headers', 'anonymous']),
  call('service', [DATA]),
  call('peek', [target]),
  call('explain', [target]),
  call('login', ['apiKey-1', { redirect }, {}], ['signal']),
  call('logout', ['apiKey-1', {}], ['signal', 'end', 'revoke']),
  { name: 'fetchFor', work: (to, url, init) => auth.fetchFor(to)(url, init), given: () => [target, `${DATA}y`, {}] },
  { name: 'assetOf', work: library.assetOf, given: () => [item, 'data', {}], options: { at: 2, names: TARGETS } },
  { name: 'alternateOf', work: library.alternateOf, given: () => [item, 'data', 's3', {}], options: { at: 3, names: TARGETS } },
  { name: 'linkOf', work: library.linkOf, given: () => [item, 'next', {}], options: { at: 2, names: [...TARGETS, 'index'] } },
  { name: 'targetsOf', work: library.targetsOf, given: () => [item, {}], options: { at: 1, names: TARGETS } },
  { name: 'kindOf', work: library.kindOf, given: () => [item] },
  { name: 'bearer', work: (token, to) => used({ credentials: library.bearer(token, to) }), given: () => [SECRET, DATA] },
  { name: 'basic', work: (name, word, to) => used({ credentials: library.basic(name, word, to) }), given: () => ['a', SECRET, DATA] },
  { name: 'apiKey', work: (key, place, to) => used({ credentials: library.apiKey(key, place, to) }), given: () => [SECRET, {}, DATA] },
  { name: 's3', work: (fields, to) => used({ credentials: library.s3(fields, to) }), given: () => [{}, 's3://eo/'] },
  { name: 'oauth2', work: (fields, to) => used({ credentials: library.oauth2(fields, to) }), given: () => [{}, DATA] },
  { name: 'openIdConnect', work: (fields, to) => used({ credentials: library.openIdConnect(fields, to) }), given: () => [{}, DATA] },
  { name: 'signedUrl', work: (fields) => used({ credentials: library.signedUrl(fields) }), given: () => [{}] },
  { name: 'uncheckedCredential', work: (fields) => used({ credentials: library.uncheckedCredential(fields) }), given: () => [{}] },
  { name: 'Secret', work: (value) => used({ credentials: library.bearer(new library.Secret(value), DATA) }), given: () => [SECRET] },
  { name: 'isAuthError', work: library.isAuthError, given: () => [new Error('no')] },
]

/** What is not called here, and why. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  defaultStrategies: 'is a list',
  memoryStore: 'is called by the library',
  openBrowser: 'starts a program',
  credentialsFromFile: 'has a path, which may name any file',
}

const QUEUE = 'redis://127.0.0.1:1/'
const gateway = async (...given: never[]) => (await (node.createGateway as (...given: never[]) => Promise<node.Gateway>)(...given)).close()

const ON_NODE: readonly Call[] = [
  {
    name: 'createGateway',
    work: gateway,
    given: () => [auth, {}],
    options: { at: 1, names: ['documents', 'port', 'listen', 'allowOrigin', 'rewrite', 'signal', 'onRequest'] },
  },
  {
    name: 'authorizeAll',
    work: node.authorizeAll,
    given: () => [auth, [target], {}],
    options: { at: 2, names: ['concurrency', 'ordered', 'signal', 'method'] },
  },
  {
    name: 'download',
    work: node.download,
    given: () => [[target], { auth, folder: join(folder, 'data'), dryRun: true }],
    options: {
      at: 1,
      names: [
        ...['folder', 'auth', 'assets', 'alternates', 'template', 'existing', 'manifest', 'collisions', 'maxObjects', 'signal', 'random'],
        ...['progressInterval', 'clock', 'concurrency', 'perHost', 'rate', 'bytesPerSecond', 'ranges', 'retries', 'stallTimeout'],
      ],
    },
  },
  {
    name: 'withOrders',
    work: node.withOrders,
    given: () => [auth, {}],
    options: { at: 1, names: ['order', 'onCost', 'folder', 'transport'] },
  },
  {
    name: 'verifyFolder',
    work: node.verifyFolder,
    given: () => [{ folder, auth }],
    options: { at: 0, names: ['folder', 'manifest', 'auth', 'retries', 'signal'] },
  },
  {
    name: 'downloadByQueue',
    work: node.downloadByQueue,
    given: () => [[target], { auth, folder: '', queue: QUEUE }],
    options: { at: 1, names: ['queue', 'onState', 'signal'] },
  },
  {
    name: 'workDownloads',
    work: node.workDownloads,
    given: () => [{ auth, folder: '', queue: QUEUE, signal: AbortSignal.abort() }],
    options: { at: 0, names: ['queue', 'auth', 'signal', 'concurrency', 'onReady', 'onJob', 'onRefused'] },
  },
  {
    name: 'loopbackRedirect',
    work: async (options) => (await node.loopbackRedirect(options)()).close(),
    given: () => [{ show: () => {} }],
    options: { at: 0, names: ['show', 'host', 'port', 'timeout'] },
  },
  { name: 'tokenFiles', work: node.tokenFiles, given: () => [{ folder }], options: { at: 0, names: ['folder', 'onWarning'] } },
  { name: 'tokenKeyring', work: node.tokenKeyring, given: () => [{ folder }], options: { at: 0, names: ['folder', 'onWarning'] } },
  {
    name: 'tokenRedis',
    work: node.tokenRedis,
    given: () => [{ url: QUEUE, key: 'k' }],
    options: { at: 0, names: ['url', 'username', 'password', 'key', 'lockTime'] },
  },
  {
    name: 'undiciTransport',
    work: node.undiciTransport,
    given: () => [{}],
    options: { at: 0, names: ['ca', 'timeouts', 'env', 'lookup', 'connect'] },
  },
  {
    name: 'credentialsFromEnvironment',
    work: node.credentialsFromEnvironment,
    given: () => [{}, {}],
    options: { at: 1, names: ['warn'] },
  },
]

/** Waits for what was promised, and takes all that a generator yields. */
async function finished(result: unknown): Promise<void> {
  const value = Object(await result)
  if (typeof value.next !== 'function') return
  while (!(await value.next()).done);
}

/** The problems of a call with each argument and each option replaced. */
async function problemsOf({ name, work, given, options }: Call): Promise<readonly string[]> {
  const problems: string[] = []
  const attempt = async (what: string, values: readonly unknown[]) => {
    try {
      await finished(work(...(values as never[])))
    } catch (error) {
      if (isForeign(error)) problems.push(`${what}: ${error}`)
      else if (!what.includes('text') && String(error).includes(SECRET)) problems.push(`${what} shows the secret: ${error}`)
    }
  }
  for (const [kind, wrong] of Object.entries(WRONG)) {
    for (const index of given().keys()) await attempt(`argument ${index + 1} of ${name} as ${kind}`, given().with(index, wrong))
    for (const option of options?.names ?? []) {
      const { at } = options as NonNullable<typeof options>
      await attempt(`the option ${option} of ${name} as ${kind}`, given().with(at, { ...Object(given()[at]), [option]: wrong }))
    }
  }
  return problems
}

describe.each([
  ['stac-auth', library, CORE],
  ['stac-auth/node', node, ON_NODE],
])('%s', (_, module, calls) => {
  it.each(calls.map((one) => [one.name, one] as const))('%s refuses wrong arguments', async (_name, one) => {
    expect(await problemsOf(one)).toEqual([])
    expect(foreignErrors()).toEqual([])
  })

  it('has no other function', () => {
    const known = new Set([...calls.map(({ name }) => name), ...Object.keys(ELSEWHERE)])
    const isKnown = (name: string) => known.has(name) || /^is\w+Scheme$|Error$/.test(name)
    expect(Object.keys(module).filter((name) => !isKnown(name))).toEqual([])
  })
})

describe('in place of options', () => {
  it('null counts as none, as for the standard fetch', async () => {
    const none = null as never
    expect((await auth.fetch(`${DATA}x`, none)).status).toBe(200)
    expect((await auth.fetch(target, none)).status).toBe(200)
    expect((await auth.fetchFor(target)(`${DATA}x`, none)).status).toBe(200)
    expect((await auth.send(target, none)).status).toBe(200)
    expect((await auth.authorize(target, none)).headers).toEqual({ 'x-key': SECRET })
    expect(library.assetOf(item, 'data', none)).toEqual(target)
  })

  it('null counts as none in the clients of services', async () => {
    const none = null as never
    const answering = async (request: library.HttpRequest) => {
      const bytes = async () => new TextEncoder().encode('{"character_count": 1, "character_limit": 2}')
      return { ...(await transport(request)), bytes, text: async () => '{"character_count": 1, "character_limit": 2}' }
    }
    const client = new ApiClient({ baseUrl: DATA, transport: answering, hooks: none })
    const translation = new TranslationClient({ apiKey: SECRET, transport: answering })
    const usage = { name: 'usage', method: 'GET', path: 'usage', replay: 'safe' } as const
    await expect(client.call(usage, none, none)).rejects.toMatchObject({
      message: 'the option hooks of ApiClient must be an object',
    })
    const plain = new ApiClient({ baseUrl: DATA, transport: answering })
    expect(await plain.call(usage, none, none)).toMatchObject({ character_count: 1 })
    expect((await plain.request('GET', '/usage', none, none)).status).toBe(200)
    expect(await translation.usage(none)).toMatchObject({ character_count: 1 })
    const timed = new ApiClient({ baseUrl: DATA, transport: answering, timeouts: none })
    await expect(timed.call(usage)).rejects.toMatchObject({ message: 'the option timeouts of ApiClient must be an object' })
  })

  it.each([
    [() => library.createAuth(null as never), 'credentials must be objects, sets or lists of these, not undefined'],
    [() => node.undiciTransport(null as never), 'the options of undiciTransport must be an object'],
    [() => node.undiciTransport({ timeouts: null as never }), 'the option timeouts of undiciTransport must be an object'],
    [() => node.createGateway(auth, null as never), 'the options of createGateway must be an object'],
    [() => node.createGateway({} as never), 'the first argument of createGateway must be an engine of createAuth'],
    [() => node.loopbackRedirect({} as never), 'the option show of loopbackRedirect is missing'],
    [() => used({ ...engine, typed: ['data.example'] }), 'typed must be a list of absolute URLs'],
    [() => used({ ...engine, transport: (async () => {}) as never }), 'the transport returned no response'],
  ])('%s is refused', async (work, message) => {
    await expect((async () => work())()).rejects.toMatchObject({ code: 'CONFIG_INVALID', message })
  })
})

it('a parent that is not in a list counts as the only one', () => {
  const { properties, ...rest } = item
  const found = library.assetOf(rest, 'data', { url: DATA, parents: { ...properties } as never })
  expect(found.scope.parents).toEqual([{ document: properties }])
})

it.each([undefined, null, 7])('a secret that is %s is refused as a value of the credential', async (value) => {
  const made = used({ ...engine, credentials: library.apiKey(new library.Secret(value as never), { in: 'header', name: 'x-key' }, DATA) })
  await expect(made).rejects.toMatchObject({ code: 'CREDENTIAL_VALUE_INVALID', message: 'value of "apiKey-1" is not text' })
})

it('a secret behind a proxy, such as one of Vue, can be read and is not shown', async () => {
  const secret = new Proxy(new library.Secret(SECRET), {})
  const made = library.createAuth({ credentials: library.apiKey(secret, { in: 'header', name: 'x-key' }, DATA) })
  expect((await made.authorize(target)).headers).toEqual({ 'x-key': SECRET })
  expect(`${secret} ${JSON.stringify(secret)}`).toBe('[secret] "[secret]"')
})
