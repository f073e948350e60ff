/** A real browser signs with SubtleCrypto what Node signs with its own crypto; both must give the same bytes. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { root } from '../architecture/files.ts'
import { useChromium } from './chromium.ts'
import { signAll } from './sigv4-in-page.ts'

const browser = useChromium()
let server: Server
let script = ''

beforeAll(async () => {
  const { outputFiles } = await build({
    entryPoints: [join(root, 'test/peers/sigv4-in-page.ts')],
    alias: { '#platform': join(root, 'src/platform/web.ts') },
    bundle: true,
    format: 'esm',
    platform: 'browser',
    write: false,
    logLevel: 'silent',
  })
  script = outputFiles[0]?.text ?? ''
  server = createServer((request, response) => {
    const isScript = request.url === '/sign.js'
    response.setHeader('content-type', isScript ? 'text/javascript; charset=utf-8' : 'text/html')
    response.end(isScript ? script : '<!doctype html><meta charset="utf-8"><script type="module" src="/sign.js"></script>')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterAll(() => new Promise((resolve) => server.close(resolve)))

describe('a page in Chromium', () => {
  it('signs 3000 odd requests, in headers and in the URL, like Node', async () => {
    const page = await (await browser().newContext()).newPage()
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    await page.waitForFunction('"signAll" in globalThis')
    const theirs = (await page.evaluate('signAll(3000, 20261122)')) as Awaited<ReturnType<typeof signAll>>
    const ours = await signAll(3000, 20261122)
    expect([ours.promised, theirs.promised]).toEqual([false, true])
    expect(ours.lines).toHaveLength(6000)
    expect(theirs.lines.findIndex((line, index) => line !== ours.lines[index])).toBe(-1)
    expect(theirs.lines).toEqual(ours.lines)
    expect(new Set(theirs.lines.map((line) => /Signature=([0-9a-f]{64})/.exec(line)?.[1])).size).toBe(6000)
  }, 60_000)
})
