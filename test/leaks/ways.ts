/** Every way in which a program can request a URL with the library, or be told about it. */
import axios from 'axios'
import { authorizeWith } from '../../src/adapters/axios.ts'
import { tiffClient } from '../../src/adapters/geotiff.ts'
import { parquetFile } from '../../src/adapters/hyparquet.ts'
import { mapRequests } from '../../src/adapters/maplibre.ts'
import { stacLayerOptions } from '../../src/adapters/ol-stac.ts'
import { requestsFor } from '../../src/adapters/requests.ts'
import { authorizeRequests, type WorkerScope } from '../../src/adapters/service-worker.ts'
import { browserRequests } from '../../src/adapters/stac-browser.ts'
import { zarrStore } from '../../src/adapters/zarrita.ts'
import type { Auth, AuthorizedRequest } from '../../src/auth/auth.ts'
import type { HttpRequest, Send } from '../../src/http/message.ts'
import { aria2 } from '../../src/outputs/aria2.ts'
import { aws } from '../../src/outputs/aws.ts'
import { curl } from '../../src/outputs/curl.ts'
import { duckdb } from '../../src/outputs/duckdb.ts'
import { fsspec } from '../../src/outputs/fsspec.ts'
import { gdal } from '../../src/outputs/gdal.ts'
import { headers } from '../../src/outputs/headers.ts'
import { http } from '../../src/outputs/http.ts'
import { netrc } from '../../src/outputs/netrc.ts'
import { powershell } from '../../src/outputs/powershell.ts'
import { python } from '../../src/outputs/python.ts'
import { rclone } from '../../src/outputs/rclone.ts'
import { sh } from '../../src/outputs/sh.ts'
import { url as urlOnly } from '../../src/outputs/url.ts'
import { wget } from '../../src/outputs/wget.ts'
import type { Target } from '../../src/stac/target.ts'

export interface Cell {
  readonly auth: Auth
  readonly url: string
  /** A target whose reference is the scheme of the credential. */
  readonly target: Target
  /** Sends a request itself; what it is given counts as sent. */
  readonly send: Send
}

/** What the program got: all of it is searched for secrets. */
type Way = (cell: Cell) => Promise<unknown>

const OUTPUTS = { aria2, aws, curl, duckdb, fsspec, gdal, headers, http, netrc, powershell, python, rclone, sh, urlOnly, wget }

/** A URL that every credential of the matrix may be sent to, and that redirects to another by its query. */
export const START = 'https://start.victim.example/'
const redirecting = (status: number, url: string) => `${START}${status}?to=${encodeURIComponent(url)}`

const textOf = async (response: Response) => [response.url, response.status, [...response.headers], await response.text()]

/** What a service worker does with a request of the page; what it leaves to the page is sent by the page. */
async function throughWorker({ auth, url }: Cell): Promise<unknown> {
  const told: unknown[] = []
  let answer: Promise<Response> | undefined
  const request = new Request(url)
  const scope: WorkerScope = {
    addEventListener: (_, listener) =>
      listener({
        request,
        respondWith: (given) => {
          answer = given
        },
      }),
  }
  authorizeRequests(scope, auth, (error) => told.push(error))
  const response = answer && (await answer)
  return [told, response && response.type !== 'error' ? await textOf(response) : undefined]
}

/** An authorized request in each other form, without what is secret. */
function inOtherForms(request: AuthorizedRequest): readonly unknown[] {
  return Object.values(OUTPUTS).map((output) => {
    try {
      return output(request)
    } catch (error) {
      return error
    }
  })
}

/** The ways in which the library sends the request. */
export const SENDING: Readonly<Record<string, Way>> = {
  'fetch of a target': async ({ auth, target }) => textOf(await auth.fetch(target)),
  'fetch of a URL': async ({ auth, url }) => textOf(await auth.fetch(url)),
  'send of a target': async ({ auth, target }) => (await auth.send(target)).text(1000),
  'send of a request': async ({ auth, url }) => (await auth.send({ method: 'GET', url, headers: {} })).text(1000),
  'fetchFor of a target': async ({ auth, target, url }) => textOf(await auth.fetchFor(target)(url)),
  // Every response is returned unchanged; the API clients remove what it repeats.
  'a service': async ({ auth, url, send }) => (await (await auth.service(url)).send({ method: 'GET', url, headers: {} }, send)).status,
  'a redirect by 302': async ({ auth, url }) => textOf(await auth.fetch(redirecting(302, url))),
  'a redirect by 307': async ({ auth, url }) => textOf(await auth.fetch(redirecting(307, url))),
  axios: async ({ auth, url }) => {
    const client = axios.create()
    client.interceptors.request.use(authorizeWith(auth))
    const { data, headers: received, config } = await client.get(url, { validateStatus: () => true })
    return [data, received, config]
  },
  requestsFor: async ({ auth, target, url }) => textOf(await requestsFor(auth, target).fetch(url)),
  zarrita: async ({ auth, url }) => {
    const [, { fetch }] = zarrStore(auth, url)
    return fetch && textOf((await fetch(new Request(url))) as Response)
  },
  'stac-browser': async ({ auth, url }) => textOf(await browserRequests(auth).fetch(url)),
  'a service worker': throughWorker,
}

/** The ways in which the library says what it would do, and clients that ask in parts. What they send must go where it may, if they send. */
export const OTHER: Readonly<Record<string, Way>> = {
  explain: ({ auth, target }) => auth.explain(target),
  status: ({ auth }) => auth.status(),
  outputs: async ({ auth, target }) => inOtherForms(await auth.authorize(target)),
  'presigned outputs': async ({ auth, target }) => inOtherForms(await auth.authorize(target, { presign: 60 })),
  geotiff: async ({ auth, url }) => (await tiffClient(auth, url).request({ headers: { range: 'bytes=0-9' } })).getData(),
  hyparquet: async ({ auth, url }) => (await parquetFile(auth, url)).byteLength,
  'ol-stac': async ({ auth, url }) => stacLayerOptions(auth).httpRequestFn(url),
  maplibre: async ({ auth, url }) => {
    const { transformRequest, load } = mapRequests(auth, url)
    const transformed = transformRequest(url)
    return transformed && load(transformed, new AbortController())
  },
}

/** What a library was given, to be sent by itself. */
export const HANDED: Readonly<Record<string, (cell: Cell) => Promise<Pick<HttpRequest, 'url' | 'headers'> | undefined>>> = {
  authorize: ({ auth, target }) => auth.authorize(target),
  peek: async ({ auth, url }) => auth.peek(url),
  'peek of requestsFor': async ({ auth, url }) => requestsFor(auth, url).peek(url),
}
