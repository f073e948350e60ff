import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { put, temporaryFolder } from '../folder.ts'
import { itemWith, keyFor } from '../items.ts'
import { run } from '../run.ts'
import { KEY } from '../server.ts'

const folder = await temporaryFolder()
const store = { store: { type: 's3' }, other: { type: 'http', scheme: 'basic' } }
let origin: string
let asked: IncomingMessage[] = []

/** Gives objects of `open` to everybody, those of `closed` to nobody; `login` leads to a page, `broken` fails. */
const server = createServer((request, response) => {
  const [, bucket = ''] = (request.url ?? '').split('/')
  if (request.url?.endsWith('.json')) return void response.end(JSON.stringify(document(bucket)))
  if (request.url !== '/welcome' && request.method !== 'OPTIONS') asked.push(request)
  const status = { open: 200, closed: 403, broken: 500, login: 302, welcome: 200 }[bucket] ?? 404
  response.writeHead(status, status === 302 ? { location: '/welcome' } : {}).end()
})
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  vi.unstubAllEnvs()
  server.closeAllConnections()
  server.close()
})
beforeEach(() => {
  asked = []
  vi.stubEnv('STAC_AUTH_TEST_KEY', KEY)
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', KEY)
})

const asset = (bucket: string, key: string, refs = ['store']) => ({ href: `${origin}/${bucket}/${key}`, 'auth:refs': refs })

function document(bucket: string): object {
  const assets = {
    one: asset(bucket, 'a.tif'),
    two: asset(bucket, 'b.tif'),
    basic: asset('other', 'c.tif', ['other']),
    free: asset('free', 'd.tif', []),
  }
  return itemWith(assets, { schemes: store })
}

async function lint(...argv: string[]) {
  const outcome = await run(['lint', '--format', 'json', '--rule', 's3-without-storage=off', ...argv], {
    env: { STAC_AUTH_CREDENTIALS: await put(folder, 'credentials.json', keyFor(`${origin}/`)) },
  })
  return { ...outcome, found: JSON.parse(outcome.stdout).problems.filter(({ code }: { code: string }) => code === 's3-public-bucket') }
}

/** Every place of findings that were added up. */
function pointersOf(found: readonly { readonly places?: readonly { readonly pointer: string }[] }[]) {
  return found.flatMap(({ places = [] }) => places.map(({ pointer }) => pointer))
}

describe('s3-public-bucket', () => {
  it('reports a public bucket once with each of its targets, and asks it once and without any credential', async () => {
    const { code, found } = await lint('--online', `${origin}/open/item.json`)
    const line = {
      severity: 'info',
      message: 'the bucket open can be read without credentials: remove auth:refs',
      id: 'x',
      line: 1,
      column: expect.any(Number),
    }
    expect(found).toEqual([expect.objectContaining({ ...line, pointer: '/assets/one/auth:refs', count: 2 })])
    expect(pointersOf(found)).toEqual(['/assets/one/auth:refs', '/assets/two/auth:refs'])
    expect(code).toBe(0)
    expect(asked.map(({ method, url }) => `${method} ${url}`)).toEqual(['HEAD /open/a.tif'])
    expect(Object.keys(asked[0]?.headers ?? {}).filter((name) => /auth|key|amz|cookie/.test(name))).toEqual([])
  })

  it.each(['closed', 'gone', 'login'])('reports nothing of a bucket that is not: %s', async (bucket) => {
    const { found, stderr } = await lint('--online', `${origin}/${bucket}/item.json`)
    expect([found, stderr, asked.length]).toEqual([[], '', 1])
  })

  it('reports that it does not know, where a server fails', async () => {
    expect((await run(['lint', '--online', `${origin}/broken/item.json`])).stderr).toContain('1 buckets gave no conclusive response')
  })

  it('s3-public-bucket is not asked without --online, nor when it is off', async () => {
    expect((await lint(`${origin}/open/item.json`)).found).toEqual([])
    expect(asked).toEqual([])
    expect((await lint('--online', '--rule', 's3-public-bucket=off', `${origin}/open/item.json`)).found).toEqual([])
    expect(asked).toEqual([])
  })

  it('asks no private address that only a document names', async () => {
    const { found } = await lint('--online', await put(folder, 'item.json', document('open')))
    expect([found, asked]).toEqual([[], []])
  })

  it('s3-public-bucket is found in lines, in lists, and by a crawl, each bucket asked once', async () => {
    const lines = `${JSON.stringify(document('closed'))}\n${JSON.stringify(document('open'))}\n`
    const { found } = await lint('--online', await put(folder, 'l.ndjson', lines), `${origin}/closed/item.json`)
    expect(found.map(({ line }: Record<string, unknown>) => line)).toEqual([2])
    expect(pointersOf(found)).toEqual(['/assets/one/auth:refs', '/assets/two/auth:refs'])
    expect(asked).toHaveLength(2)
    asked = []
    const list = await put(folder, 'list.json', { type: 'FeatureCollection', features: [document('closed'), document('open')] })
    const both = await lint('--online', list, `${origin}/open/item.json`)
    expect(both.found.map(({ document: name }: Record<string, string>) => name)).toEqual([list, `${origin}/open/item.json`])
    expect(pointersOf(both.found)).toEqual([
      '/features/1/assets/one/auth:refs',
      '/features/1/assets/two/auth:refs',
      '/assets/one/auth:refs',
      '/assets/two/auth:refs',
    ])
    expect(asked).toHaveLength(2)
    const crawled = await lint('--online', '--crawl', `${origin}/open/item.json`)
    expect(pointersOf(crawled.found)).toEqual(['/assets/one/auth:refs', '/assets/two/auth:refs'])
  })
})
