/** Files that must be ordered first: each provider as it documents orders, and what an answer or a document must not bring about. */
import { readdir } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { createAuth } from '../../src/auth/create-auth.ts'
import { isAuthError } from '../../src/errors.ts'
import type { HttpRequest, HttpResponse, Send } from '../../src/http/message.ts'
import { messageInText } from '../../src/http/server-message.ts'
import { retryAfterOf } from '../../src/net/retry.ts'
import { shownMessage } from '../../src/node/base/answer-failure.ts'
import { type OrderOptions, withOrders } from '../../src/node/orders.ts'
import { ecmwfAds, ecmwfCds, ecmwfEwds, eodms, planet, up42, wekeo } from '../../src/providers/index.ts'
import type { Order, Provider } from '../../src/providers/provider.ts'
import { assetOf, type Target } from '../../src/stac/target.ts'
import { temporaryFolder } from '../cli/folder.ts'
import { item } from '../harness/documents.ts'
import { FakeClock } from '../harness/fake-clock.ts'
import { type Reply, script } from '../harness/scripted.ts'
import { unchecked } from '../harness/unchecked.ts'
import { createArchives, SECRET, USER } from '../servers/archives.ts'
import type { OrderArchiveOptions } from '../servers/order-archives.ts'

const INPUTS = encodeURIComponent(JSON.stringify({ inputs: { variable: ['2m_temperature'], year: '2024' } }))
const CDS = `https://cds.climate.copernicus.eu/api/retrieve/v1/processes/reanalysis-era5-land/execution?${INPUTS}`
const ASSET = 'https://api.planet.com/data/v1/assets/eyJpIjogIjIwMTYw'
const login = { username: USER, password: SECRET }
const WEKEO = `https://gateway.prod.wekeo2.eu/hda-broker/api/v1/dataaccess/download?${encodeURIComponent(
  JSON.stringify({ location: 'abc', product_id: 'a.SAFE', dataset_id: 'EO:ESA:DAT:SENTINEL-1' }),
)}`

const fileAt = (href: string, more: object = {}) => assetOf(item(undefined, { data: { href, ...more } }), 'data') as Target

interface Around extends Omit<OrderOptions, 'transport' | 'clock'> {
  readonly archives?: OrderArchiveOptions
  readonly credentials?: unknown
  /** Answers before the archives. */
  readonly reply?: (request: HttpRequest) => Reply | undefined
}

const CREDENTIALS = [
  ...ecmwfCds({ apiKey: SECRET }),
  ...ecmwfAds({ apiKey: SECRET }),
  ...ecmwfEwds({ apiKey: SECRET }),
  ...planet({ apiKey: SECRET }),
  ...wekeo({ token: SECRET }),
  ...up42(login),
  ...eodms(login).map((credential) => ({ ...credential, use: 'by-address' })),
]

/** An engine that orders, among the archives and nothing else. */
async function among({ archives: ordering, credentials = CREDENTIALS, reply, ...options }: Around = {}) {
  const archives = createArchives(ordering)
  const clock = new FakeClock({ now: Date.now() })
  const wire = script((request) => {
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name.toLowerCase(), value]))
    const answer = reply?.(request) ?? archives.answer({ ...request, headers, body: String(request.body ?? '') })
    if (!answer) throw new Error(`nobody is at ${request.url}`)
    return answer
  })
  const folder = options.folder ?? (await temporaryFolder())
  /** As the transport of the platform: what an error says is shown without the secrets of its request. */
  const transport: Send = async (request, sending) => {
    const response = await wire.send(request, sending)
    const serverMessage = async () => shownMessage(messageInText(await response.text(1000)), request)
    return { ...response, sent: () => request, serverMessage }
  }
  const engine = () =>
    withOrders(createAuth({ credentials: unchecked(credentials as never), transport }), {
      transport,
      clock,
      folder,
      ...options,
    })
  return { archives, clock, folder, engine, auth: engine(), sent: wire.sent }
}

/** Asks until the file is ready, as `download` and `fetch` do; returns its text and how often it was not ready. */
async function fetched(auth: { send: (target: Target) => Promise<HttpResponse> }, target: Target, most = 5) {
  for (let waits = 0; ; waits++) {
    try {
      return { waits, text: await (await auth.send(target)).text(1000) }
    } catch (error) {
      if (!isAuthError(error) || error.code !== 'HTTP_202' || waits === most) throw error
    }
  }
}

