/** Providers that make a file on request, as their clients and documentation describe them. Each refuses to make one twice. */
import type { ArchiveAnswer, ArchiveRequest } from './archives.ts'

type Answering = (request: ArchiveRequest, url: URL) => ArchiveAnswer

export interface OrderArchives {
  readonly hosts: Readonly<Record<string, Answering>>
  /** Every order, as method and URL, with its body. */
  readonly orders: readonly string[]
  /** What no correct client does. */
  readonly violations: readonly string[]
}

export interface OrderArchiveOptions {
  /** How often the state is asked for before the file is ready; Infinity for never. */
  readonly polls?: number
  /** The order fails once it would be ready. */
  readonly fails?: boolean
  /** The header `Retry-After` while a file is not ready. */
  readonly retryAfter?: string
}

/** What users have: a key, and tokens that servers of `archives.ts` issue. */
interface Access {
  readonly key: string
  readonly isUp42: (authorization: string) => boolean
}

const FILE: ArchiveAnswer = { status: 200, headers: { 'content-type': 'image/tiff', 'content-length': '4' }, body: 'file' }
const REFUSED: ArchiveAnswer = { status: 401, body: { message: 'who are you?' } }

/** Host of the results of the data stores of ECMWF. */
export const RESULTS = 'object-store.os-api.cci2.ecmwf.int'

export function createOrderArchives(
  { key, isUp42 }: Access,
  { polls = 1, fails = false, retryAfter }: OrderArchiveOptions = {},
): OrderArchives {
  const [orders, violations]: [string[], string[]] = [[], []]
  const asked = new Map<string, number>()
  const waiting = retryAfter === undefined ? {} : { headers: { 'retry-after': retryAfter } }
  const place = ({ method, url, body }: ArchiveRequest) => {
    const order = `${method} ${url.replace(/\?.*/s, '')} ${body}`.trim()
    if (orders.includes(order)) violations.push(`ordered twice: ${order}`)
    orders.push(order)
  }
  const isReady = (id: string) => {
    asked.set(id, (asked.get(id) ?? 0) + 1)
    return (asked.get(id) ?? 0) > polls
  }
  /** Files elsewhere are for whoever has their URL; a credential there is a leak. */
  const open: Answering = ({ headers }) => {
    const leaked = ['authorization', 'private-token', 'cookie'].filter((name) => headers[name] !== undefined)
    if (leaked.length > 0) violations.push(`a secret was sent elsewhere: ${leaked.join()}`)
    return leaked.length > 0 ? { status: 400 } : FILE
  }

  const store: Answering = (request, url) => {
    const { method, headers, body } = request
    if (headers['private-token'] !== key) return REFUSED
    const [, id, rest] = /^\/api\/retrieve\/v1\/jobs\/([\w-]+)(\/results)?$/.exec(url.pathname) ?? []
    if (method === 'POST' && /^\/api\/retrieve\/v1\/processes\/[\w-]+\/execution$/.test(url.pathname) && url.search === '') {
      const { inputs, ...more } = JSON.parse(body)
      if (typeof inputs !== 'object' || Object.keys(more).length > 0) return { status: 422, body: { title: 'invalid request' } }
      place(request)
      return { status: 201, body: { jobID: `job-${orders.length}`, status: 'accepted' } }
    }
    if (method !== 'GET' || id === undefined || Number(id.slice(4)) > orders.length)
      return { status: 404, body: { title: 'job not found' } }
    if (rest && fails) return { status: 400, body: { title: 'job failed', detail: 'The licence was not accepted' } }
    if (rest) return { status: 200, body: { asset: { value: { type: 'application/netcdf', href: `https://${RESULTS}/cache/${id}.nc` } } } }
    const state = isReady(id) ? (fails ? 'failed' : 'successful') : 'running'
    return { status: 200, ...(state === 'running' ? waiting : {}), body: { jobID: id, status: state } }
  }

  const wekeo: Answering = (request, url) => {
    const { method, headers, body } = request
    if (headers.authorization !== `Bearer ${key}`) return REFUSED
    const path = url.pathname.replace('/hda-broker/api/v1/dataaccess', '')
    if (method === 'POST' && path === '/download' && url.search === '') {
      if (Object.keys(JSON.parse(body)).sort().join() !== 'dataset_id,location,product_id') return { status: 400 }
      place(request)
      return { status: 200, body: { download_id: `d-${orders.length}` } }
    }
    if (method !== 'GET') return { status: 405 }
    if (path !== '/downloads') return FILE
    const id = url.searchParams.get('download_id') ?? ''
    const isDone = isReady(id)
    const feature = {
      _id: id,
      status: isDone ? (fails ? 'Error' : 'Done') : 'Pending',
      ...(fails && { message: 'the archive is on fire' }),
    }
    return { status: isDone ? 200 : 202, ...(isDone ? {} : waiting), body: { features: [feature] } }
  }

  const activated = new Set<string>()
  const planet: Answering = (request, url) => {
    const { authorization = '' } = request.headers
    if (![`Basic ${btoa(`${key}:`)}`, `api-key ${key}`].includes(authorization)) return REFUSED
    if (request.method !== 'GET') return { status: 405 }
    const [, id, activate] = /^\/data\/v1\/assets\/([\w-]+)(\/activate)?$/.exec(url.pathname) ?? []
    if (id === undefined) return FILE
    if (activate) {
      place(request)
      activated.add(id)
      return { status: 202 }
    }
    const status = !activated.has(id) ? 'inactive' : isReady(id) ? 'active' : 'activating'
    const location = status === 'active' ? { location: 'https://api.planet.com/data/v1/download?token=of-the-asset' } : {}
    return { status: 200, ...(status === 'active' ? {} : waiting), body: { status, ...location } }
  }

  const eodms: Answering = ({ method, headers }) => {
    if (headers.authorization !== 'Bearer of-the-hour') return REFUSED
    if (method !== 'GET') return { status: 405 }
    if (!isReady('item')) return { status: 202, ...waiting, body: { status: 'Processing' } }
    return { status: 200, body: { download_url: 'https://data.eodms-sgdot.nrcan-rncan.gc.ca/public/a.zip?key=of-the-item' } }
  }

  const up42: Answering = ({ method, headers }, url) => {
    if (!isUp42(headers.authorization ?? '')) return REFUSED
    if (method !== 'POST' || !url.pathname.endsWith('/download-url')) return method === 'GET' ? FILE : { status: 405 }
    const query = new URLSearchParams({ 'X-Goog-Signature': 'abc' })
    return { status: 200, body: { url: `https://storage.googleapis.com/up42-assets/a.tgz?${query}` } }
  }

  const hosts = {
    'cds.climate.copernicus.eu': store,
    'ads.atmosphere.copernicus.eu': store,
    'ewds.climate.copernicus.eu': store,
    'gateway.prod.wekeo2.eu': wekeo,
    'api.planet.com': planet,
    'www.eodms-sgdot.nrcan-rncan.gc.ca': eodms,
    'api.up42.com': up42,
    [RESULTS]: open,
    'data.eodms-sgdot.nrcan-rncan.gc.ca': open,
    'storage.googleapis.com': open,
  }
  return { hosts, orders, violations }
}
