/** What a crawl says about documents that it may not read: what they ask for, who links there, and what to add. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { describe, expect, it, vi } from 'vitest'
import { type Visit, crawl as walk } from '../../../src/crawl/index.ts'
import { MemorySink } from '../../crawl/memory-sink.ts'
import { EXTENSION } from '../../harness/documents.ts'
import { put, temporaryFolder } from '../folder.ts'
import { run } from '../run.ts'
import { type Answer, type Server, serve } from '../server.ts'
import { catalog, clean, crawl, json, link } from './catalogs.ts'

const folder = await temporaryFolder()
const TOKEN = 'a-token-of-ada'
const SCHEMES = { api: { type: 'http', scheme: 'bearer' }, key: { type: 'apiKey', in: 'header', name: 'x-key' } }

const withSchemes = (schemes: object, ...links: object[]) => ({
  ...catalog(...links),
  stac_extensions: [EXTENSION],
  'auth:schemes': schemes,
})

/** Answers who shows the token, 401 to everybody else. */
const guarded =
  (answer: Answer, status = 401): Answer =>
  (request, response) =>
    request.headers.authorization === `Bearer ${TOKEN}`
      ? answer(request, response)
      : response.writeHead(status, { 'www-authenticate': 'Bearer' }).end('no')

const tokenFor = (origin: string) =>
  put(folder, 'credentials.json', {
    version: 1,
    credentials: [{ id: 'ada', type: 'http', scheme: 'bearer', token: { env: 'STAC_AUTH_TEST_TOKEN' }, sendTo: [origin] }],
  })

/** A root with two schemes; below it a document that the root links to, one that another document links to, one without refs. */
const protectedCatalog = (): Promise<Server> =>
  serve({
    '/catalog.json': json(
      withSchemes(
        SCHEMES,
        link('child', 'inner/a.json?page=secret', { 'auth:refs': ['api', 'gone'] }),
        link('child', 'below.json'),
        link('item', 'inner/plain.json'),
      ),
    ),
    '/below.json': json(catalog(link('item', 'inner/b.json', { 'auth:refs': ['key'] }))),
    '/inner/a.json?page=secret': guarded(json(catalog())),
    '/inner/b.json': guarded(json(clean), 403),
    '/inner/plain.json': guarded(json(clean)),
  })

function expectedIn({ origin }: Server) {
  const above = `stac-auth credentials add '${origin}catalog.json'`
  return [
    {
      url: `${origin}inner/a.json?page=…`,
      code: 'HTTP_401',
      message: `${origin}inner/a.json: the server answered 401 to GET; the link in ${origin}catalog.json asks for "api" (http bearer) or "gone" (not defined)`,
      hint: `if you have access: ${above}`,
      exit: 5,
    },
    {
      url: `${origin}inner/b.json`,
      code: 'HTTP_403',
      message: `${origin}inner/b.json: the server answered 403 to GET; the link in ${origin}below.json asks for "key" (apiKey)`,
      hint: `if you have access: ${above}, or use --file FILE if it does not ask about the scheme; its "sendTo" must include ${origin}`,
      exit: 5,
    },
    {
      url: `${origin}inner/plain.json`,
      code: 'HTTP_401',
      message: `${origin}inner/plain.json: the server answered 401 to GET`,
      hint:
        `if you have access, add a credential whose "sendTo" includes ${origin}: stac-auth credentials add --file FILE; ` +
        'download also needs --by-address for assets without auth:refs',
      exit: 5,
    },
  ]
}

describe('a crawl without a credential', () => {
  it('names the scheme, the document that links there and the command, in the report and on stderr', async () => {
    const server = await protectedCatalog()
    const { code, summary, stderr, stdout } = await crawl([`${server.origin}catalog.json`])
    expect([code, summary.incomplete]).toEqual([5, expectedIn(server)])
    const validate = new Ajv({ strictTypes: false }).compile(JSON.parse(await readFile('schemas/report.json', 'utf8')))
    expect(validate(JSON.parse(stdout))).toBe(true)
    const told = stderr
      .trim()
      .split('\n')
      .map((line: string) => JSON.parse(line))
    const texts = expectedIn(server).map(({ code: problemCode, message, hint }) => ({ code: problemCode, message, hint }))
    expect(told).toMatchObject(texts)
    const pretty = await run(['lint', '--crawl', `${server.origin}catalog.json`])
    for (const { message, hint } of texts) expect(pretty.stderr).toContain(`${message}\n  ${hint}\n`)
    expect(pretty.stderr + stderr + stdout).not.toContain('secret')
  })

  it('reports the same when a report is merged and when a crawl is resumed', async () => {
    const server = await protectedCatalog()
    const { stdout, summary } = await crawl([`${server.origin}catalog.json`])
    const merged = await run(['merge', await put(folder, 'report.json', stdout), '--format', 'json'])
    expect(JSON.parse(merged.stdout).summary).toEqual(summary)
    for (const { hint } of summary.incomplete) expect(merged.stderr).toContain(JSON.stringify(hint))
    const known = new MemorySink<undefined>()
    const options = { start: [`${server.origin}catalog.json`], send: sendByFetch() }
    const first = await visitsOf(walk(options))
    for (const { job, outcome } of first) known.put(job.key, { outcome, result: undefined })
    const again = await visitsOf(walk({ ...options, recall: (key) => known.get(key)?.outcome }))
    expect(again.map(({ outcome }) => outcome.failure)).toEqual(first.map(({ outcome }) => outcome.failure))
    expect(first.filter(({ outcome }) => outcome.failure?.hint !== undefined)).toHaveLength(3)
  })

  it('reports it for the documents of a download too', async () => {
    const server = await protectedCatalog()
    const { stderr } = await run(['download', '--crawl', `${server.origin}catalog.json`, '--dry-run', '--output-dir', folder])
    for (const { message, hint } of expectedIn(server)) expect(stderr).toContain(`${message}\n  ${hint}\n`)
  })

  it('reads everything after the credential is there', async () => {
    const server = await protectedCatalog()
    vi.stubEnv('STAC_AUTH_TEST_TOKEN', TOKEN)
    const { summary } = await crawl([`${server.origin}catalog.json`, '--credentials', await tokenFor(server.origin)])
    vi.unstubAllEnvs()
    expect(summary).toMatchObject({ documents: 5, incomplete: [] })
  })
})

