import { mkdir, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { EXTENSION } from '../../harness/documents.ts'
import { put, temporaryFolder } from '../folder.ts'
import { KEY_SCHEME, keyFor } from '../items.ts'
import { KEY, serve } from '../server.ts'
import { catalog, clean, codes, crawl, dangling, json, link, page } from './catalogs.ts'

const folder = await temporaryFolder()

describe('credentials', () => {
  beforeEach(() => vi.stubEnv('STAC_AUTH_TEST_KEY', KEY))
  afterEach(() => vi.unstubAllEnvs())

  it('credentials go to the origins that their owner listed and to no other, whatever the catalog says', async () => {
    const evil = await serve({ '/i': json(clean), '/redirected': json(clean), '/next': page([{ ...clean, id: 'y' }]) })
    const server = await serve({
      '/private/': json({
        ...catalog(
          link('item', 'i'),
          link('item', `${evil.origin}i`, { 'auth:refs': ['key'] }),
          link('item', 'moved'),
          link('child', 'pages'),
        ),
        stac_extensions: [EXTENSION],
        'auth:schemes': { key: KEY_SCHEME },
      }),
      '/private/i': json(clean),
      '/private/moved': (_request, response) => response.writeHead(302, { location: `${evil.origin}redirected` }).end(),
      '/private/pages': page([clean], link('next', `${evil.origin}next`, { headers: { accept: 'application/json' } })),
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

  it('credentials are not sent with a next page on another origin, and that is reported', async () => {
    const evil = await serve({ '/next': page([{ ...clean, id: 'y' }]) })
    const list = {
      type: 'FeatureCollection',
      features: [clean],
      links: [link('next', `${evil.origin}next`, { 'auth:refs': ['key'] })],
      'auth:schemes': { key: KEY_SCHEME },
    }
    const server = await serve({
      '/private/': json({ ...catalog(), type: 'Collection', links: [link('items', 'list')] }),
      '/private/list?limit=250': json(list),
    })
    const portal = keyFor(`${server.origin}private/`) as { credentials: object[] }
    const other = { id: 'other', type: 'http', scheme: 'bearer', token: { env: 'STAC_AUTH_TEST_KEY' }, sendTo: [`${evil.origin}nowhere/`] }
    const credentials = await put(folder, 'next.json', { version: 1, credentials: [...portal.credentials, other] })
    const { summary, stderr } = await crawl([`${server.origin}private/`, '--credentials', credentials])
    expect([codes(summary), stderr]).toEqual([['CRAWL_OTHER_ORIGIN'], expect.not.stringContaining('UNTRUSTED')])
    const crossing = await crawl([`${server.origin}private/`, '--cross-origin', '--credentials', credentials])
    expect([crossing.summary.documents, crossing.summary.incomplete]).toEqual([3, []])
    expect(JSON.parse(crossing.stderr)).toMatchObject({ severity: 'warn', code: 'CREDENTIAL_TARGET_UNTRUSTED', pointer: '/links/0/href' })
    expect(evil.requests).toEqual([{ path: '/next', key: undefined }])
  })

  it('credentials that are missing are reported for what needs them', async () => {
    const server = await serve({ '/': json(catalog(link('child', '/private/'))), '/private/': json(catalog()) })
    const { code, summary, problems } = await crawl([server.origin])
    expect([code, summary.incomplete]).toMatchObject([5, [{ url: `${server.origin}private/`, code: 'HTTP_401', exit: 5 }]])
    const message = `the document could not be read: the server answered 401 to GET (HTTP_401); linked from ${server.origin}`
    expect(problems).toMatchObject([{ code: 'unreachable', document: `${server.origin}private/`, message }])
  })

  it('names no linking document for a start that cannot be read', async () => {
    const server = await serve({})
    const { problems } = await crawl([server.origin])
    expect(problems).toMatchObject([
      { code: 'unreachable', message: 'the document could not be read: the server answered 404 to GET (HTTP_404)' },
    ])
  })
})

describe('catalogs in files', () => {
  it('catalogs in files are read below the folder of the start, through links that stay there', async () => {
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
      expect(
        summary.incomplete
          .map(({ url, code: problemCode }: Record<string, string>) => [url?.replace(`${folder}/`, ''), problemCode])
          .sort(),
      ).toEqual([
        ['files/a/c.json', 'URL_INVALID'],
        ['files/a/missing.json', 'FILE_ACCESS'],
        ['files/leading-out.json', 'PATH_UNSAFE'],
        ['outside.json', 'PATH_UNSAFE'],
      ])
      const errors = problems.filter(({ code: problemCode }: { code: string }) => problemCode === 'dangling-ref')
      expect(errors).toMatchObject([{ document: join(root, 'dangling.json'), line: 1 }])
    }
  })

  it('catalogs in files are read no further than URLs are', async () => {
    const root = join(folder, 'long')
    await mkdir(root)
    await put(root, 'catalog.json', catalog(link('item', 'long.json')))
    await writeFile(join(root, 'long.json'), '')
    await truncate(join(root, 'long.json'), 50 * 2 ** 20 + 1)
    const { code, summary } = await crawl([root])
    expect([code, summary.incomplete]).toEqual([
      5,
      [{ url: join(root, 'long.json'), code: 'DOC_TOO_LARGE', exit: 5, message: expect.stringContaining('larger') }],
    ])
  })

  it('catalogs in files cannot begin where there is nothing', async () => {
    await mkdir(join(folder, 'nothing'))
    expect((await crawl([join(folder, 'nothing')])).code).toBe(6)
    expect((await crawl([join(folder, 'nowhere.json')])).code).toBe(6)
  })
})
