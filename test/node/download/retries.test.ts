import { readdir } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { createAuth } from '../../../src/auth/create-auth.ts'
import { networkError } from '../../../src/http/network-error.ts'
import type { DownloadEvent } from '../../../src/node/download/download.ts'
import { undiciTransport } from '../../../src/node/transport/undici-transport.ts'
import { temporaryFolder } from '../../cli/folder.ts'
import { FakeClock } from '../../harness/fake-clock.ts'
import { unchecked } from '../../harness/unchecked.ts'
import { type Asking, type Fault, noise, type ServedContent } from '../../servers/file-server.ts'
import { codesOf, filesIn, itemOf, namesIn, ofKind, run, serveFiles } from './fixture.ts'

const bytes = noise(5000)
const large = noise(4 * 2 ** 20)
const one = { data: { href: 'data.bin' } }

type Faults = (asking: Asking, n: number) => Fault | undefined

async function serve(faultOf?: Faults, content: (path: string) => ServedContent | undefined = () => ({ bytes })) {
  const server = await serveFiles(content, faultOf)
  return server
}

describe('asking again', () => {
  it.each([408, 425, 429, 500, 502, 503, 504])('asking again happens after %i', async (status) => {
    const server = await serve((_, n) => (n < 2 ? { status, body: '' } : undefined))
    const result = await run([itemOf(server, one)], { folder: await temporaryFolder(), server })
    expect(result.summary).toMatchObject({ written: 1, retries: 2 })
  })

  it.each([
    [400, 'HTTP_400'],
    [401, 'AUTH_REJECTED'],
    [404, 'HTTP_404'],
    [410, 'HTTP_410'],
    [501, 'HTTP_501'],
  ])('does not happen after %i', async (status, code) => {
    const server = await serve(() => ({ status, body: '' }))
    expect(codesOf(await run([itemOf(server, one)], { folder: await temporaryFolder(), server }))).toEqual([code])
    expect(server.asked).toHaveLength(1)
  })

  it('ends after so many attempts in a row that gained nothing', async () => {
    const server = await serve(() => ({ resetAfter: 0 }))
    const folder = await temporaryFolder()
    expect(codesOf(await run([itemOf(server, one)], { folder, server, retries: 3 }))).toEqual(['NETWORK_RESET'])
    expect(server.asked).toHaveLength(4)
    expect(await readdir(folder)).toEqual([])
  })

  it('ends after four attempts to resolve a host name, and after fewer if so many are allowed', async () => {
    const failures = [Object.assign(new Error('lookup'), { code: 'EAI_AGAIN' }), Object.assign(new Error('reset'), { code: 'ECONNRESET' })]
    const clock = new FakeClock({ now: Date.now, waits: 'skipped' })
    const retriesOf = async (failure: unknown, options: object = {}) => {
      const auth = { send: () => Promise.reject(networkError(failure, 'https://data.example/')) }
      const document = itemOf({ origin: 'https://data.example' }, one)
      return (await run([document], { folder: await temporaryFolder(), auth, clock, ...options })).summary.retries
    }
    expect(await Promise.all(failures.map((failure) => retriesOf(failure)))).toEqual([4, 10])
    expect(await retriesOf(failures[0], { retries: 2 })).toBe(2)
  })

  it('requests a file once if no retry is allowed', async () => {
    const server = await serve(() => ({ status: 503, body: '' }))
    const result = await run([itemOf(server, one)], { folder: await temporaryFolder(), server, retries: 0 })
    expect([codesOf(result), server.asked.length]).toEqual([['HTTP_503'], 1])
  })

  it('continues for as long as something is gained', async () => {
    const server = await serve(
      (_, n) => (n < 8 ? { endAfter: 400_000 } : undefined),
      () => ({ bytes: large }),
    )
    const folder = await temporaryFolder()
    const result = await run([itemOf(server, one)], { folder, server, retries: 1 })
    expect(result.summary).toMatchObject({ written: 1, retries: 8 })
    expect((await filesIn(folder))['data.bin']?.equals(large)).toBe(true)
  })

  it('asking again has an end for an origin where nothing works', async () => {
    const server = await serve(() => ({ resetAfter: 0 }))
    const assets = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`a${index}`, { href: `${index}.bin` }]))
    const result = await run([itemOf(server, assets)], { folder: await temporaryFolder(), server, concurrency: 60, perHost: 60 })
    expect(new Set(codesOf(result))).toContain('RETRY_BUDGET')
    expect(result.summary.retries).toBe(100)
  })
})

describe('alternates', () => {
  const assets = { data: { href: 'gone.bin', alternate: { a: { href: 'also-gone.bin' }, b: { href: 'there.bin' } } } }
  const content = (path: string) => (path === '/there.bin' ? { bytes } : undefined)

  it('alternates are tried in turn, under the name of the asset', async () => {
    const server = await serve(undefined, content)
    const folder = await temporaryFolder()
    const result = await run([itemOf(server, assets)], { folder, server })
    expect(ofKind(result, 'warning').map(({ code }) => code)).toEqual(['HTTP_404', 'HTTP_404'])
    expect(await filesIn(folder)).toEqual({ 'gone.bin': bytes })
  })

  it('alternates are tried first when they are named, and not at all when no one requires them', async () => {
    const server = await serve(undefined, content)
    await run([itemOf(server, assets)], { folder: await temporaryFolder(), server, alternates: ['b'] })
    expect(server.asked.map(({ path }) => path)).toEqual(['/there.bin'])
    expect(codesOf(await run([itemOf(server, assets)], { folder: await temporaryFolder(), server, alternates: [] }))).toEqual(['HTTP_404'])
  })
})

