/** What runs in the page: each adapter asks for URLs, most of which belong to others than the credential. */
import axios from 'axios'
import { fromCustomClient } from 'geotiff'
import { asyncBufferFromUrl } from 'hyparquet'
import { FetchStore } from 'zarrita'
import { clientOf } from '../../examples/adapters/axios.ts'
import { tileSource } from '../../examples/adapters/openlayers.ts'
import { tiffClient } from '../../src/adapters/geotiff.ts'
import { parquetFile } from '../../src/adapters/hyparquet.ts'
import { mapRequests } from '../../src/adapters/maplibre.ts'
import { type Given, requestsFor } from '../../src/adapters/requests.ts'
import { zarrStore } from '../../src/adapters/zarrita.ts'
import type { Auth } from '../../src/auth/auth.ts'
import { createAuth } from '../../src/auth/create-auth.ts'
import type { CredentialInput } from '../../src/auth/credential.ts'
import { assetOf } from '../../src/stac/target.ts'
import { asset, item, scheme } from '../harness/documents.ts'

/** What a user has, for the files below two folders of the archive. */
const KINDS: Readonly<Record<string, { readonly scheme: object; readonly credential: (secret: string) => object }>> = {
  bearer: { scheme: { type: 'http', scheme: 'bearer' }, credential: (token) => ({ type: 'http', scheme: 'bearer', token }) },
  basic: {
    scheme: { type: 'http', scheme: 'basic' },
    credential: (password) => ({ type: 'http', scheme: 'basic', username: 'ada', password }),
  },
  'key in a header': {
    scheme: scheme.key('x-archive-key'),
    credential: (value) => ({ type: 'apiKey', in: 'header', name: 'x-archive-key', value }),
  },
  'key in the query': {
    scheme: { type: 'apiKey', in: 'query', name: 'key' },
    credential: (value) => ({ type: 'apiKey', in: 'query', name: 'key', value }),
  },
}

/** How each library asks for a URL, when its adapter was given a target of the archive or the URL itself. GeoTIFF reads what was given. */
const ADAPTERS: Readonly<Record<string, (auth: Auth, given: Given, url: string) => Promise<unknown>>> = {
  requests: (auth, given, url) => requestsFor(auth, given).fetch(url),
  axios: (auth, _given, url) => clientOf(auth).get(url),
  zarrita: (auth, given, url) => {
    const [, options] = zarrStore(auth, given)
    const { origin, pathname, search } = new URL(url)
    return new FetchStore(`${origin}${search}`, options).get(pathname as `/${string}`)
  },
  hyparquet: async (auth, given, url) => {
    const file = await asyncBufferFromUrl({ ...(await parquetFile(auth, given)), url, byteLength: 8 })
    return file.slice(0, 8)
  },
  geotiff: async (auth, given, url) => {
    const response = await tiffClient(auth, given).request({ headers: { Range: 'bytes=0-7' } })
    await response.getData()
    return fromCustomClient(tiffClient(auth, url))
  },
  openlayers: (auth, given, url) =>
    new Promise((resolve) => {
      const source = tileSource(auth, given, url)
      const projection = source.getProjection()
      const tile = projection && source.getTile(0, 0, 0, 1, projection)
      tile?.addEventListener('change', () => {
        const state = (tile as unknown as { getState(): number }).getState()
        if (state === 2 || state === 3) resolve(state)
      })
      tile?.load()
    }),
  maplibre: async (auth, given, url) => {
    const { transformRequest, load } = mapRequests(auth, given)
    const request = (await transformRequest(url, 'Tile' as never)) ?? { url }
    // Without a protocol of ours the map asks by itself, with what the hook returned.
    if (/^https?:/.test(request.url)) return fetch(request.url, { headers: (request as { headers?: HeadersInit }).headers ?? {} })
    return load({ ...request, type: 'arrayBuffer' } as never, new AbortController())
  },
}

/**
 * Asks for all URLs with every adapter, given a target and given the URL. Each request has the name of its adapter in the query, so that
 * servers can tell who asked.
 */
async function probe(kind: string, secret: string, archive: string, urls: readonly string[]): Promise<void> {
  const { scheme: needed, credential } = KINDS[kind] ?? { scheme: {}, credential: () => ({}) }
  const sendTo = [`${archive}/tiles/`, `${archive}/moved/`]
  const auth = createAuth({
    credentials: [{ id: 'k', ...credential(secret), sendTo } as unknown as CredentialInput],
    // All of them may be asked, without a credential.
    typed: urls,
  })
  await auth.ready()
  const target = assetOf(item({ k: needed as never }, { data: asset(`${archive}/tiles/0.png`) }), 'data')
  for (const [name, ask] of Object.entries(ADAPTERS)) {
    for (const url of urls.map((named) => `${named}${named.includes('?') ? '&' : '?'}by=${name}`)) {
      for (const given of [target, url]) {
        // Some refuse at once, others when they are asked.
        await Promise.resolve()
          .then(() => ask(auth, given, url))
          .catch(() => undefined)
      }
    }
  }
}

/** What an adapter must never do: proof that the servers notice. */
async function leak(secret: string, url: string): Promise<void> {
  await Promise.allSettled([
    fetch(url, { headers: { authorization: `Bearer ${secret}` } }),
    axios.get(url, { headers: { 'x-archive-key': secret } }),
    fetch(`${url}?key=${secret}`),
    fetch(url, { headers: { authorization: `Basic ${btoa(`ada:${secret}`)}` } }),
  ])
}

/** An adapter that adds the secret to every request: proof that the test looks at all of them. */
function addCareless(secret: string): void {
  Object.assign(ADAPTERS, {
    careless: (_auth: Auth, _given: Given, url: string) => fetch(url, { headers: { authorization: `Bearer ${secret}` } }),
  })
}

Object.assign(globalThis, { probe, leak, addCareless })
