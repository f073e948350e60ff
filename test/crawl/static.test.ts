import { describe, expect, it } from 'vitest'
import { catalog, item, link, ORIGIN, walk } from './site.ts'

describe('a static catalog', () => {
  it('a static catalog is crawled by child and item links only, each URL once', async () => {
    const { asked, visits } = await walk({
      '/': catalog(link('self', 'x'), link('child', './a/'), link('child', 'b.json#part'), link('item', 'i.json')),
      '/a/': catalog(link('parent', '/up'), link('root', '/root'), link('item', '../i.json'), link('item', 'j.json')),
      '/b.json': catalog(link('collection', '/col'), link('child', `${ORIGIN.toUpperCase()}:443/a/`)),
      '/i.json': { body: item('i', { links: [link('child', '/z'), link('item', '/z')] }) },
      '/a/j.json': { body: item('j') },
    })
    expect(asked).toEqual(['/', '/i.json', '/a/', '/b.json', '/a/j.json'])
    expect(visits.map(({ job }) => job.depth)).toEqual([0, 1, 1, 1, 2])
  })

  it('a static catalog is resolved against the address that answered', async () => {
    const { asked } = await walk({
      '/': { ...catalog(link('child', 'a.json')), url: `${ORIGIN}/moved/` },
      '/moved/a.json': catalog(),
    })
    expect(asked).toEqual(['/', '/moved/a.json'])
  })

  it('ends although it turns in circles', async () => {
    const { asked, left } = await walk({ '/': catalog(link('child', 'a')), '/a': catalog(link('child', '/'), link('child', 'a')) })
    expect([asked, left]).toEqual([['/', '/a'], []])
  })

  it.each([{ links: {} }, { links: null }, { links: 'item' }])(
    'a static catalog is not known when it has %o, and that is reported',
    async (links) => {
      const { left, visits } = await walk({ '/': { body: { type: 'Catalog', id: 'c', ...links } } })
      expect(visits.map(({ outcome }) => outcome.documents)).toEqual([1])
      expect(left).toMatchObject([{ code: 'RESPONSE_INVALID', message: expect.stringContaining('links'), asked: false }])
    },
  )

  it('a static catalog of STAC before 1.0 is not known, because it has no type, and that is reported', async () => {
    const { left } = await walk({ '/': { body: { stac_version: '0.9.0', id: 'c', links: [link('child', 'a')] } } })
    expect(left).toMatchObject([{ code: 'RESPONSE_INVALID', message: expect.stringContaining('no "type"'), asked: false }])
  })

  it('lends the schemes of documents above, nearest first, to documents of the same origin', async () => {
    const other = 'https://other.example/i'
    const schemes = (name: string) => ({ 'auth:schemes': { [name]: { type: 's3' } } })
    const { visits } = await walk(
      {
        '/': { body: { type: 'Catalog', id: 'root', description: 'left out', ...schemes('far'), links: [link('child', 'a')] } },
        '/a': { body: { type: 'Catalog', id: 'plain', links: [link('child', 'b')] } },
        '/b': { body: { type: 'Collection', id: 'near', ...schemes('near'), links: [link('item', 'i'), link('item', other)] } },
        '/i': { body: item('i') },
        [other]: { body: item('i') },
      },
      { origins: 'cross' },
    )
    const parents = visits.map(({ job, parents: above }) => [job.url.slice(ORIGIN.length), above.map(({ id }) => id)])
    expect(parents.slice(0, 4)).toEqual([
      ['/', []],
      ['/a', ['root']],
      ['/b', ['root']],
      ['/i', ['near', 'root']],
    ])
    expect(visits[4]?.parents).toEqual([])
    expect(visits[3]?.parents[1]).toEqual({ type: 'Catalog', id: 'root', ...schemes('far') })
  })

  it.each([
    ['URL_SCHEME_FORBIDDEN', 'file:///etc/passwd'],
    ['URL_SCHEME_FORBIDDEN', 's3://bucket/catalog.json'],
    ['URL_HAS_USERINFO', 'https://me@catalog.example/x'],
    ['URL_INVALID', '//evil.example/x'],
    ['URL_INVALID', 'https://catalog.example\\@evil.example/'],
    ['URL_INVALID', ''],
    ['URL_INVALID', `/${'x'.repeat(9000)}`],
  ])('does not follow unusual URLs, and reports them: %s for %s', async (code, href) => {
    const { asked, left } = await walk({ '/': catalog(link('child', href)) }, { origins: 'cross' })
    expect([asked, left.map((each) => each.code)]).toEqual([['/'], [code]])
  })

  it('names the link that has no usable URL', async () => {
    const { left } = await walk({
      '/': catalog(link('child', 'a'), link('item', 'i'), link('child', 'https://me@b.example/')),
      '/a': catalog(),
    })
    expect(left.map(({ message }) => message)).toContain(
      'the link "child" at /links/2 is not followed: its href has a user name or password in it',
    )
  })
})

