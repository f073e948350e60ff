import { describe, expect, it } from 'vitest'
import { item, link, ORIGIN, page, type Site, walk } from './site.ts'

const CORE = ['https://api.stacspec.org/v1.0.0/core']
const landing = (...links: object[]) => ({ body: { type: 'Catalog', id: 'api', conformsTo: CORE, links } })
const collection = (id: string, more: object = {}) => ({
  type: 'Collection',
  id,
  links: [link('items', `/collections/${id}/items`)],
  ...more,
})

const API: Site = {
  '/': landing(link('data', '/collections'), link('child', '/collections/a'), link('child', '/collections/b')),
  '/collections': { body: { collections: [collection('a')], links: [link('next', '/collections?page=2')] } },
  '/collections?page=2': { body: { collections: [collection('b')], links: [] } },
  '/collections/a/items?limit=250': page(['a1', 'a2'], link('next', '/collections/a/items?limit=250&token=x')),
  '/collections/a/items?limit=250&token=x': page(['a3'], link('item', '/collections/a/items/a3')),
  '/collections/b/items?limit=250': page([]),
}

describe('an API', () => {
  it('an API is walked by its lists and their pages, not by single links', async () => {
    const { asked, visits, left } = await walk(API)
    expect([...asked].sort()).toEqual(Object.keys(API).sort())
    expect(left).toEqual([])
    expect(visits.reduce((sum, { outcome }) => sum + outcome.documents, 0)).toBe(1 + 2 + 3)
  })

  it('an API may have children instead of data, or neither', async () => {
    const children = await walk({
      ...API,
      '/': landing(link('children', '/children')),
      '/children': { body: { children: [collection('b')], links: [] } },
    })
    expect(children.asked).toEqual(['/', '/children', '/collections/b/items?limit=250'])
    const neither = await walk({ ...API, '/': landing(link('child', '/collections/b')), '/collections/b': { body: collection('b') } })
    expect(neither.asked).toEqual(['/', '/collections/b', '/collections/b/items?limit=250'])
  })

  it('an API that can only be searched is read by the search for everything', async () => {
    const searched = {
      '/search?limit=250': page(['1', '2'], link('next', '/search?limit=250&token=b')),
      '/search?limit=250&token=b': page(['3']),
    }
    const { asked, left, visits } = await walk({
      ...API,
      ...searched,
      '/': landing(link('search', '/search', { method: 'GET' }), link('search', '/search', { method: 'POST' })),
    })
    expect([asked, left]).toEqual([['/', ...Object.keys(searched)], []])
    expect(visits.reduce((sum, { outcome }) => sum + outcome.documents, 0)).toBe(1 + 3)
    const other = await walk({ ...API, '/': landing(link('search', '/search'), link('data', '/collections')) })
    expect([...other.asked].sort()).toEqual(Object.keys(API).sort())
  })

  it('an API that can only be searched by POST is asked so, with what its link says', async () => {
    const next = link('next', '/search', { method: 'POST', merge: true, body: { token: 'b' } })
    const search = (more: object) => landing(link('search', '/search', { method: 'POST', ...more }))
    const site: Site = {
      '/': search({ body: { collections: ['a'] } }),
      '/search': (_, count) => page([`${count}`], ...(count === 1 ? [next] : [])),
    }
    const { requests, left, visits } = await walk(site)
    expect(left).toEqual([])
    expect(requests.map(({ method, body }) => [method, body && JSON.parse(String(body))])).toEqual([
      ['GET', undefined],
      ['POST', { limit: 250, collections: ['a'] }],
      ['POST', { limit: 250, collections: ['a'], token: 'b' }],
    ])
    expect(visits.reduce((sum, { outcome }) => sum + outcome.documents, 0)).toBe(3)
    const limited = await walk({ ...site, '/': search({ body: { limit: 7 } }) })
    expect(limited.requests.slice(1).map(({ body }) => JSON.parse(String(body)).limit)).toEqual([7, 7])
  })

  it('a link that reads one document cannot send POST', async () => {
    const { requests, left } = await walk({ '/': landing(link('item', '/one', { method: 'POST', body: { id: 'a' } })) })
    expect([requests.length, left.map(({ code }) => code)]).toEqual([1, ['LINK_REQUEST_FORBIDDEN']])
  })

  it('each link that cannot be followed is listed once, with its place and what is wrong', async () => {
    const list = { collections: [collection('a', { links: [link('item', 'ftp://x.example/')] })], links: [] }
    const links = [
      link('data', '/c'),
      link('data', '/unused'),
      link('item', ''),
      link('item', '/a\\b'),
      link('item', '/ok', { 'auth:refs': 1 }),
    ]
    const { left } = await walk({ '/': landing(...links), '/c': { body: list } })
    expect(left.map(({ url, code, message }) => [url.slice(ORIGIN.length), code, message])).toEqual([
      ['/', 'URL_INVALID', 'the link "item" at /links/2 is not followed: its href is missing'],
      ['/', 'URL_INVALID', 'the link "item" at /links/3 is not followed: its href has a backslash at character 3'],
      [
        '/',
        'SCHEME_INVALID',
        'the link "item" at /links/4 is not followed: its auth:refs is not a list of scheme names, so it may not be public',
      ],
      [
        '/c',
        'URL_SCHEME_FORBIDDEN',
        'the link "item" at /collections/0/links/0 is not followed: its href has the scheme "ftp:"; only https:, s3: and gs: can be authorized',
      ],
    ])
  })

  it('an API may be asked for one Collection, one list of Items, or other pages', async () => {
    const site = { ...API, '/collections/b': { body: collection('b') } }
    const walked = async (path: string, pageSize?: number) =>
      (await walk(site, { start: [ORIGIN + path], ...(pageSize && { pageSize }) })).asked
    expect(await walked('/collections/b')).toEqual(['/collections/b', '/collections/b/items?limit=250'])
    expect(await walked('/collections/a/items?limit=250')).toHaveLength(2)
    expect(await walked('/collections/b', 10)).toContain('/collections/b/items?limit=10')
  })

  it('lends the schemes of Collection and landing page to Items, nearest first', async () => {
    const schemes = { 'auth:schemes': { key: { type: 's3' } } }
    const { visits } = await walk({
      ...API,
      '/': { body: { ...landing(link('data', '/collections')).body, ...schemes } },
      '/collections': { body: { collections: [collection('b', schemes)], links: [] } },
    })
    expect(visits.at(-1)?.parents.map(({ id }) => id)).toEqual(['b', 'api'])
  })

  it('counts limits in documents and pages', async () => {
    const documents = await walk(API, { maxDocuments: 4 })
    expect(documents.visits.reduce((sum, { outcome }) => sum + outcome.documents, 0)).toBe(4)
    expect(documents.left).toMatchObject([{ code: 'CRAWL_LIMIT', limit: 'documents', asked: true }])
    const pages = await walk(API, { maxPages: 1 })
    expect(pages.left.map(({ limit, asked }) => [limit, asked])).toEqual([
      ['pages', true],
      ['pages', true],
    ])
    const sample = await walk(API, { sample: 1, maxPages: 9 })
    expect(sample.asked).toContain('/collections/a/items?limit=1')
  })
})

