import { readFileSync } from 'node:fs'
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { put, temporaryFolder } from '../folder.ts'
import { itemWith, KEY_SCHEME, keyFor } from '../items.ts'
import { lastError, run } from '../run.ts'
import { type Answer, body, KEY, serve } from '../server.ts'

const folder = await temporaryFolder()
const href = 'https://data.example/f'
const clean = itemWith({ data: { href, 'auth:refs': ['key'] } })
const dangling = itemWith({ data: { href, 'auth:refs': ['key', 'gone'] } })

const link = (rel: string, href: string, more: object = {}) => ({ rel, href, ...more })
const catalog = (...links: object[]) => ({ type: 'Catalog', stac_version: '1.1.0', id: 'c', description: 'c', links })
const json = (value: unknown) => body(JSON.stringify(value))
const page = (features: object[], ...links: object[]) => json({ type: 'FeatureCollection', features, links })

async function crawl(argv: readonly string[], around: Parameters<typeof run>[1] = {}) {
  const outcome = await run(['lint', '--crawl', '--format', 'json', ...argv], around)
  return { ...outcome, ...(outcome.stdout && JSON.parse(outcome.stdout)) }
}
const codes = (summary: { incomplete: readonly { code: string }[] }) => summary.incomplete.map(({ code }) => code)

describe('lint --crawl', () => {
  it('lints every document of a static catalog, under its address', async () => {
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
      { rule: 'dangling-ref', document: `${server.origin}dangling.json`, id: 'x', pointer: '/assets/data/auth:refs/1' },
    ])
  })

  it('lints the pages of an API with their Collections as scope', async () => {
    const collection = { type: 'Collection', stac_version: '1.1.0', id: 'a', 'auth:schemes': { lent: { type: 's3' } } }
    const borrowing = { ...itemWith({ data: { href, 'auth:refs': ['lent'] } }), properties: { datetime: null }, id: 'y' }
    const server = await serve({
      '/': json({ ...catalog(link('data', '/collections')), conformsTo: ['https://api.stacspec.org/v1.0.0/core'] }),
      '/collections': json({ collections: [{ ...collection, links: [link('items', '/items')] }], links: [] }),
      '/items?limit=250': page([clean, dangling], link('next', '/items?limit=250&token=secret')),
      '/items?limit=250&token=secret': page([borrowing]),
    })
    const { code, problems, summary } = await crawl([server.origin])
    expect([code, summary.documents, summary.incomplete]).toEqual([1, 5, []])
    const found = problems.map(({ rule, document, pointer }: Record<string, string>) => [
      rule,
      document?.slice(server.origin.length),
      pointer,
    ])
    expect(found).toContainEqual(['dangling-ref', 'items?limit=…', '/features/1/assets/data/auth:refs/1'])
    expect(found).toContainEqual(['scheme-outside-document', 'items?limit=…&token=…', '/features/0/assets/data/auth:refs/0'])
  })

  it('tells of a limit that was asked for, and leaves the exit code alone', async () => {
    const server = await serve({
      '/': json(catalog(...[1, 2, 3].map((n) => link('item', `/${n}`)))),
      '/1': json(clean),
      '/2': json(clean),
      '/3': json(clean),
    })
    const { code, summary, stderr } = await crawl([server.origin, '--max-documents', '2'])
    expect([code, summary.documents, codes(summary)]).toEqual([0, 2, ['CRAWL_LIMIT']])
    expect(stderr).toContain('2 documents were read, at least 2 were left')
  })

  it('tells that other origins were left out until it is told what is meant', async () => {
    const other = await serve({ '/i': json(dangling) })
    const server = await serve({ '/': json(catalog(link('item', `${other.origin}i`))) })
    const undecided = await crawl([server.origin])
    expect([undecided.code, undecided.summary.incomplete]).toEqual([5, [{ url: `${other.origin}i`, code: 'CRAWL_OTHER_ORIGIN' }]])
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
    expect([outcome.code, outcome.stderr]).toEqual([2, expect.stringContaining('--max-depth is for --crawl')])
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
    expect(stderr).toMatch(/\r\u001b\[K1 documents in 1 requests, \d+\/s/)
    expect(stderr.endsWith('\r\u001b[K')).toBe(true)
    expect((await run(['lint', '--crawl', server.origin])).stderr).toBe('')
  })
})

