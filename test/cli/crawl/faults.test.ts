/** What servers do to a crawler: everything ends, and nothing is passed over in silence. */
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { type CrawlOptions, crawl, type Visit } from '../../../src/crawl/index.ts'
import { undiciTransport } from '../../../src/node/transport/undici-transport.ts'
import { startSocketServer } from '../../servers/harness.ts'
import { run } from '../run.ts'
import { type Answer, body, serve } from '../server.ts'
import { catalog, clean, json, link, page as pageOf } from './catalogs.ts'

const item = json(clean)
const page = (id: string, ...links: object[]) => pageOf([{ type: 'Feature', id, links: [], assets: {} }], ...links)
const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (_request, response) => {
    response.writeHead(code, headers).end('no')
  }
const packed =
  (bytes: Uint8Array, coding: string): Answer =>
  (_request, response) => {
    response.writeHead(200, { 'content-encoding': coding }).end(bytes)
  }

/** Fails so many times, then answers. */
const failing = (times: number, fail: Answer, then: Answer): Answer => {
  let count = 0
  return (request, response) => (++count <= times ? fail : then)(request, response)
}

async function report(argv: readonly string[]) {
  const outcome = await run(['lint', '--crawl', '--format', 'json', ...argv])
  const { summary, problems } = JSON.parse(outcome.stdout)
  return { code: outcome.code, summary, problems, stderr: outcome.stderr }
}

describe('a server of faults', () => {
  it('a server of faults is told fault by fault, and what is sound is linted', async () => {
    const bomb = gzipSync(gzipSync(Buffer.alloc(128 * 2 ** 20, 0x20)))
    const faults: Record<string, Answer> = {
      '/missing': status(404),
      '/gone': status(410),
      '/broken': status(500),
      '/login': body('<!doctype html><title>Sign in</title><input value="token-1">'),
      '/array': body('[1]'),
      '/cut': body('{"type":"Catalog","links":['),
      '/latin1': body(Buffer.from('{"type":"Catalog","id":"\xe9"}', 'latin1')),
      '/deep': body('[{"a":'.repeat(80)),
      '/links': json(catalog(...Array.from({ length: 100_001 }, (_, index) => link('item', `${index}`)))),
      '/bomb': packed(bomb, 'gzip, gzip'),
      '/codings': packed(bomb, 'gzip, gzip, gzip'),
      '/broken-gzip': packed(Buffer.from('not gzip'), 'gzip'),
      '/reset': (request) => request.socket.destroy(),
      '/rest': status(503, { 'retry-after': '86400' }),
      '/limited': status(429, { 'retry-after': '121' }),
      '/circle': status(302, { location: '/circle' }),
      '/downwards': status(302, { location: 'file:///etc/passwd' }),
      '/inside': status(302, { location: 'http://169.254.169.254/latest/meta-data/' }),
      '/protected': status(401, { 'www-authenticate': 'Basic realm="r"' }),
    }
    const paths = Object.keys(faults)
    const server = await serve({
      ...faults,
      '/': json(catalog(...paths.map((path) => link('child', path)), link('item', '/sound'), link('child', '/busy'), link('child', '/'))),
      '/sound': item,
      '/busy': failing(3, status(503, { 'retry-after': '0' }), json(catalog())),
    })
    const { code, summary, problems, stderr } = await report([server.origin])
    const byPath = Object.fromEntries(
      summary.incomplete.map(({ url, code: problemCode }: Record<string, string>) => [url?.slice(server.origin.length - 1), problemCode]),
    )
    expect(byPath).toEqual({
      '/missing': 'HTTP_404',
      '/gone': 'HTTP_410',
      '/broken': 'HTTP_500',
      '/login': 'DOC_NOT_JSON',
      '/array': 'DOC_NOT_JSON',
      '/cut': 'DOC_NOT_JSON',
      '/latin1': 'DOC_NOT_UTF8',
      '/deep': 'DOC_TOO_DEEP',
      '/links': 'DOC_TOO_MANY',
      '/bomb': 'RESPONSE_TOO_LARGE',
      '/codings': 'RESPONSE_TOO_LARGE',
      '/broken-gzip': 'RESPONSE_INVALID',
      '/reset': 'NETWORK_RESET',
      '/rest': 'RATE_LIMITED',
      '/limited': 'RATE_LIMITED',
      '/circle': 'REDIRECT_LOOP',
      '/downwards': 'REDIRECT_INVALID',
      '/inside': 'URL_ADDRESS_FORBIDDEN',
      '/protected': 'HTTP_401',
    })
    expect([code, summary.documents]).toEqual([5, 3])
    expect(problems.filter(({ code: problemCode }: { code: string }) => problemCode === 'unreachable')).toHaveLength(paths.length)
    expect(server.requests.filter(({ path }) => path === '/busy')).toHaveLength(4)
    expect(server.requests.filter(({ path }) => path === '/reset')).toHaveLength(5)
    expect(JSON.stringify([summary, problems]) + stderr).not.toContain('token-1')
    expect(stderr.split('\n').filter((line) => line.startsWith('{'))).toHaveLength(10)
  })

  it('a server of faults is told to people with the URL of each document, once', async () => {
    const server = await serve({
      '/': json(catalog(link('child', '/cut'), link('child', '/missing'), link('child', '/login?key=abc'))),
      '/cut': body('{"type":"Catalog","links":['),
      '/missing': status(404),
      '/login?key=abc': body('<!doctype html>'),
    })
    const { stderr } = await run(['lint', '--crawl', server.origin])
    const lines = stderr.split('\n').filter((line) => !line.startsWith('  '))
    expect(lines).toEqual([
      `error DOC_NOT_JSON: ${server.origin}cut: the server answered GET without a media type, and the document is not JSON: line 1, column 28 (byte 27)`,
      `${server.origin}login?key=…`,
      `error DOC_NOT_JSON: ${server.origin}login: the server answered GET without a media type, and the document is not JSON: line 1, column 1 (byte 0)`,
      `error HTTP_404: ${server.origin}missing: the server answered 404 to GET`,
      '',
    ])
  })

  it('a server of faults may lead on without end: a chain, pages without number, pages in a circle', async () => {
    const deep: Answer = (request, response) =>
      json(catalog(link('child', `/deep/${Number(request.url?.split('/')[2]) + 1}`)))(request, response)
    let turn = 0
    const server = await serve({
      '/': json(catalog(link('child', '/deep/0'), link('child', '/self'), link('child', '/round'), link('child', '/empty'))),
      ...Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`/deep/${index}`, deep])),
      '/self': page('a', link('next', '/self')),
      ...Object.fromEntries(
        Array.from({ length: 500 }, (_, index) => [
          `/round${index ? `?p=${index}` : ''}`,
          (request, response) => page(`r${turn++ % 3}`, link('next', `/round?p=${index + 1}`))(request, response),
        ]),
      ),
      '/empty': json({ type: 'FeatureCollection', features: [], links: [link('next', '/empty?p=2')] }),
    } as Record<string, Answer>)
    const { code, summary } = await report([server.origin])
    expect(code).toBe(5)
    expect(summary.incomplete.map(({ code: problemCode }: { code: string }) => problemCode).sort()).toEqual([
      'CRAWL_LIMIT',
      'PAGE_LOOP',
      'PAGE_LOOP',
      'PAGE_LOOP',
    ])
    expect(server.requests.length).toBeLessThan(90)
    const all = await report([server.origin, '--max-depth', '500', '--max-pages', '2'])
    expect(all.summary.incomplete.map(({ code: problemCode }: { code: string }) => problemCode)).toContain('HTTP_404')
  })

  it('a server of faults may interrupt no one: what there is so far is reported', async () => {
    const controller = new AbortController()
    const server = await serve({
      '/': json(catalog(link('item', '/sound'), link('item', '/silent'))),
      '/sound': item,
      '/silent': () => controller.abort('SIGINT'),
    })
    const outcome = await run(['lint', '--crawl', '--format', 'json', server.origin], { signal: controller.signal })
    expect(outcome.code).toBe(130)
    expect(JSON.parse(outcome.stdout).summary.incomplete).toMatchObject([{ code: 'ABORTED' }])
  })

  it('ends with the line of what decides the exit code, however much else there is to tell', async () => {
    const controller = new AbortController()
    const missing = Array.from({ length: 12 }, (_, index) => link('item', `/missing-${index}`))
    const server = await serve({
      '/': json(catalog(...missing, link('child', '/more'))),
      '/more': json(catalog(link('item', '/silent'))),
      '/silent': () => controller.abort('SIGTERM'),
    })
    const outcome = await run(['lint', '--crawl', '--format', 'json', server.origin], { signal: controller.signal })
    expect(outcome.code).toBe(143)
    const told = outcome.stderr.trim().split('\n')
    expect(told.map((line) => JSON.parse(line).code)).toEqual([...Array(9).fill('HTTP_404'), 'ABORTED'])
    expect(JSON.parse(outcome.stdout).summary.incomplete).toHaveLength(13)
  })
})