/** Pages below a start that is the first of them. */
const paging = (next: object, more: Site = {}) => ({ '/': page(['1'], link('next', '/2', next)), '/2': page(['2']), ...more })

describe('the next page', () => {
  it('the next page may be requested by POST, with a body and a header over those of the previous request', async () => {
    const next = (more: object) => link('next', '/search', { method: 'POST', ...more })
    const pages = [
      page(['2'], next({ merge: true, body: { token: 'c' } })),
      page(['3'], next({ body: { token: 'd' } })),
      page(['4'], link('next', '/last', { merge: true })),
    ]
    const site: Site = {
      '/': page(['1'], next({ merge: true, body: { ids: ['x'], token: 'b' }, headers: { 'Search-After': '2' } })),
      '/search': (_request, count) => pages[count - 1] ?? {},
      '/last': page(['5']),
    }
    const { requests, left } = await walk(site)
    expect(left).toEqual([])
    expect(requests.map(({ method, body, headers }) => [method, body, headers['search-after'], headers['content-type']])).toEqual([
      ['GET', undefined, undefined, undefined],
      ['POST', '{"ids":["x"],"token":"b"}', '2', 'application/json'],
      ['POST', '{"ids":["x"],"token":"c"}', '2', 'application/json'],
      ['POST', '{"token":"d"}', undefined, 'application/json'],
      ['GET', undefined, undefined, undefined],
    ])
  })

  it('the next page that is merged and grows beyond 8 kB ends the list', async () => {
    const next = (name: string) => link('next', '/s', { method: 'POST', merge: true, body: { [name]: 'x'.repeat(3000) } })
    const { left, requests } = await walk({
      '/': page(['1'], next('a')),
      '/s': ({ body }) => page([String(body)], next(String(body).length > 4000 ? 'c' : 'b')),
    })
    expect([requests.length, left]).toMatchObject([3, [{ code: 'URL_INVALID', message: expect.stringContaining('8 kB') }]])
  })

  it.each([
    ['another method', { method: 'DELETE' }],
    ['a header that frames', { headers: { Host: 'evil.example' } }],
    ['a header that leads to another path', { headers: { 'X-Original-URL': '/admin' } }],
    ['a header that leads to another path in older servers', { headers: { 'x-rewrite-url': '/admin' } }],
    ['a header that may hold material', { headers: { Authorization: 'Basic eA==' } }],
    ['a header with a line break', { headers: { accept: 'a\r\nb: c' } }],
    ['a header that is no text', { headers: { accept: 1 } }],
    ['a header of its own', { headers: { 'x-page': '2' } }],
    ['a media type that is not JSON', { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' } }],
    ['a body that is no object', { method: 'POST', body: [1] }],
  ])('the next page is refused %s', async (_name, next) => {
    const { asked, left } = await walk(paging(next))
    expect([asked, left.map(({ code }) => code)]).toEqual([['/'], ['LINK_REQUEST_FORBIDDEN']])
  })

  it.each(['cross', 'same', undefined] as const)('the next page is no POST to another origin: %s', async (origins) => {
    const site: Site = { '/': page(['1'], link('next', 'https://evil.example/', { method: 'POST', body: {} })) }
    const { asked, left } = await walk(site, origins ? { origins } : {})
    expect([asked, left.map(({ code }) => code)]).toEqual([['/'], ['LINK_REQUEST_FORBIDDEN']])
  })

  it('the next page on another origin is omitted like any other link', async () => {
    const site: Site = { '/': page(['1'], link('next', 'https://evil.example/')), 'https://evil.example/': page(['2']) }
    expect((await walk(site)).left.map(({ code }) => code)).toEqual(['CRAWL_OTHER_ORIGIN'])
    expect((await walk(site, { origins: 'cross' })).asked).toHaveLength(2)
  })

  it.each([
    ['links to itself', { '/': page(['1'], link('next', '/')) }, 1, 1],
    ['links to itself with a fragment', { '/': page(['1'], link('next', '/#2')) }, 1, 1],
    ['is empty, and yet has a next one', paging({}, { '/2': page([], link('next', '/3')) }), 2, 1],
    ['begins with the same document again', paging({}, { '/2': page(['1'], link('next', '/3')) }), 2, 1],
    ['links to an earlier one', paging({}, { '/2': page(['2'], link('next', '/3')), '/3': page(['3'], link('next', '/2')) }), 3, 3],
    ['links to the first one', paging({}, { '/2': page(['2'], link('next', '/3')), '/3': page(['3'], link('next', '/')) }), 3, 3],
    ['is longer than 8 kB', { '/': page(['1'], link('next', `/?t=${'x'.repeat(9000)}`)) }, 1, 1],
    ['has a body longer than 8 kB', { '/': page(['1'], link('next', '/', { method: 'POST', body: { t: 'x'.repeat(9000) } })) }, 1, 1],
  ] as readonly [string, Site, number, number][])('ends, and reports that, when a page %s', async (_name, site, asked, documents) => {
    const { visits, left, requests } = await walk(site)
    expect(requests).toHaveLength(asked)
    expect(visits.reduce((sum, { outcome }) => sum + outcome.documents, 0)).toBe(documents)
    expect(left).toHaveLength(1)
    expect(left[0]).toMatchObject({ asked: false, code: expect.stringMatching(/^(PAGE_LOOP|URL_INVALID)$/) })
  })

  it('continues when a page is seen again under another URL, but not forever', async () => {
    const cycle = ['a', 'b', 'c', 'd', 'e']
    const send = (count: number) => page([count === 0 ? 'start' : (cycle[count % 5] ?? '')], link('next', `/${count + 1}`))
    const site = Object.fromEntries(Array.from({ length: 1000 }, (_, count) => [`/${count || ''}`, send(count)]))
    const { asked, left } = await walk(site)
    expect(asked.length).toBeLessThan(30)
    expect(left).toMatchObject([{ code: 'PAGE_LOOP' }])
  })

  it('the next page may be that of another list, too', async () => {
    const site: Site = {
      '/': { body: { type: 'Catalog', id: 'c', links: [link('child', '/a'), link('child', '/b')] } },
      '/a': { body: collection('a') },
      '/b': { body: collection('b') },
      '/collections/a/items?limit=250': page(['a'], link('next', '/all')),
      '/collections/b/items?limit=250': page(['b'], link('next', '/all')),
      '/all': page(['c']),
    }
    const { asked, left } = await walk(site)
    expect([asked.filter((path) => path === '/all'), left]).toEqual([['/all'], []])
  })

  it.each([
    ['no list', {}],
    ['a text', { features: 'x' }],
    ['an object', { features: { a: item('x') } }],
    ['nothing', { features: null }],
  ])('the next page is reported when it has %s where its documents belong', async (_name, member) => {
    const { visits, left } = await walk(paging({}, { '/2': { body: { type: 'FeatureCollection', links: [], ...member } } }))
    expect(visits.map(({ outcome }) => outcome.documents)).toEqual([1, 0])
    expect(left).toMatchObject([{ code: 'RESPONSE_INVALID', url: `${ORIGIN}/2`, asked: false }])
  })

  it('the next page is not known when links are no list, and that is reported', async () => {
    const list = { type: 'FeatureCollection', features: [item('1')], links: { next: { href: '/2' } } }
    const { visits, left } = await walk({ '/': { body: list }, '/2': page(['2']) })
    expect(visits.map(({ outcome }) => outcome.documents)).toEqual([1])
    expect(left).toMatchObject([{ code: 'RESPONSE_INVALID', message: expect.stringContaining('links'), asked: false }])
  })

  it('continues when another Collection has an Item of the same name', async () => {
    const first = (name: string, ...links: object[]) => ({
      body: { type: 'FeatureCollection', features: [item('1', { collection: name })], links },
    })
    expect((await walk({ '/': first('a', link('next', '/2')), '/2': first('b') })).left).toEqual([])
  })

  it('the list ends silently after an empty last page', async () => {
    expect((await walk(paging({}, { '/2': page([]) }))).left).toEqual([])
  })

  it('the next page that is not a list is linted as what it is, and reported', async () => {
    const { visits, left } = await walk(paging({}, { '/2': { body: item('x') } }))
    expect(visits.at(-1)?.document).toMatchObject({ id: 'x' })
    expect(left.map(({ code }) => code)).toEqual(['RESPONSE_INVALID'])
  })
})
