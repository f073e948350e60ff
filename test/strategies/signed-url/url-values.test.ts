import { describe, expect, it } from 'vitest'
import type { CredentialInput } from '../../../src/auth/credential.ts'
import { assetOf, type Target } from '../../../src/stac/target.ts'
import { asset, found, item, type Json, scheme } from '../../harness/documents.ts'
import { failureOf } from '../../harness/failure.ts'
import { script } from '../../harness/scripted.ts'
import { SIGN_URL, victim } from '../../harness/victim.ts'

const body = { in: 'body', required: true }
const HOSTS = [
  'https://*.s3.eu-central-1.amazonaws.com/',
  'https://s3.eu-central-1.amazonaws.com/',
  'https://*.blob.core.windows.net/',
  'https://storage.googleapis.com/',
  'https://*.storage.googleapis.com/',
  'https://data.victim.example/',
  'https://eo.data.victim.example/',
]
const OBJECT = ['s3://eo/', 's3://private/', 'gs://eo/', ...HOSTS.filter((host) => /victim/.test(host))]

/** A user of an API that is told an object, and the document that asks for it; what the API was told. */
function signing(href: string, { entry = {}, parameters = {}, storage }: { entry?: Json; parameters?: Json; storage?: Json } = {}) {
  const servers = script(({ url }) => (url.startsWith(SIGN_URL) ? { body: { href: 'https://data.victim.example/signed' } } : {}))
  const credential = {
    id: 'signer',
    type: 'signedUrl',
    authorizationApi: SIGN_URL,
    method: 'POST',
    signedUrlHosts: HOSTS,
    sendTo: [...OBJECT, 'https://eo.s3.eu-central-1.amazonaws.com/', 'https://s3.eu-central-1.amazonaws.com/eo/', ...GRANTED],
    ...entry,
  }
  const k = scheme.signed(SIGN_URL, { method: 'POST', parameters })
  const members = storage ? { 'storage:refs': ['s'] } : {}
  const document = item({ k }, { data: asset(href, ['k'], members) })
  const target = found(assetOf({ ...document, ...(storage && { 'storage:schemes': { s: storage } }) }, 'data'))
  const { auth } = victim({ credentials: credential as CredentialInput, byAddress: true }, servers)
  const told = async (wanted: Target = target) => {
    await auth.authorize(wanted)
    return servers.sent.map((sent) => JSON.parse(String(sent.body ?? 'null')))
  }
  return { auth, target, told, servers }
}
const GRANTED = [
  'https://account.blob.core.windows.net/',
  'https://storage.googleapis.com/eo/',
  'https://eo.storage.googleapis.com/',
  'https://storage.googleapis.com/storage/',
]

const NAMES = { container: body, object: body }
const TEMPLATE = { container: '{bucket}', object: '{key}' }