describe('over a transport', () => {
  async function walk(start: string, options: Partial<CrawlOptions> = {}) {
    const send = undiciTransport({ env: {} })
    const visits: Visit[] = []
    const granted: CrawlOptions['send'] = (request, more) => send(request, { ...more, allowPrivateNetwork: true })
    for await (const visit of crawl({ start: [start], send: granted, retries: 0, ...options }))
      if (visit.kind === 'visit') visits.push(visit)
    return visits.map(({ outcome }) => outcome.failure?.code)
  }

  it.each([
    ['says nothing', () => {}],
    ['never ends', (socket: { write(text: string): void }) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{')],
  ])('a server that %s is left after the time allowed', async (_name, answer) => {
    const server = await startSocketServer((socket) => socket.on('data', () => answer(socket)))
    expect(await walk(`${server.origin}/`, { timeout: 200 })).toEqual(['TIMEOUT_TOTAL'])
    await server.close()
  })

  it('an answer is read no further than allowed', async () => {
    const server = await serve({ '/': body(JSON.stringify({ ...catalog(), description: 'x'.repeat(5000) })) })
    expect(await walk(server.origin, { maxBytes: 4000 })).toEqual(['RESPONSE_TOO_LARGE'])
  })

  it('a redirect is an answer like any other: following is for who chooses credentials', async () => {
    const server = await serve({ '/': status(302, { location: '/elsewhere' }) })
    expect(await walk(server.origin)).toEqual(['HTTP_302'])
    expect(server.requests).toHaveLength(1)
  })
})