describe('each provider as it documents its orders', () => {
  it.each([
    ['the Climate Data Store', CDS, 'POST https://cds.climate.copernicus.eu/api/retrieve/v1/processes/reanalysis-era5-land/execution', 2],
    ['the Atmosphere Data Store', CDS.replace('cds.climate', 'ads.atmosphere'), 'POST https://ads.atmosphere.copernicus.eu/', 2],
    ['the Early Warning Data Store', CDS.replace('cds.', 'ewds.'), 'POST https://ewds.climate.copernicus.eu/', 2],
    ['WEkEO', WEKEO, 'POST https://gateway.prod.wekeo2.eu/hda-broker/api/v1/dataaccess/download {"dataset_id":"EO:', 2],
    ['Planet', ASSET, `GET ${ASSET}/activate`, 2],
    ['EODMS', 'https://www.eodms-sgdot.nrcan-rncan.gc.ca/dds/v1/item/EODMS/Radarsat1/4ff7a4b5', undefined, 1],
    ['UP42', 'https://api.up42.com/v2/assets/01ad657e-12f7-4046-a94c-abc90d86106a', undefined, 0],
  ])('%s', async (_name, href, order, waits) => {
    const { archives, auth } = await among({ onCost: () => true })
    expect(await fetched(auth, fileAt(href))).toEqual({ waits, text: 'file' })
    expect(await fetched(auth, fileAt(href))).toEqual({ waits: 0, text: 'file' })
    expect(archives.orders).toEqual(order === undefined ? [] : [expect.stringContaining(order)])
    expect(archives.violations).toEqual([])
  })

  it('a URL that was typed is ordered with the credential whose sendTo allows it', async () => {
    const { archives, auth } = await among()
    const request = { method: 'GET', url: CDS, headers: {} }
    await expect(auth.send(request)).rejects.toMatchObject({ code: 'HTTP_202' })
    await expect(auth.send(request)).rejects.toMatchObject({ code: 'HTTP_202' })
    expect(await (await auth.send(request)).text(100)).toBe('file')
    expect([archives.orders.length, archives.violations]).toEqual([1, []])
  })

  it('headers of the caller that may hold a secret do not reach a file on another host', async () => {
    const { auth, sent } = await among()
    const request = { method: 'GET', url: CDS, headers: { 'x-own-key': 'of the caller', range: 'bytes=0-1' } }
    for (let waits = 0; waits < 2; waits++) await expect(auth.send(request)).rejects.toMatchObject({ code: 'HTTP_202' })
    await auth.send(request)
    const elsewhere = sent.filter(({ url }) => new URL(url).host !== new URL(CDS).host)
    expect(elsewhere.map(({ headers }) => [headers['x-own-key'], headers.range])).toEqual([[undefined, 'bytes=0-1']])
  })

  it('parameters of a query are those of the order as well', async () => {
    const { archives, auth } = await among()
    const query = new URLSearchParams({ location: 'abc', product_id: 'a.SAFE', dataset_id: 'EO:ESA' })
    await fetched(auth, fileAt(`${WEKEO.replace(/\?.*/, '')}?${query}`))
    expect(archives.orders).toEqual([expect.stringContaining('{"dataset_id":"EO:ESA","product_id":"a.SAFE","location":"abc"}')])
  })

  it('a file that is not ordered is requested as it is', async () => {
    const { archives, auth, sent } = await among({ order: false })
    const href = 'https://api.planet.com/data/v1/download?token=of-the-asset'
    expect(await fetched(auth, fileAt(href))).toEqual({ waits: 0, text: 'file' })
    expect(sent.map(({ url }) => url)).toEqual([href])
    expect(archives.orders).toEqual([])
  })
})

