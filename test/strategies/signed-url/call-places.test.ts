import { describe, expect, it } from 'vitest'
import { createAuth } from '../../../src/auth/create-auth.ts'
import { assetOf, type Target } from '../../../src/stac/target.ts'
import { asset, collection, found, item, type Json, scheme } from '../../harness/documents.ts'
import { failureOf } from '../../harness/failure.ts'
import { script } from '../../harness/scripted.ts'
import { unchecked } from '../../harness/unchecked.ts'

const API = 'https://sign.example/v1/'
const STORE = 'https://archive.blob.core.windows.net/'

/** A user of a signing API, and what the API was told. */
function user(entry: Json) {
  const servers = script(({ url }) => (url.startsWith('https://sign.example/') ? { body: { href: `${STORE}signed` } } : { body: 'data' }))
  const credential = { id: 'signer', type: 'signedUrl', method: 'GET', authorizationApi: `${API}sign`, signedUrlHosts: STORE, ...entry }
  const auth = createAuth({ credentials: unchecked(credential), transport: servers.send, byAddress: true })
  const told = async (wanted: Target) => {
    await auth.authorize(wanted)
    return servers.sent.filter(({ url }) => url.startsWith('https://sign.example/'))
  }
  return { auth, servers, told }
}

const bare = (members: Json = {}, key = 'data', href = `${STORE}scenes/a/b.tif`) =>
  found(assetOf(item(undefined, { [key]: { href } }, members), key))

describe('names from the document in a signing call', () => {
  const query = { item: '{item}', of: '{collection}/{asset}' }

  it('names of the item, its collection and the asset are sent where the user wrote their placeholders', async () => {
    const [call] = await user({ query }).told(bare({ id: 'S2 & x=1', collection: 'sentinel-2' }, 'B/4~'))
    expect([...new URL(found(call).url).searchParams]).toEqual([
      ['item', 'S2 & x=1'],
      ['of', 'sentinel-2/B/4~'],
    ])
  })

  it('a collection has its own name, and no item', async () => {
    const wanted = found(assetOf(collection(undefined, { id: 'c', assets: { data: { href: `${STORE}scenes/a` } } }), 'data'))
    const [call] = await user({ query: { of: 'in {collection}' } }).told(wanted)
    expect(found(call).url).toBe(`${API}sign?of=in%20c`)
    const { auth, servers } = user({ query })
    expect(await failureOf(auth.authorize(wanted))).toMatchObject({ code: 'PARAM_UNBOUND', hint: expect.stringContaining('{item}') })
    expect(servers.sent).toEqual([])
  })

  it('a catalog that asks for a parameter of such a name is told nothing', async () => {
    const k = scheme.signed(`${API}sign`, { parameters: { item: { in: 'query', required: true } } })
    const wanted = found(assetOf(item({ k }, { data: asset(`${STORE}scenes/a`, ['k']) }, { id: 'x' }), 'data'))
    const { auth, servers } = user({})
    expect(await failureOf(auth.authorize(wanted))).toMatchObject({ code: 'PARAM_UNBOUND' })
    expect(servers.sent).toEqual([])
  })

  it('items with different names are signed by calls of their own at the same URL', async () => {
    const { auth, servers } = user({ query })
    for (const id of ['a', 'b', 'a']) await auth.authorize(bare({ id, collection: 'c' }))
    expect(servers.sent.map(({ url }) => new URL(url).searchParams.get('item'))).toEqual(['a', 'b'])
  })

  it.each(['a\r\nx-evil: 1', 'ä', 'a\0'])('the name %j is not sent in a header', async (id) => {
    const { auth, servers } = user({ headers: { 'x-item': '{item}' } })
    expect(await failureOf(auth.authorize(bare({ id })))).toMatchObject({ code: 'PARAM_SCHEMA_VALUE' })
    expect(servers.sent).toEqual([])
  })
})

