import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { FORMATS } from '../../../src/lint/reporters/report.ts'
import { put, temporaryFolder } from '../folder.ts'
import { itemWith, keyFor } from '../items.ts'
import { run } from '../run.ts'
import { type Answer, KEY, serve } from '../server.ts'
import { catalog, codes, crawl, HREF, json, link, page } from './catalogs.ts'

const folder = await temporaryFolder()
const itemNamed = (id: string, ref: string) => ({ ...itemWith({ data: { href: HREF, 'auth:refs': [ref] } }), id })

/** The pages of a search, which takes POST with JSON only: the token of the request says which one. */
async function searchApi(more: { readonly first?: object; readonly second?: object } = {}) {
  const sent: { readonly body: unknown; readonly type: string | undefined; readonly condition: string | undefined }[] = []
  const search: Answer = async (request, response) => {
    const body = JSON.parse((await text(request)) || 'null')
    sent.push({ body, type: request.headers['content-type'], condition: request.headers['if-none-match'] })
    if (request.method !== 'POST') return void response.writeHead(405, { allow: 'POST' }).end()
    if (!/^application\/json\b/.test(request.headers['content-type'] ?? '')) return void response.writeHead(415).end()
    if (body.token === 'last') return void response.writeHead(501).end()
    response.setHeader('etag', `"${body.token ?? 'first'}"`)
    if (request.headers['if-none-match'] !== undefined) return void response.writeHead(412).end()
    const next = (token: string, others = {}) => link('next', 'search', { method: 'POST', merge: true, body: { token }, ...others })
    if (body.token === undefined) page([itemNamed('ok', 'key'), itemNamed('bad-1', 'gone')], next('b', more.first))(request, response)
    else if (body.token === 'b') page([itemNamed('bad-2', 'gone')], next('last', more.second))(request, response)
    else response.writeHead(400).end()
  }
  const links = [link('search', '/private/search', { method: 'POST', body: { collections: ['a'] } })]
  const server = await serve({
    '/private/': json({ ...catalog(...links), conformsTo: ['https://api.stacspec.org/v1.0.0/item-search'] }),
    '/private/search': search,
  })
  const credentials = await put(folder, 'search.json', keyFor(server.origin))
  return { start: `${server.origin}private/`, sent, argv: [`${server.origin}private/`, '--credentials', credentials], server }
}

describe('a search that takes POST only', () => {
  beforeEach(() => vi.stubEnv('STAC_AUTH_TEST_KEY', KEY))
  afterEach(() => vi.unstubAllEnvs())

  it('is read page by page with the body of its link, and says what was sent for the page that fails', async () => {
    const { argv, sent, start, server } = await searchApi()
    const { code, problems, summary } = await crawl(argv)
    expect(sent.slice(0, 3).map(({ body }) => body)).toEqual([
      { limit: 250, collections: ['a'] },
      { limit: 250, collections: ['a'], token: 'b' },
      { limit: 250, collections: ['a'], token: 'last' },
    ])
    expect(server.requests.every(({ key }) => key === KEY)).toBe(true)
    const message = `${start}search: the server answered 501 to POST for page 3`
    expect([code, summary.documents, summary.incomplete]).toMatchObject([5, 4, [{ url: `${start}search`, code: 'HTTP_501', message }]])
    const found = problems.filter(({ severity }: { severity: string }) => severity === 'error')
    expect(found.map(({ id, message: told }: Record<string, string>) => id ?? told)).toEqual([
      `the document could not be read: the server answered 501 to POST for page 3 (HTTP_501); linked from ${start}search`,
      'bad-2',
      'bad-1',
    ])
  })

  it.each(FORMATS)('names the Item of each finding as %s', async (format) => {
    const { argv } = await searchApi({ second: { href: '' } })
    const { stdout } = await run(['lint', '--crawl', ...argv, '--format', format])
    for (const id of ['bad-1', 'bad-2']) expect(stdout).toContain(id)
  })

  it.each([
    ['an unknown header', { headers: { 'x-page': '2' } }, 'LINK_REQUEST_FORBIDDEN', 'documents may not set "x-page" in its headers'],
    ['a credential', { headers: { Authorization: 'Basic eA==' } }, 'LINK_REQUEST_FORBIDDEN', '"Authorization"'],
    ['another origin', { href: 'https://other.example/search' }, 'LINK_REQUEST_FORBIDDEN', 'it sends POST to https://other.example'],
    ['another method', { method: 'PUT' }, 'LINK_REQUEST_FORBIDDEN', 'its method is neither GET nor POST'],
    ['no href', { href: undefined }, 'URL_INVALID', 'its href is missing'],
  ])('lists a next link with %s once, with its place', async (_name, second, code, why) => {
    const { argv, start } = await searchApi({ second })
    const { summary } = await crawl(argv)
    expect(summary.incomplete).toMatchObject([{ url: `${start}search`, code, message: expect.stringContaining(why) }])
    expect(summary.incomplete[0].message).toContain(`${start}search: the link "next" at /links/0 is not followed: `)
    const { stdout } = await run(['lint', '--crawl', ...argv, '--format', 'rdjson'])
    expect(stdout.split(why.replaceAll('"', '\\"'))).toHaveLength(2)
  })

  it('lists every link of a document that cannot be followed', async () => {
    const server = await serve({ '/': json(catalog(link('child', ''), link('item', 'a\\b'), link('item', 'a\\b'))) })
    const { summary } = await crawl([server.origin])
    expect(codes(summary)).toEqual(['URL_INVALID', 'URL_INVALID', 'URL_INVALID'])
  })

  it('is asked again without a condition when a crawl is repeated', async () => {
    const { argv, sent } = await searchApi({ second: { href: '' } })
    const resume = ['--resume', `${folder}/search.ndjson`]
    const first = await crawl([...argv, ...resume])
    const again = await crawl([...argv, ...resume])
    expect(sent.map(({ condition }) => condition)).toEqual([undefined, undefined, undefined, undefined])
    expect(again.summary).toEqual(first.summary)
  })
})