describe('an order is placed once', () => {
  it('by later processes, and by two at once', async () => {
    const { archives, engine } = await among()
    const outcomes = await Promise.allSettled([1, 2, 3].map(() => engine().send(fileAt(CDS))))
    expect(outcomes.map((outcome) => outcome.status === 'rejected' && outcome.reason.code)).toEqual(['HTTP_202', 'HTTP_202', 'HTTP_202'])
    expect(await fetched(engine(), fileAt(CDS))).toMatchObject({ text: 'file' })
    expect([archives.orders.length, archives.violations]).toEqual([1, []])
  })

  it('when it is interrupted while the provider answers', async () => {
    const interruption = new AbortController()
    const { archives, engine } = await among({
      reply: ({ method }) => {
        if (method === 'POST') interruption.abort('SIGINT')
        return undefined
      },
    })
    await engine()
      .send(fileAt(CDS), { signal: interruption.signal })
      .catch(() => undefined)
    expect(await fetched(engine(), fileAt(CDS))).toMatchObject({ text: 'file' })
    expect(archives.orders).toHaveLength(1)
  })

  it('for each credential and each file', async () => {
    const { archives, auth, folder } = await among()
    await fetched(auth, fileAt(CDS))
    await fetched(auth, fileAt(CDS.replace('2024', '2025')))
    expect(archives.orders).toHaveLength(2)
    expect((await readdir(folder)).filter((name) => name.endsWith('.json'))).toHaveLength(2)
  })

  it('again once the provider has deleted it', async () => {
    const { archives, engine } = await among({
      reply: ({ url }) => (url.endsWith('/jobs/job-1') && archives.orders.length < 2 ? { status: 404 } : undefined),
    })
    await expect(engine().send(fileAt(CDS))).rejects.toMatchObject({ code: 'HTTP_202' })
    await expect(engine().send(fileAt(CDS))).rejects.toMatchObject({ code: 'HTTP_202' })
    expect(archives.orders).toHaveLength(2)
  })

  it('not where it cannot be remembered', async () => {
    const { archives, auth } = await among({ folder: '/dev/null/orders' })
    await expect(auth.send(fileAt(CDS))).rejects.toMatchObject({ code: 'FILE_ACCESS' })
    expect(archives.orders).toEqual([])
  })

  it('and is not repeated by a caller where its answer was lost', async () => {
    const { archives, auth } = await among({ reply: ({ method }) => (method === 'POST' ? { status: 502 } : undefined) })
    await expect(auth.send(fileAt(CDS))).rejects.toMatchObject({ code: 'HTTP_502', retryable: false })
    expect(archives.orders).toEqual([])
  })

  it('again a day later, when an asset is not active any more', async () => {
    const { archives, auth, clock } = await among({
      onCost: () => true,
      reply: ({ url }) => (url === ASSET ? { body: { status: 'inactive' } } : undefined),
    })
    await expect(auth.send(fileAt(ASSET))).rejects.toMatchObject({ code: 'HTTP_202' })
    await expect(auth.send(fileAt(ASSET))).rejects.toMatchObject({ code: 'HTTP_202', message: expect.stringContaining('("inactive")') })
    expect(archives.orders).toHaveLength(1)
    clock.advance(90_000_000)
    await expect(auth.send(fileAt(ASSET))).rejects.toMatchObject({ code: 'HTTP_202' })
    expect(archives.orders).toHaveLength(2)
  })

  it('a URL that has expired is asked for again, without another order', async () => {
    let expired = false
    const { archives, auth } = await among({ reply: ({ url }) => (expired && /\.nc$/.test(url) ? { status: 403 } : undefined) })
    await fetched(auth, fileAt(CDS))
    expired = true
    const refused = auth.send(fileAt(CDS))
    expect((await refused).status).toBe(403)
    expired = false
    expect(await fetched(auth, fileAt(CDS))).toEqual({ waits: 0, text: 'file' })
    expect(archives.orders).toHaveLength(1)
  })
})

describe('what the user decides', () => {
  it('without orders a file fails with its own code, and nothing is sent', async () => {
    const { auth, sent } = await among({ order: false })
    await expect(auth.send(fileAt(CDS))).rejects.toMatchObject({
      code: 'ORDER_REQUIRED',
      message: expect.stringMatching(/must be ordered from/),
    })
    expect(sent).toEqual([])
  })

  it('an order that costs something is asked for once, and refused without an answer', async () => {
    const { archives, auth } = await among()
    const hint = expect.stringContaining('--yes')
    await expect(auth.send(fileAt(ASSET))).rejects.toMatchObject({
      code: 'ORDER_REQUIRED',
      hint,
      message: expect.stringContaining('quota'),
    })
    expect(archives.orders).toEqual([])
    const asked: string[] = []
    const agreeing = await among({ onCost: ({ id }) => asked.push(id) > 0 })
    for (const href of [ASSET, `${ASSET}2`]) await agreeing.auth.send(fileAt(href)).catch(() => undefined)
    expect(asked).toEqual(['planet'])
  })

  it('without a credential nothing is ordered: the engine says what is missing', async () => {
    const { archives, auth } = await among({ credentials: [] })
    const response = await auth.send(fileAt(ASSET))
    expect([response.status, archives.orders]).toEqual([401, []])
  })

  it.each([
    ['WEkEO', WEKEO, 'WEkEO did not prepare https://gateway.prod.wekeo2.eu/hda-broker/api/v1/dataaccess/download: the archive is on fire'],
    ['the Climate Data Store', CDS, 'The licence was not accepted'],
  ])('an order that fails at %s has the reason of the provider, and is forgotten', async (_name, href, message) => {
    const { auth, folder } = await among({ archives: { fails: true } })
    await expect(fetched(auth, fileAt(href))).rejects.toMatchObject({ code: 'ORDER_FAILED', message: expect.stringContaining(message) })
    expect((await readdir(folder)).filter((name) => name.endsWith('.json'))).toEqual([])
  })
})

