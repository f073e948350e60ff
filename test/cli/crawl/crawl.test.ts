import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { itemWith } from '../items.ts'
import { lastError, run } from '../run.ts'
import { type Answer, body, serve } from '../server.ts'
import { catalog, clean, codes, crawl, dangling, HREF, json, link, page } from './catalogs.ts'

describe('lint --crawl', () => {
  it('lints every document of a static catalog, under its URL', async () => {
    const server = await serve({
      '/catalog.json?v=1': json(catalog(link('child', './a/'), link('item', 'clean.json'))),
      '/a/': json(catalog(link('item', '../dangling.json'), link('root', '/catalog.json'))),
      '/clean.json': json(clean),
      '/dangling.json': json(dangling),
    })
    const { code, problems, summary, stderr } = await crawl([`${server.origin}catalog.json?v=1`])
    expect([code, stderr]).toEqual([1, ''])
    expect(summary).toMatchObject({ documents: 4, errors: 1, incomplete: [] })
    expect(problems).toMatchObject([
      { code: 'dangling-ref', document: `${server.origin}dangling.json`, id: 'x', pointer: '/assets/data/auth:refs/1' },
    ])
  })

  it('lints the pages of an API with their Collections as scope', async () => {
    const collection = { type: 'Collection', stac_version: '1.1.0', id: 'a', 'auth:schemes': { lent: { type: 's3' } } }
    const borrowing = { ...itemWith({ data: { href: HREF, 'auth:refs': ['lent'] } }), properties: { datetime: null }, id: 'y' }
    const server = await serve({
      '/': json({ ...catalog(link('data', '/collections')), conformsTo: ['https://api.stacspec.org/v1.0.0/core'] }),
      '/collections': json({ collections: [{ ...collection, links: [link('items', '/items')] }], links: [] }),
      '/items?limit=250': page([clean, dangling], link('next', '/items?limit=250&token=secret')),
      '/items?limit=250&token=secret': page([borrowing]),
    })
    const { code, problems, summary } = await crawl([server.origin])
    expect([code, summary.documents, summary.incomplete]).toEqual([1, 5, []])
    const found = problems.map(({ code: problemCode, document, pointer }: Record<string, string>) => [
      problemCode,
      document?.slice(server.origin.length),
      pointer,
    ])
    expect(found).toContainEqual(['dangling-ref', 'items?limit=…', '/features/1/assets/data/auth:refs/1'])
    expect(found).toContainEqual(['scheme-outside-document', 'collections', '/collections/0/auth:schemes/lent'])
    expect(problems.find(({ rule }: Record<string, string>) => rule === 'scheme-outside-document')).toMatchObject({
      count: 1,
      places: [{ document: `${server.origin}items?limit=…&token=…`, id: 'y', pointer: '/features/0/assets/data/auth:refs/0' }],
    })
  })

  it('reports a limit that was requested, and leaves the exit code unchanged', async () => {
    const server = await serve({
      '/': json(catalog(...[1, 2, 3].map((n) => link('item', `/${n}`)))),
      '/1': json(clean),
      '/2': json(clean),
      '/3': json(clean),
    })
    const { code, summary, stderr } = await crawl([server.origin, '--max-documents', '2'])
    expect([code, summary.documents, codes(summary)]).toEqual([0, 2, ['CRAWL_LIMIT']])
    expect(stderr).toContain('the limit of 2 documents is reached; at least 2 were not read')
  })

  it('reports that other origins were omitted until it is told what is meant', async () => {
    const other = await serve({ '/i': json(dangling) })
    const server = await serve({ '/': json(catalog(link('item', `${other.origin}i`))) })
    const undecided = await crawl([server.origin])
    expect([undecided.code, undecided.summary.incomplete]).toMatchObject([5, [{ url: `${other.origin}i`, code: 'CRAWL_OTHER_ORIGIN' }]])
    expect(lastError(undecided).code).toBe('CRAWL_OTHER_ORIGIN')
    expect(await crawl([server.origin, '--same-origin'])).toMatchObject({ code: 0, summary: { documents: 1, incomplete: [] } })
    expect(other.requests).toEqual([])
  })

  it.each([
    [['-']],
    [['--max-depth', '3', 'x', '--no-crawl']],
    [['x', '--shard', '3/2']],
    [['x', '--rate', '0']],
    [['x', '--cross-origin', '--same-origin']],
    [['x', '--contact', 'a\nb']],
  ])('refuses %j', async (argv) => {
    expect((await crawl(argv)).code).toBe(2)
  })

  it('refuses options of a crawl without one', async () => {
    const outcome = await run(['lint', 'x', '--max-depth', '3'])
    expect([outcome.code, outcome.stderr]).toEqual([2, expect.stringContaining('--max-depth needs --crawl')])
  })

  it('sends who asks, and in parts makes up the whole', async () => {
    let agent: string | undefined
    const items = Array.from({ length: 30 }, (_, index) => `/i${index}`)
    const remember: Answer = (request, response) => {
      agent = request.headers['user-agent']
      json(catalog(...items.map((href) => link('item', href))))(request, response)
    }
    const server = await serve({ '/': remember, ...Object.fromEntries(items.map((path) => [path, json(dangling)])) })
    const [whole, ...parts] = await Promise.all(
      [[], ['--shard', '1/2'], ['--shard', '2/2']].map((shard) => crawl([server.origin, '--contact', 'ada@example.org', ...shard])),
    )
    expect(agent).toMatch(/^stac-auth\/\d+\.\d+\.\d+ \(ada@example\.org\)$/)
    expect(parts.flatMap(({ problems }) => problems.map(({ document }: { document: string }) => document)).sort()).toEqual(
      whole?.problems.map(({ document }: { document: string }) => document),
    )
    expect(parts.map(({ summary }) => summary.documents).reduce((sum, count) => sum + count)).toBe(31)
  })

  it('shows on a terminal how far it is, and nothing of that stays', async () => {
    const server = await serve({ '/': json(catalog(link('item', '/i'))), '/i': json(clean) })
    const { stderr } = await run(['lint', '--crawl', server.origin], { isTTY: true, env: { TERM: 'xterm' } })
    expect(stderr).toMatch(/^\r1 documents in 1 requests, \d+\/s\u001b\[K/)
    expect(stderr.endsWith('\r\u001b[J')).toBe(true)
    const plain = await run(['lint', '--crawl', `${server.origin}i`], { isTTY: true, env: { TERM: 'xterm', NO_COLOR: '1' } })
    expect(plain.stderr).toMatch(/^\r1 documents in 1 requests, \d+\/s\r +\r$/)
    expect((await run(['lint', '--crawl', server.origin], { isTTY: true, env: { TERM: 'dumb' } })).stderr).toBe('')
    expect((await run(['lint', '--crawl', server.origin])).stderr).toBe('')
  })
})

describe('the examples of the pages', () => {
  const fixture = (id: string) => JSON.parse(readFileSync(new URL(`../../../fixtures/rules/${id}.json`, import.meta.url), 'utf8'))

  it.each(['unreachable', 'self-mismatch'])('the examples of the pages of %s are found and not found', async (id) => {
    const { pointer, bad, badText = JSON.stringify(bad), good, goodText = JSON.stringify(good) } = fixture(id)
    const server = await serve({ '/bad.json': body(badText), '/catalog.json': body(goodText) })
    const found = async (name: string, ...argv: string[]) => (await crawl([server.origin + name, ...argv])).problems
    expect(await found('bad.json', '--infos')).toMatchObject([{ code: id, pointer, document: `${server.origin}bad.json` }])
    expect(await found('bad.json', '--rule', `${id}=off`)).toEqual([])
    expect(await found('bad.json', '--rule', `${id}=warn`)).toMatchObject([{ severity: 'warn' }])
    expect(await found('catalog.json', '--infos')).toEqual([])
  })
})