describe('which assets', () => {
  const assets = {
    a: { href: 'a.tif', roles: ['data'], type: 'image/tiff; application=geotiff' },
    b: { href: 'b.png', roles: ['thumbnail'], type: 'image/png' },
    c: { href: 'c.json', roles: ['metadata', 'data'], type: 'application/json' },
  }

  it.each<[object, string[]]>([
    [{}, ['a.tif', 'b.png', 'c.json']],
    [{ keys: ['a', 'c', 'x'] }, ['a.tif', 'c.json']],
    [{ roles: ['data'] }, ['a.tif', 'c.json']],
    [{ types: ['image/*'] }, ['a.tif', 'b.png']],
    [{ types: ['image/tiff'] }, ['a.tif']],
    [{ roles: ['data'], types: ['application/json'] }, ['c.json']],
  ])('%j are chosen', async (choice, names) => {
    const server = await serve()
    const result = await run([itemOf(server, assets)], { folder: await temporaryFolder(), server, dryRun: true, assets: choice })
    expect(ofKind(result, 'planned').map(({ file }) => file.name)).toEqual(names)
  })

  it('finds assets in lists of documents, each under its own name', async () => {
    const server = await serve()
    const features = ['x', 'y'].map((id) => ({ ...itemOf(server, { data: assets.a }).document, id, collection: 'k' }))
    const list = { document: { type: 'FeatureCollection', features }, url: `${server.origin}/search` }
    const result = await run([list], { folder: await temporaryFolder(), server, dryRun: true, template: '{collection}/{id}/{key}{ext}' })
    expect(ofKind(result, 'planned').map(({ file }) => file.name)).toEqual(['k/x/data.tif', 'k/y/data.tif'])
  })

  it.each(['{nothing}', '/x', '../{name}', 'a//b', '{id', 'x\\{name}', ''])('refuses %j as a name of an asset', async (template) => {
    await expect(run([], { folder: await temporaryFolder(), template })).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  })
})

describe('a token that ends in the middle', () => {
  it('a token that ends in the middle is refreshed, and the file continues where it was', async () => {
    let valid = 'first'
    let asked = 0
    const server = await serve(
      ({ authorization }, n) => {
        if (authorization !== `Bearer ${valid}`)
          return { status: 401, headers: { 'www-authenticate': 'Bearer error="invalid_token"' }, body: '' }
        if (n > 0) return undefined
        valid = 'second'
        return { endAfter: 2 ** 21 }
      },
      () => ({ bytes: large }),
    )
    const token = async () => {
      asked++
      return asked === 1 ? 'first' : valid
    }
    const credentials = [{ id: 'a', type: 'http', scheme: 'bearer', token, sendTo: [`${server.origin}/`] }]
    const auth = createAuth({ credentials: unchecked(credentials), transport: undiciTransport({ env: {} }) })
    const scheme = { 'auth:schemes': { key: { type: 'http', scheme: 'bearer' } } }
    const folder = await temporaryFolder()
    const item = itemOf(server, { data: { href: 'data.bin', 'auth:refs': ['key'] } }, { properties: scheme })
    const result = await run([item], { folder, auth })
    expect(codesOf(result)).toEqual([])
    expect((await filesIn(folder))['data.bin']?.equals(large)).toBe(true)
    expect(result.summary.received).toBe(large.length)
    expect(server.asked.at(-1)?.range).toMatch(/^bytes=\d+-$/)
  })
})

describe('stopping', () => {
  it.each(['abort', 'break'])('stopping by %s leaves what the next run continues with', async (how) => {
    const server = await serve(
      (_, n) => (n === 0 ? { endAfter: 2 ** 21, framing: undefined } : undefined),
      () => ({ bytes: large }),
    )
    const folder = await temporaryFolder()
    const controller = new AbortController()
    const { download } = await import('../../../src/node/download/download.ts')
    const auth = createAuth({ credentials: [], typed: [server.origin] })
    const options = { folder, auth, template: '{name}', progressInterval: 0, signal: controller.signal, random: () => 0.9 }
    const events: DownloadEvent[] = []
    const listen = async () => {
      for await (const event of download([itemOf(server, one)], options)) {
        events.push(event)
        if (event.kind !== 'retry') continue
        if (how === 'break') break
        controller.abort('SIGINT')
      }
    }
    if (how === 'abort') await expect(listen()).rejects.toMatchObject({ code: 'ABORTED' })
    else await listen()
    if (how === 'abort')
      expect(events.at(-1)).toMatchObject({ kind: 'summary', files: 1, written: 0, failed: 1, stopped: { code: 'ABORTED' } })
    expect((await readdir(folder)).sort()).toEqual(['data.bin.part', 'data.bin.part.json'])
    const result = await run([itemOf(server, one)], { folder, server })
    expect(ofKind(result, 'started')[0]?.resumed).toBeGreaterThan(0)
    expect((await filesIn(folder))['data.bin']?.equals(large)).toBe(true)
    expect(await namesIn(folder)).toEqual(['data.bin'])
  })
})