/** A provider of the tests, with a status in the answer to its order. */
const LAB: Provider = {
  ...planet.provider,
  id: 'lab',
  title: 'Lab',
  recognizes: { files: ['https://lab.example/api/'], catalogs: [], issuers: [], buckets: [] },
}
const ORDER: Order = {
  files: ['https://lab.example/api/files/{name}'],
  request: { method: 'POST', url: 'https://lab.example/api/orders/{name}', answer: { status: 'Location' } },
  status: { url: '{status}', state: '/state', ready: ['done'], failed: ['failed'], reason: '/why', answer: { location: '/file' } },
  location: '{location}',
}
const TO_LAB = { id: 'lab', type: 'http', scheme: 'bearer', token: SECRET, sendTo: ['https://lab.example/'], use: 'by-address' }

describe('answers of a provider', () => {
  /** The lab, which answers an order with a place, and that place with a body. */
  async function lab(
    place: string,
    status: Reply = { body: { state: 'done', file: 'https://lab.example/api/done/a' } },
    credential: object = {},
  ) {
    const known = await among({
      providers: [{ ...LAB, order: ORDER }],
      credentials: [
        { ...TO_LAB, ...credential },
        { ...TO_LAB, id: 'other', token: 'other-secret', sendTo: ['https://other.example/'] },
      ],
      reply: ({ method, url }) => {
        if (method === 'POST') return { status: 201, headers: { location: place } }
        return url.includes('/orders/') || url.includes('status') ? status : { body: 'file' }
      },
    })
    return { ...known, outcome: fetched(known.auth, fileAt('https://lab.example/api/files/a')) }
  }
  const secretsTo = (sent: readonly HttpRequest[], host: string) =>
    sent.filter(({ url, headers }) => new URL(url).host === host && headers.authorization !== undefined)

  it('name the place of the state, by a pointer or by Location, also relative', async () => {
    const { outcome, sent } = await lab('/api/orders/7')
    expect(await outcome).toEqual({ waits: 1, text: 'file' })
    expect(sent.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST https://lab.example/api/orders/a',
      'GET https://lab.example/api/orders/7',
      'GET https://lab.example/api/done/a',
    ])
    expect(secretsTo(sent, 'lab.example')).toHaveLength(3)
  })

  it.each([
    ['another host', 'https://evil.example/api/status', 'CREDENTIAL_TARGET_UNTRUSTED'],
    ['a host that looks alike', 'https://lab.example.evil.example/api/status', 'CREDENTIAL_TARGET_UNTRUSTED'],
    ['a host of another credential', 'https://other.example/api/status', 'CREDENTIAL_TARGET_UNTRUSTED'],
    ['another path', 'https://lab.example/elsewhere/status', 'CREDENTIAL_TARGET_UNTRUSTED'],
    ['http', 'http://lab.example/api/status', 'CREDENTIAL_TARGET_UNTRUSTED'],
    ['a private address', 'https://169.254.169.254/status', 'CREDENTIAL_TARGET_UNTRUSTED'],
    ['user information', 'https://lab.example@evil.example/api/status', 'URL_HAS_USERINFO'],
    ['another scheme', 'file:///etc/passwd', 'URL_SCHEME_FORBIDDEN'],
    ['nowhere', '', 'RESPONSE_INVALID'],
  ])('cannot lead the state to %s', async (_name, place, code) => {
    const { outcome, sent } = await lab(place)
    await expect(outcome).rejects.toMatchObject({ code })
    expect(sent).toHaveLength(1)
  })

  it('cannot lead the state to a place that the user does not allow', async () => {
    const { outcome, sent } = await lab('/api/status', undefined, {
      sendTo: ['https://lab.example/api/orders/', 'https://lab.example/api/files/'],
    })
    await expect(outcome).rejects.toMatchObject({ code: 'CREDENTIAL_TARGET_UNTRUSTED' })
    expect(sent).toHaveLength(1)
  })

  it.each([
    ['another host, without a secret', 'https://evil.example/a', undefined],
    ['a host of another credential, without a secret', 'https://other.example/a', undefined],
    ['http', 'http://evil.example/a', 'URL_INSECURE'],
    ['a private address', 'https://169.254.169.254/a', 'URL_ADDRESS_FORBIDDEN'],
    ['this machine', 'https://localhost/a', 'URL_ADDRESS_FORBIDDEN'],
    ['an object store', 's3://bucket/a', 'URL_INSECURE'],
  ])('lead the file to %s', async (_name, file, code) => {
    const { outcome, sent } = await lab('/api/orders/7', { body: { state: 'done', file } })
    if (code) await expect(outcome).rejects.toMatchObject({ code })
    else expect(await outcome).toMatchObject({ text: 'file' })
    expect(sent.filter(({ url }) => !url.startsWith('https://lab.example/') && code !== undefined)).toEqual([])
    expect(sent.filter(({ url, headers }) => !url.startsWith('https://lab.example/') && headers.authorization !== undefined)).toEqual([])
  })

  it.each([
    ['a redirect', { status: 302, headers: { location: 'https://evil.example/' } }, 'REDIRECT_CROSS_ORIGIN'],
    ['an endless text', { body: `{"state":"done","more":"${'x'.repeat(2_000_000)}"}` }, 'RESPONSE_TOO_LARGE'],
    ['no JSON', { body: '<html>' }, 'RESPONSE_INVALID'],
    ['a state of another type', { body: { state: { done: true } } }, 'RESPONSE_INVALID'],
    ['no state', { body: {} }, 'RESPONSE_INVALID'],
    ['no file', { body: { state: 'done' } }, 'RESPONSE_INVALID'],
    ['a file of another type', { body: { state: 'done', file: ['https://lab.example/api/done/a'] } }, 'RESPONSE_INVALID'],
    ['an error', { status: 500 }, 'HTTP_500'],
  ])('are refused for %s', async (_name, status: Reply, code) => {
    const { outcome, sent } = await lab('/api/orders/7', status)
    await expect(outcome).rejects.toMatchObject({ code })
    expect(sent).toHaveLength(2)
  })

  it('that repeat the secret are shown without it', async () => {
    const { outcome } = await lab('/api/orders/7', { body: { state: 'failed', why: `the token ${SECRET} has no rights` } })
    const error = await outcome.catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'ORDER_FAILED', message: expect.stringContaining('has no rights') })
    expect(JSON.stringify(error)).not.toContain(SECRET)
  })

  it('have a Retry-After, which callers limit, and never end by themselves', async () => {
    const { outcome } = await lab('/api/orders/7', { status: 200, headers: { 'retry-after': '31536000' }, body: { state: 'running' } })
    const error = await outcome.catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'HTTP_202', retryable: true })
    expect(isAuthError(error) && retryAfterOf(error)).toBe(31_536_000_000)
  })
})

