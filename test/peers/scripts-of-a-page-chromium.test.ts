/** Which scripts a real browser asks for: of an application that Vite built, and of a page without a bundler. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { builtByVite, ONE_FETCH } from '../../scripts/vite-page.ts'
import { root } from '../architecture/files.ts'
import { type AnsweringServer, startAnswering } from '../servers/answering-server.ts'
import { useChromium } from './chromium.ts'

const browser = useChromium()
const files = new Map<string, string>()
let site: AnsweringServer

beforeAll(async () => {
  const chunks = await builtByVite(ONE_FETCH)
  for (const { fileName, code } of chunks) files.set(`/${fileName}`, code)
  const bundle = await readFile(join(root, 'dist/browser.bundle.js'), 'utf8')
  const { integrity } = JSON.parse(await readFile(join(root, 'dist/browser.bundle.json'), 'utf8'))
  files.set('/browser.bundle.js', bundle)
  files.set('/changed/browser.bundle.js', `${bundle}\n`)
  site = await startAnswering(({ path, headers }) => {
    const script = files.get(path)
    if (script !== undefined) return { status: 200, headers: { 'content-type': 'text/javascript; charset=utf-8' }, body: script }
    if (path === '/a.tif') return headers.authorization === 'Bearer t0ken' ? { status: 200, body: 'bytes' } : { status: 401 }
    const own = chunks.find(({ isEntry }) => isEntry)?.fileName
    const page = path === '/built' ? scriptTag(`/${own}`) : withoutBundler(path === '/changed' ? '/changed' : '', integrity, path)
    return { status: 200, headers: { 'content-type': 'text/html; charset=utf-8' }, body: `<!doctype html>${data()}${page}` }
  })
}, 60_000)
afterAll(() => site.close())

const scriptTag = (source: string, more = '') => `<script type="module" src="${source}"${more}></script>`

const FETCH = `globalThis.answer = createAuth({ credentials }).fetch(assetOf(item, 'data'))`

/** Shows what is needed, and answers with it. */
const ELEMENT = `
    defineStacAuth()
    const element = document.createElement('stac-auth')
    Object.assign(element, { auth: createLiveAuth({ credentials: [], typed: [origin] }), document: item, typed: [origin], locale: 'de' })
    globalThis.answer = new Promise((resolve) => {
      element.addEventListener('stac-auth-needed', () => resolve(new Response(element.shadowRoot.textContent)))
    })
    document.body.append(element)`

function withoutBundler(folder: string, integrity: string, path: string): string {
  const source = `${folder}/browser.bundle.js`
  return `${scriptTag(source, ` integrity="${integrity}" crossorigin="anonymous"`)}<script type="module">
    import { assetOf, createAuth, createLiveAuth, defineStacAuth } from '${source}'
    ${path === '/element' ? ELEMENT : FETCH}</script>`
}

function data(): string {
  return `<script>
    const origin = location.origin + '/'
    globalThis.credentials = [{ type: 'http', scheme: 'bearer', token: 't0ken', sendTo: origin }]
    globalThis.item = {
      type: 'Feature', links: [],
      properties: { 'auth:schemes': { token: { type: 'http', scheme: 'bearer' } } },
      assets: { data: { href: origin + 'a.tif', 'auth:refs': ['token'] } },
    }</script>`
}

/** Opens a page and waits for its one answer; the paths of all scripts that it asked for. */
async function visit(path: string): Promise<{ readonly text: string; readonly scripts: readonly string[] }> {
  const context = await browser().newContext()
  const page = await context.newPage()
  const scripts: string[] = []
  page.on('request', (request) => {
    if (request.resourceType() === 'script' || request.url().endsWith('.js')) scripts.push(new URL(request.url()).pathname)
  })
  await page.goto(`${site.origin}${path}`)
  await page.waitForFunction('"answer" in globalThis', undefined, { timeout: 5_000 })
  const text = (await page.evaluate('answer.then((response) => response.text())')) as string
  await context.close()
  return { text, scripts: [...new Set(scripts)] }
}

describe('a page in Chromium', () => {
  it('a page in Chromium that Vite built requests at most 10 scripts to fetch a file with a bearer token', async () => {
    const { text, scripts } = await visit('/built')
    expect(text).toBe('bytes')
    expect(scripts.length).toBeGreaterThan(2)
    expect(scripts.length).toBeLessThanOrEqual(10)
  })

  it('a page in Chromium without a bundler requests the one file, whose hash it states', async () => {
    expect(await visit('/plain')).toEqual({ text: 'bytes', scripts: ['/browser.bundle.js'] })
  })

  it('a page in Chromium without a bundler shows the element from the same file', async () => {
    const { text, scripts } = await visit('/element')
    expect(text).toContain('Token für 127.0.0.1')
    expect(scripts).toEqual(['/browser.bundle.js'])
  })

  it('a page in Chromium without a bundler does not run a file with another hash', async () => {
    await expect(visit('/changed')).rejects.toThrow(/Timeout/)
  })
})
