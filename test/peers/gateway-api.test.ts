import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Answer, type AnsweringServer, type Inquiry, jsonAnswer, startAnswering } from '../servers/answering-server.ts'
import { CLIENTS, type OAuthServer, startOAuthServer } from '../servers/oidc-provider.ts'
import { sha256 } from './gdal-reader.ts'
import { type ShellUser, shellUser } from './shell-user.ts'

const PAGES = 3
const PER_PAGE = 4
const FILES = Array.from({ length: PAGES * PER_PAGE }, () => randomBytes(5000))

/** A client of STAC APIs that knows nothing of authentication: all collections, all pages by GET and by POST, all assets. */
const BROWSER = `
import hashlib, json, sys, urllib.request
from urllib.parse import urljoin

def load(url, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {'content-type': 'application/json'} if data else {})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer), answer.url

def links(document, rel):
    return [link for link in document.get('links', []) if link['rel'] == rel]

def pages(url, body=None):
    while url:
        page, base = load(url, body)
        yield page, base
        following = links(page, 'next')
        url = urljoin(base, following[0]['href']) if following else None
        body = following[0].get('body') if following else None

root, base = load(sys.argv[1])
seen = {'get': [], 'post': [], 'assets': []}
collections, base = load(urljoin(base, links(root, 'data')[0]['href']))
for collection in collections['collections']:
    for page, base in pages(urljoin(base, links(collection, 'items')[0]['href'])):
        for item in page['features']:
            seen['get'].append(item['id'])
            single, where = load(urljoin(base, links(item, 'self')[0]['href']))
            with urllib.request.urlopen(urljoin(where, single['assets']['data']['href'])) as answer:
                seen['assets'].append(hashlib.sha256(answer.read()).hexdigest())
search = [link for link in links(root, 'search') if link.get('method') == 'POST'][0]
for page, base in pages(urljoin(sys.argv[1], search['href']), {'collections': ['c'], 'limit': ${PER_PAGE}}):
    seen['post'] += [item['id'] for item in page['features']]
print(json.dumps(seen))
`

let provider: OAuthServer
let api: AnsweringServer
let user: ShellUser

beforeAll(async () => {
  provider = await startOAuthServer()
  api = await startAnswering(answerTo)
  const openIdConnectUrl = provider.tokenUrl.replace(/token$/, '.well-known/openid-configuration')
  const { id: clientId, secret } = CLIENTS.basic
  user = await shellUser((keep) => [
    {
      id: 'portal',
      type: 'openIdConnect',
      openIdConnectUrl,
      flow: 'clientCredentials',
      clientId,
      clientSecret: keep(secret),
      scopes: ['read'],
      sendTo: [`${api.origin}/`],
    },
  ])
  await user.put('browse.py', BROWSER)
})
afterAll(() => Promise.all([provider, api].map((server) => server?.close())))

/** Everything is for clients of the provider, the landing page too. */
async function answerTo(request: Inquiry): Promise<Answer> {
  const [, token] = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '') ?? []
  if (token === undefined || !(await provider.find(token))) return { status: 401, headers: { 'www-authenticate': 'Bearer realm="api"' } }
  const [, first, second, third, id] = request.path.split('/')
  if (request.path === '/') return stac(landing())
  if (request.path === '/search' && request.method === 'POST') return search(request)
  if (request.method !== 'GET') return { status: 405 }
  if (first === 'data') return { status: 200, body: FILES[Number(second)] ?? '' }
  if (first !== 'collections') return { status: 404 }
  if (third === undefined) return stac({ collections: [collection()], links: [] })
  if (id !== undefined) return stac(itemAt(Number(id)), 'application/geo+json')
  return stac(pageAt(Number(request.query.get('page') ?? 0)), 'application/geo+json')
}

const stac = (document: object, type = 'application/json'): Answer => jsonAnswer(200, document, { 'content-type': type })
const at = (path: string) => `${api.origin}${path}`

function landing(): object {
  const links = [
    { rel: 'data', href: at('/collections') },
    { rel: 'search', href: at('/search'), method: 'GET' },
    { rel: 'search', href: at('/search'), method: 'POST' },
  ]
  return { type: 'Catalog', stac_version: '1.0.0', id: 'api', description: 'Protected', conformsTo: [], links }
}

function collection(): object {
  const links = [{ rel: 'items', href: '/collections/c/items' }]
  return { type: 'Collection', stac_version: '1.0.0', id: 'c', description: 'c', license: 'other', extent: {}, links }
}

function itemAt(index: number): object {
  const links = [{ rel: 'self', href: at(`/collections/c/items/${index}`) }]
  const assets = { data: { href: index % 2 ? at(`/data/${index}`) : `../../../data/${index}` } }
  return { type: 'Feature', stac_version: '1.0.0', id: `item-${index}`, geometry: null, properties: {}, links, assets }
}

function pageAt(page: number): { features: object[]; links: object[]; type: string } {
  const features = Array.from({ length: PER_PAGE }, (_, index) => itemAt(page * PER_PAGE + index))
  const next = page + 1 < PAGES ? [{ rel: 'next', href: at(`/collections/c/items?page=${page + 1}`) }] : []
  return { type: 'FeatureCollection', features, links: next }
}

/** The next page is asked for with the whole body of the link, as the API wrote it. */
function search({ headers, body }: Inquiry): Answer {
  const wanted = JSON.parse(body) as { collections?: string[]; limit?: number; token?: string }
  if (!/^application\/json\b/.test(headers['content-type'] ?? '') || wanted.collections?.[0] !== 'c' || wanted.limit !== PER_PAGE) {
    return { status: 400 }
  }
  const page = Number(wanted.token?.replace('page:', '') ?? 0)
  const next = { rel: 'next', method: 'POST', href: at('/search'), body: { ...wanted, token: `page:${page + 1}` } }
  return stac({ ...pageAt(page), links: page + 1 < PAGES ? [next] : [] }, 'application/geo+json')
}

describe('an API behind OpenID Connect', () => {
  it('is browsed by a client that knows nothing of it: all pages, all items, all assets', async () => {
    const { code, stdout, stderr } = await user.sh('stac-auth run "$1" -- /usr/bin/python3 browse.py {catalog}', `${api.origin}/`)
    expect([code, stderr]).toEqual([0, ''])
    const ids = FILES.map((_, index) => `item-${index}`)
    expect(JSON.parse(stdout.toString())).toEqual({ get: ids, post: ids, assets: FILES.map((file) => sha256(file)) })
    expect(new Set(api.exchanges.map(({ answer }) => answer.status))).toEqual(new Set([200]))
    expect(provider.log.filter((path) => path === '/token')).toHaveLength(1)
  })

  it('is refused to that client without the gateway', async () => {
    const { code, stderr } = await user.sh('/usr/bin/python3 browse.py "$1"', `${api.origin}/`)
    expect([code, stderr]).toEqual([1, expect.stringContaining('HTTP Error 401')])
  })
})