describe('a document', () => {
  it.each([
    'https://api.planet.com.evil.example/data/v1/assets/a',
    'https://api.planet.com@evil.example/data/v1/assets/a',
    'https://evil.example/data/v1/assets/a?https://api.planet.com/data/v1/assets/a',
    'http://api.planet.com/data/v1/assets/a',
    'https://api.planet.com:8443/data/v1/assets/a',
    'https://api.planet.com/data/v1/assets/a/b',
    'https://api.planet.com/data/v1/assets/',
    'https://api.up42.com/v2/assets/stac',
    'https://cds.climate.copernicus.eu/api/retrieve/v1/processes/era5/execution',
    'https://cds.climate.copernicus.eu/api/retrieve/v1/processes/era5/execution?[1]',
  ])('orders nothing with %s', async (href) => {
    const { archives, auth, sent } = await among({
      onCost: () => true,
      reply: ({ url }) => (url.startsWith('https://evil') ? { status: 404 } : undefined),
    })
    const title = 'planet: api.planet.com'
    await auth.send(fileAt(href, { title, provider: 'planet', order: { url: 'https://evil.example/' } })).catch(() => undefined)
    expect(archives.orders).toEqual([])
    expect(sent.filter(({ method, url }) => method !== 'GET' && !url.startsWith('https://auth.up42.com/'))).toEqual([])
    expect(sent.filter(({ url, headers }) => new URL(url).hostname.endsWith('evil.example') && headers.authorization)).toEqual([])
  })

  it('cannot leave the folder of an order by a name in its URL', async () => {
    const { archives, auth, sent } = await among({ onCost: () => true })
    await auth.send(fileAt('https://api.planet.com/data/v1/assets/%2e%2e/x')).catch(() => undefined)
    await auth.send(fileAt('https://api.planet.com/data/v1/assets/a%2F..%2Fb')).catch(() => undefined)
    expect(archives.orders.filter((order) => !order.includes('a%2F..%2Fb'))).toEqual([])
    expect(sent.every(({ url }) => url.startsWith('https://api.planet.com/data/v1/'))).toBe(true)
  })
})