describe('placeholders in the parameters of a credential', () => {
  it.each([
    ['s3://eo/a/b%20c.tif', 'eo', 'a/b c.tif'],
    ['https://eo.s3.eu-central-1.amazonaws.com/a/b+c.tif', 'eo', 'a/b c.tif'],
    ['https://s3.eu-central-1.amazonaws.com/eo/a/b.tif?x=1', 'eo', 'a/b.tif'],
    ['gs://eo/a/b.tif', 'eo', 'a/b.tif'],
    ['https://storage.googleapis.com/eo/a/b+c%2Bd.tif', 'eo', 'a/b+c+d.tif'],
    ['https://eo.storage.googleapis.com/a/b.tif', 'eo', 'a/b.tif'],
    ['https://account.blob.core.windows.net/eo/a/b+c.tif', 'eo', 'a/b+c.tif'],
    ['https://account.blob.core.windows.net/b.tif', '$root', 'b.tif'],
  ])('placeholders in the parameters of a credential are bound from the host of %s', async (href, container, object) => {
    expect(await signing(href, { entry: { parameters: TEMPLATE }, parameters: NAMES }).told()).toEqual([{ container, object }])
  })

  it('placeholders in the parameters of a credential may are in a text, and natural names need none', async () => {
    const parameters = { path: body, account: body, container: body, blob: body, note: body }
    const entry = { parameters: { path: '/{container}/{blob}', note: 'as is' } }
    expect(await signing('https://account.blob.core.windows.net/eo/a.tif', { entry, parameters }).told()).toEqual([
      { path: '/eo/a.tif', account: 'account', container: 'eo', blob: 'a.tif', note: 'as is' },
    ])
  })

  it('placeholders in the parameters of a credential are not looked for in what a source gives', async () => {
    const entry = { parameters: { object: () => '{key}' } }
    expect(await signing('s3://eo/a', { entry, parameters: { object: body } }).told()).toEqual([{ object: '{key}' }])
  })

  it('a placeholder that has no meaning is reported when the credential is read', async () => {
    const { auth } = signing('s3://eo/a', { entry: { parameters: { object: '{kye}' } } })
    expect(await failureOf(auth.ready())).toMatchObject({ code: 'CONFIG_INVALID', pointer: '/credentials/0/parameters/object' })
  })

  it('a service of its own is named by the credential', async () => {
    const [parameters, entry] = [NAMES, { parameters: TEMPLATE, endpoint: 'https://data.victim.example' }]
    expect(await signing('https://data.victim.example/b/k/l', { entry, parameters }).told()).toEqual([{ container: 'b', object: 'k/l' }])
    const virtual = { ...entry, virtualHost: true }
    expect(await signing('https://eo.data.victim.example/k/l', { entry: virtual, parameters }).told()).toEqual([
      { container: 'eo', object: 'k/l' },
    ])
  })

  it.each([
    ['https://data.victim.example/b/k', TEMPLATE],
    ['https://storage.googleapis.com/storage/v1/b/eo/o/a', TEMPLATE],
    ['s3://eo/a', { container: '{account}', object: '{key}' }],
    ['s3://eo/%ff', TEMPLATE],
  ])('%s has no value for %j', async (href, parameters) => {
    const { auth, target, servers } = signing(href, { entry: { parameters }, parameters: NAMES })
    expect(await failureOf(auth.authorize(target))).toMatchObject({ code: 'PARAM_UNBOUND', hint: expect.stringContaining('"endpoint"') })
    expect(servers.sent).toEqual([])
  })

  it('the API is told all parameters of a credential by URL, and the URL only where none is made of it', async () => {
    const bare = found(assetOf(item(undefined, { data: { href: 's3://eo/a' } }), 'data'))
    expect(await signing('s3://eo/x', { entry: { parameters: TEMPLATE } }).told(bare)).toEqual([{ container: 'eo', object: 'a' }])
    expect(await signing('s3://eo/x', { entry: { parameters: { duration: '60' } } }).told(bare)).toEqual([
      { href: 's3://eo/a', duration: '60' },
    ])
    const { auth, servers } = signing('s3://eo/x', { entry: { parameters: { 'X-Key': () => 'secret', url: '{url}' } } })
    await auth.authorize(bare)
    expect(servers.sent).toMatchObject([{ headers: { 'x-key': 'secret' }, body: JSON.stringify({ url: 's3://eo/a' }) }])
  })
})

describe('catalog text cannot choose the object that is signed', () => {
  const AT = 'https://data.victim.example/'
  const storage = (platform: string, more: Json = {}) => ({ type: 'custom-s3', platform, ...more })
  const entry = { parameters: TEMPLATE, endpoint: 'https://data.victim.example' }

  it.each([
    ['another base path', `${AT}a`, {}],
    ['the bucket in the host name', 'https://{bucket}.victim.example', {}],
    ['another bucket of the same service', AT, { bucket: 'private' }],
  ])('catalog text cannot choose the object that is signed by %s', async (_name, platform, more) => {
    const { auth, target, servers } = signing(`${AT}a/b/c`, { entry, parameters: NAMES, storage: storage(platform, more) })
    expect(await failureOf(auth.authorize(target))).toMatchObject({ code: 'PARAM_FORBIDDEN', pointer: '/assets/data/href' })
    expect(servers.sent).toEqual([])
  })

  it('catalog text cannot choose the object that is signed by a platform on a host whose URLs are known', async () => {
    const google = storage('https://storage.googleapis.com/eo')
    const { auth, target } = signing('https://storage.googleapis.com/eo/private/k', { parameters: { bucket: body }, storage: google })
    expect(await failureOf(auth.authorize(target))).toMatchObject({ code: 'PARAM_FORBIDDEN' })
  })

  it('the storage extension alone cannot choose the signed object, which the hint says', async () => {
    const { auth, target } = signing(`${AT}a/b`, { parameters: { bucket: body }, storage: storage(AT) })
    expect(await failureOf(auth.authorize(target))).toMatchObject({
      code: 'PARAM_UNBOUND',
      hint: expect.stringContaining('"endpoint": "https://data.victim.example"'),
    })
  })

  it('a storage that agrees with the credential, or is elsewhere, does not prevent the signature', async () => {
    for (const platform of [AT, 'https://mirror.example', 'https://{account}.blob.core.windows.net', '{bad}'])
      expect(await signing(`${AT}a/b/c`, { entry, parameters: NAMES, storage: storage(platform) }).told()).toEqual([
        { container: 'a', object: 'b/c' },
      ])
  })

  it('catalog text cannot choose the object that is signed with a line break for a header', async () => {
    const parameters = { 'x-object': { in: 'header', required: true } }
    const { auth, target, servers } = signing('s3://eo/a%0D%0Ax-evil:%201', { entry: { parameters: { 'x-object': '{key}' } }, parameters })
    expect(await failureOf(auth.authorize(target))).toMatchObject({ code: 'PARAM_SCHEMA_VALUE' })
    expect(servers.sent).toEqual([])
  })
})