describe('a link whose auth:refs cannot be read', () => {
  const asking = (rel: string, href: string, refs: unknown) => ({ ...link(rel, href), 'auth:refs': refs })

  it.each([[[{}]], [{}], [true], [null], [''], [[1]]])(
    'a link whose auth:refs cannot be read is not requested and is reported: %j',
    async (refs) => {
      const { asked, left } = await walk({
        '/': catalog(asking('child', 'a', refs), asking('item', 'i', refs), link('child', 'b')),
        '/b': catalog(),
      })
      expect(asked).toEqual(['/', '/b'])
      expect(left).toMatchObject([
        { code: 'SCHEME_INVALID', asked: false, message: expect.stringContaining('auth:refs') },
        { code: 'SCHEME_INVALID', asked: false },
      ])
    },
  )

  it('ends a list of pages, and that is reported', async () => {
    const { asked, left } = await walk({
      '/': { body: { type: 'FeatureCollection', features: [item('i')], links: [asking('next', '/2', [{}])] } },
    })
    expect([asked, left.map(({ code }) => code)]).toEqual([['/'], ['SCHEME_INVALID']])
  })

  it('a link whose auth:refs cannot be read is followed when it has a name beside what cannot be read', async () => {
    const { asked } = await walk({ '/': catalog(asking('child', 'a', [{}, 'k'])), '/a': catalog() })
    expect(asked).toEqual(['/', '/a'])
  })
})

describe('other origins', () => {
  const site = {
    '/': catalog(link('child', 'https://other.example/a'), link('item', 'https://third.example/i'), link('child', '/here')),
    '/here': catalog(),
    'https://other.example/a': catalog(),
    'https://third.example/i': { body: item('i') },
  }

  it('other origins are omitted and reported', async () => {
    const { asked, left } = await walk(site)
    expect(asked).toEqual(['/', '/here'])
    expect(left.map(({ url, code, asked: reason }) => [url, code, reason])).toEqual([
      ['https://third.example/i', 'CRAWL_OTHER_ORIGIN', false],
      ['https://other.example/a', 'CRAWL_OTHER_ORIGIN', false],
    ])
  })

  it.each([
    ['cross' as const, undefined, 4, 0],
    ['same' as const, undefined, 2, 0],
    [undefined, ['https://other.example'], 3, 1],
  ])('other origins are the choice of the caller: %s, %j', async (origins, visit, count, reported) => {
    const { asked, left } = await walk(site, { ...(origins && { origins }), ...(visit && { visit }) })
    expect([asked.length, left.length]).toEqual([count, reported])
  })

  it('other origins may be home when the start was answered from there', async () => {
    const moved = 'https://www.catalog.example/c.json'
    const { asked } = await walk({ '/': { ...catalog(link('child', 'a')), url: moved }, 'https://www.catalog.example/a': catalog() })
    expect(asked).toEqual(['/', 'https://www.catalog.example/a'])
  })
})

describe('limits', () => {
  const deep = (levels: number) =>
    Object.fromEntries(Array.from({ length: levels }, (_, level) => [`/${level || ''}`, catalog(link('child', `/${level + 1}`))]))

  it('limits end a chain of 10 000 at 64 levels', async () => {
    const { asked, left } = await walk(deep(10_000))
    expect(asked).toHaveLength(65)
    expect(left).toMatchObject([{ code: 'CRAWL_LIMIT', limit: 'depth', asked: false, count: 1 }])
  })

  it('limits may be wider when that is what is wanted', async () => {
    const { asked, left } = await walk(deep(10_000), { maxDepth: 20_000 })
    expect(asked).toHaveLength(10_001)
    expect(left).toEqual([])
  })

  it.each([0, 1, 3])('limits of depth count links from the start: %i', async (maxDepth) => {
    const { asked, left } = await walk(deep(10), { maxDepth })
    expect(asked).toHaveLength(maxDepth + 1)
    expect(left).toMatchObject([{ code: 'CRAWL_LIMIT', limit: 'depth', asked: true }])
  })

  const wide = (count: number) => ({
    '/': catalog(...Array.from({ length: count }, (_, index) => link('item', `/${index}`))),
    ...Object.fromEntries(Array.from({ length: count }, (_, index) => [`/${index}`, { body: item(`${index}`) }])),
  })

  it.each([1, 5, 20])('limits of number choose the first ones: %i', async (maxDocuments) => {
    const { asked, left } = await walk(wide(30), { maxDocuments })
    expect(asked).toEqual(['/', ...Array.from({ length: maxDocuments - 1 }, (_, index) => `/${index}`)])
    expect(left).toMatchObject([{ code: 'CRAWL_LIMIT', limit: 'documents', asked: true, count: 31 - maxDocuments }])
  })

  it('limits of number say nothing when nothing is left', async () => {
    expect((await walk(wide(9), { maxDocuments: 10 })).left).toEqual([])
  })

  it('limits of a sample choose by the seed, always the same', async () => {
    const chosen = async (seed: number) => (await walk(wide(50), { sample: 5, seed })).asked
    const first = await chosen(1)
    expect(first).toHaveLength(6)
    expect(await chosen(1)).toEqual(first)
    expect(await chosen(2)).not.toEqual(first)
    expect((await walk(wide(50), { sample: 5 })).left).toMatchObject([{ limit: 'sample', asked: true, count: 45 }])
  })

  it('limits of a part: the parts are disjoint and make up the whole', async () => {
    const parts = await Promise.all([1, 2, 3].map((index) => walk(wide(60), { shard: { index, of: 3 } })))
    const mine = parts.map(({ visits }) => visits.filter((visit) => visit.mine).map(({ job }) => job.url))
    expect(mine.every((part) => part.length > 5)).toBe(true)
    expect(mine.flat().sort()).toEqual((await walk(wide(60))).visits.map(({ job }) => job.url).sort())
  })
})