describe('what a catalog writes', () => {
  it('what a catalog writes cannot add to the command, and is shortened and made inert', async () => {
    const name = `x\u001b[2J${'n'.repeat(5000)}`
    const schemes = { [name]: { type: 'http', scheme: `b\nerror FAKE: ${'s'.repeat(5000)}` } }
    const path = `/it's$(touch%20x);a.json`
    const server = await serve({
      [path]: json(withSchemes(schemes, link('child', '/private/a', { 'auth:refs': [name, 'b', 'c', 'd'] }))),
    })
    const start = server.origin.slice(0, -1) + path
    const { summary, stderr } = await crawl([start])
    const [{ message, hint }] = summary.incomplete
    expect(message.length).toBeLessThan(500)
    expect(message).not.toContain('"d"')
    expect(hint).toBe(`if you have access: stac-auth credentials add '${start.replaceAll("'", "'\\''")}'`)
    expect(stderr).not.toContain('\u001b')
    const pretty = await run(['lint', '--crawl', start])
    expect(pretty.stderr).not.toContain('\u001b')
    expect(pretty.stderr).not.toMatch(/^error FAKE/m)
  })

  it('counts only where the linking document could use it', async () => {
    const other = await serve({
      '/list.json': json(catalog(link('child', '/private/a', { 'auth:refs': ['api'] }))),
    })
    const server = await serve({ '/catalog.json': json(withSchemes(SCHEMES, link('child', `${other.origin}list.json`))) })
    const visits = await visitsOf(walk({ start: [`${server.origin}catalog.json`], send: sendByFetch(), origins: 'cross' }))
    expect(visits.flatMap(({ outcome }) => outcome.failure?.message ?? [])).toEqual([
      expect.stringContaining('asks for "api" (not defined)'),
    ])
  })

  it('does not change an error that has other causes', async () => {
    const server = await serve({ '/catalog.json': json(withSchemes(SCHEMES, link('child', 'missing', { 'auth:refs': ['api'] }))) })
    const { summary } = await crawl([`${server.origin}catalog.json`])
    const message = expect.stringContaining('answered 404')
    const hint = `correct the link in ${server.origin}catalog.json: the server has nothing there`
    expect(summary.incomplete).toEqual([{ url: `${server.origin}missing`, code: 'HTTP_404', message, hint }])
  })
})

it('names a server that a redirect led to', async () => {
  const other = await serve({ '/moved': guarded(json(catalog())) })
  const server = await serve({
    '/catalog.json': json(catalog(link('child', 'a'))),
    '/a': (_request, response) => response.writeHead(302, { location: `${other.origin}moved` }).end(),
  })
  const credentials = await put(folder, 'named.json', {
    version: 1,
    credentials: [{ id: 'x', type: 'http', scheme: 'bearer', token: { env: 'NOT_SET' }, sendTo: [`${other.origin}nowhere/`] }],
  })
  const { summary } = await crawl([`${server.origin}catalog.json`, '--credentials', credentials])
  expect(summary.incomplete).toMatchObject([
    {
      message: `${server.origin}a: ${other.origin.slice(0, -1)} answered 401 to GET`,
      hint: expect.stringContaining(`"sendTo" includes ${other.origin}:`),
    },
  ])
})

it('names a catalog in a file by its path', async () => {
  const server = await serve({})
  await put(folder, 'my catalog.json', withSchemes(SCHEMES, link('child', `${server.origin}private/a`, { 'auth:refs': ['api'] })))
  const path = join(folder, 'my catalog.json')
  const { summary } = await crawl([path, '--cross-origin', '--credentials', await tokenFor(`${server.origin}nowhere/`)])
  expect(summary.incomplete).toMatchObject([
    { hint: expect.stringMatching(/^if you have access: stac-auth credentials add '\/.*my catalog\.json'/) },
  ])
})

/** Sends over plain `fetch`, whatever the origin. */
function sendByFetch() {
  return async ({ url }: { readonly url: string }) => {
    const response = await fetch(url)
    return {
      status: response.status,
      url: response.url,
      headers: response.headers,
      bytes: async () => new Uint8Array(await response.arrayBuffer()),
      discard: async () => response.body?.cancel(),
    }
  }
}

async function visitsOf(visits: ReturnType<typeof walk>): Promise<readonly Visit[]> {
  const all: Visit[] = []
  for await (const visit of visits) if (visit.kind === 'visit') all.push(visit)
  return all
}