describe('credentials', () => {
  beforeEach(() => vi.stubEnv('STAC_AUTH_TEST_KEY', KEY))
  afterEach(() => vi.unstubAllEnvs())

  it('go to the origins that their owner listed and to no other, whatever the catalog says', async () => {
    const evil = await serve({ '/i': json(clean), '/redirected': json(clean), '/next': page([{ ...clean, id: 'y' }]) })
    const server = await serve({
      '/private/': json({
        ...catalog(
          link('item', 'i'),
          link('item', `${evil.origin}i`, { 'auth:refs': ['key'] }),
          link('item', 'moved'),
          link('child', 'pages'),
        ),
        stac_extensions: ['https://stac-extensions.github.io/authentication/v1.1.0/schema.json'],
        'auth:schemes': { key: KEY_SCHEME },
      }),
      '/private/i': json(clean),
      '/private/moved': (_request, response) => response.writeHead(302, { location: `${evil.origin}redirected` }).end(),
      '/private/pages': page([clean], link('next', `${evil.origin}next`, { headers: { 'x-page': '2' } })),
    })
    const credentials = await put(folder, 'credentials.json', keyFor(server.origin))
    // Loopback addresses must be named to be asked at all: the key is not for this one.
    const named = await put(folder, 'named.json', {
      version: 1,
      credentials: [
        ...(keyFor(server.origin) as { credentials: object[] }).credentials,
        {
          id: 'other',
          type: 'apiKey',
          in: 'header',
          name: 'x-other',
          value: { env: 'STAC_AUTH_TEST_KEY' },
          sendTo: [`${evil.origin}nowhere/`],
        },
      ],
    })
    const guarded = await crawl([`${server.origin}private/`, '--cross-origin', '--credentials', credentials])
    expect([guarded.code, new Set(codes(guarded.summary))]).toEqual([5, new Set(['URL_ADDRESS_FORBIDDEN'])])
    expect(evil.requests).toEqual([])
    const { code, problems, summary } = await crawl([`${server.origin}private/`, '--cross-origin', '--credentials', named])
    expect([summary.documents, summary.incomplete]).toEqual([6, []])
    expect(problems.filter(({ severity }: { severity: string }) => severity === 'error')).toEqual([])
    expect(code).toBe(0)
    expect(evil.requests.map(({ path }) => path).sort()).toEqual(['/i', '/next', '/redirected'])
    expect(evil.requests.map(({ key }) => key)).toEqual([undefined, undefined, undefined])
    expect(server.requests.every(({ key }) => key === KEY)).toBe(true)
  })

  it('that are missing are told for what needs them', async () => {
    const server = await serve({ '/': json(catalog(link('child', '/private/'))), '/private/': json(catalog()) })
    const { code, summary, problems } = await crawl([server.origin])
    expect([code, summary.incomplete]).toEqual([5, [{ url: `${server.origin}private/`, code: 'HTTP_401' }]])
    expect(problems).toMatchObject([{ rule: 'unreachable', document: `${server.origin}private/` }])
  })
})

describe('catalogs in files', () => {
  it('are read below the folder of the start, through links that stay there', async () => {
    const root = join(folder, 'files')
    await mkdir(join(root, 'a'), { recursive: true })
    await put(root, 'catalog.json', catalog(link('child', './a/c.json'), link('item', '../outside.json'), link('item', 'leading-out.json')))
    await put(
      join(root, 'a'),
      'c.json',
      catalog(link('item', '../dangling.json'), link('item', 'missing.json'), link('item', '//evil.example/x')),
    )
    await put(root, 'dangling.json', dangling)
    await put(folder, 'outside.json', dangling)
    await symlink(join(folder, 'outside.json'), join(root, 'leading-out.json'))
    for (const start of [root, join(root, 'catalog.json')]) {
      const { code, problems, summary } = await crawl([start])
      expect([code, summary.documents]).toEqual([5, 3])
      expect(summary.incomplete.map(({ url, code }: Record<string, string>) => [url?.replace(`${folder}/`, ''), code]).sort()).toEqual([
        ['files/a/c.json', 'URL_INVALID'],
        ['files/a/missing.json', 'FILE_ACCESS'],
        ['files/leading-out.json', 'PATH_UNSAFE'],
        ['outside.json', 'PATH_UNSAFE'],
      ])
      const errors = problems.filter(({ rule }: { rule: string }) => rule === 'dangling-ref')
      expect(errors).toMatchObject([{ document: join(root, 'dangling.json'), line: 1 }])
    }
  })

  it('cannot begin where there is nothing', async () => {
    await mkdir(join(folder, 'nothing'))
    expect((await crawl([join(folder, 'nothing')])).code).toBe(6)
    expect((await crawl([join(folder, 'nowhere.json')])).code).toBe(6)
  })
})

describe('the examples of the pages', () => {
  const fixture = (id: string) => JSON.parse(readFileSync(new URL(`../../../fixtures/rules/${id}.json`, import.meta.url), 'utf8'))

  it.each(['unreachable', 'self-mismatch'])('of %s are found and not found', async (id) => {
    const { pointer, bad, badText = JSON.stringify(bad), good, goodText = JSON.stringify(good) } = fixture(id)
    const server = await serve({ '/bad.json': body(badText), '/catalog.json': body(goodText) })
    const found = async (name: string, ...argv: string[]) => (await crawl([server.origin + name, ...argv])).problems
    expect(await found('bad.json')).toMatchObject([{ rule: id, pointer, document: `${server.origin}bad.json` }])
    expect(await found('bad.json', '--rule', `${id}=off`)).toEqual([])
    expect(await found('bad.json', '--rule', `${id}=warn`)).toMatchObject([{ severity: 'warn' }])
    expect(await found('catalog.json')).toEqual([])
  })
})