describe('placeholders in the path of a signing API', () => {
  it('account, container and names of the document are percent-encoded segments', async () => {
    const { told } = user({ authorizationApi: `${API}{account}/{container}/{collection}/token` })
    const [call] = await told(bare({ collection: 'hls 2?&#' }))
    expect(found(call).url).toBe(`${API}archive/scenes/hls%202%3F%26%23/token`)
  })

  it('the credential that authorizes the call is sent to the filled path only', async () => {
    const key = { id: 'key', type: 'apiKey', in: 'header', name: 'x-key', value: 'secret-key-1', sendTo: API }
    const servers = script(({ url }) => (url.startsWith(API) ? { body: { href: `${STORE}signed` } } : {}))
    const signer = {
      id: 's',
      type: 'signedUrl',
      method: 'GET',
      authorizationApi: `${API}{account}/{container}`,
      with: 'key',
      signedUrlHosts: STORE,
    }
    const auth = createAuth({ credentials: unchecked([key, signer]), transport: servers.send, byAddress: true })
    await auth.authorize(bare())
    expect(servers.sent).toMatchObject([{ url: `${API}archive/scenes`, headers: { 'x-key': 'secret-key-1' } }])
  })

  it.each(['..', '.', '../admin', 'a/b', '..%2fadmin', 'a\\b', '..;x', '%2e%2e', '', '...', 'ａ'])(
    'the name %j is refused, because servers may read another path',
    async (name) => {
      const { auth, servers } = user({ authorizationApi: `${API}{collection}/sign` })
      expect(await failureOf(auth.authorize(bare({ collection: name })))).toMatchObject({
        code: name === '' ? 'PARAM_UNBOUND' : 'PARAM_FORBIDDEN',
        pointer: '/assets/data/href',
      })
      expect(servers.sent).toEqual([])
    },
  )

  it.each([
    [{ authorizationApi: `${API}{key}` }, '/authorizationApi'],
    [{ authorizationApi: `${API}{url}` }, '/authorizationApi'],
    [{ authorizationApi: `${API}{kollection}` }, '/authorizationApi'],
    [{ authorizationApi: `${API}sign?url={url}` }, '/authorizationApi'],
    [{ authorizationApi: 'https://{account}.sign.example/' }, '/authorizationApi'],
    [{ query: { url: '{ulr}' } }, '/query/url'],
    [{ headers: { host: 'evil.example' } }, '/headers/host'],
    [{ body: { url: '{url}' } }, '/body'],
    [{ query: { url: '{url}' }, headers: { url: 'x' } }, '/query/url'],
  ])('%j is refused when the credential is read', async (entry, at) => {
    expect(await failureOf(user(entry).auth.ready())).toMatchObject({ code: 'CONFIG_INVALID', pointer: `/credentials/0${at}` })
  })
})

describe('the place of a parameter', () => {
  it('parameters are sent where the user states it', async () => {
    const { told } = user({
      method: 'POST',
      headers: { 'Access-Key': () => 'secret-a-1' },
      query: { url: '{url}' },
      body: { life: '60' },
    })
    expect(await told(bare())).toMatchObject([
      {
        url: `${API}sign?url=${encodeURIComponent(`${STORE}scenes/a/b.tif`)}`,
        headers: { 'access-key': 'secret-a-1' },
        body: '{"life":"60"}',
      },
    ])
  })

  it('the place that the user states counts, whatever the catalog says', async () => {
    const parameters = { url: { in: 'body', required: true }, 'ACCESS-KEY': { in: 'header' }, more: { in: 'query' } }
    const k = scheme.signed(`${API}sign`, { parameters })
    const wanted = found(assetOf(item({ k }, { data: asset(`${STORE}scenes/a`, ['k']) }), 'data'))
    const { told } = user({ headers: { 'access-key': 'secret-a-1' }, query: { url: '{url}' } })
    const [call] = await told(wanted)
    expect(found(call)).toMatchObject({
      url: `${API}sign?url=${encodeURIComponent(`${STORE}scenes/a`)}`,
      headers: { 'access-key': 'secret-a-1' },
    })
    expect(Object.keys(found(call).headers).sort()).toEqual(['accept', 'access-key'])
  })

  it('files below a folder are signed by calls of their own where the user sends their path', async () => {
    const servers = script(({ url }) => {
      const { pathname, searchParams } = new URL(url)
      return pathname === '/v1/sign'
        ? { body: { href: `${searchParams.get('folder')}/${searchParams.get('path')}?s=1` } }
        : { body: pathname }
    })
    const query = { folder: '{url}', path: '{path}' }
    const credential = { id: 's', type: 'signedUrl', method: 'GET', authorizationApi: `${API}sign`, signedUrlHosts: STORE, query }
    const auth = createAuth({ credentials: unchecked(credential), transport: servers.send, byAddress: true })
    const folder = auth.fetchFor(bare({}, 'data', `${STORE}zarr`))
    for (const path of ['a/.zarray', 'a/0.0', 'a/0.0']) expect(await (await folder(`${STORE}zarr/${path}`)).text()).toBe(`/zarr/${path}`)
    expect(servers.sent.filter(({ url }) => url.startsWith(API)).map(({ url }) => new URL(url).searchParams.get('path'))).toEqual([
      'a/.zarray',
      'a/0.0',
    ])
  })
})
