/** A page in a real browser whose pictures, films and tiles a service worker authorizes. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { root } from '../architecture/files.ts'
import type { AnsweringServer } from '../servers/answering-server.ts'
import { bearerGuard } from '../servers/guards.ts'
import { useChromium } from './chromium.ts'
import { useFirefox } from './firefox.ts'
import { scriptOf } from './page-script.ts'
import { png, startHoldings, startSite, wav } from './page-server.ts'

const [inChromium, inFirefox] = [useChromium(), useFirefox()]
let browser = inChromium
/** A real font: of a program that is installed for these tests anyway. */
const fonts = join(root, 'node_modules/playwright-core/lib/vite/traceViewer')
const font = readdirSync(fonts).find((name) => name.endsWith('.ttf')) ?? 'none.ttf'
const files = {
  '/a.ttf': { type: 'font/ttf', body: readFileSync(join(fonts, font)) },
  '/a.png': { type: 'image/png', body: png(16) },
  '/a.wav': { type: 'audio/wav', body: wav(30) },
  '/tile': { type: 'image/png', body: png(8) },
}

let site: AnsweringServer
let archive: AnsweringServer
let stranger: AnsweringServer
let token = 'right'

beforeAll(async () => {
  const worker = await scriptOf('examples/adapters/service-worker.ts')
  site = await startSite(
    {
      '/': { type: 'text/html', body: '<!doctype html><meta charset="utf-8"><title>page</title>' },
      '/worker.js': { type: 'text/javascript', body: worker },
    },
    (path) => (path === '/session/token' ? { status: 200, body: token } : { status: 405 }),
  )
  stranger = await startHoldings({ files })
  archive = await startHoldings({
    files,
    guard: bearerGuard((text) => text === 'right'),
    moved: stranger.origin,
    allows: { origin: site.origin, headers: 'authorization, range' },
  })
}, 60_000)
afterAll(() => Promise.all([site.close(), archive.close(), stranger.close()]))

/** A page that a worker of its own watches over. */
async function watchedPage(): Promise<Page> {
  const page = await (await browser().newContext()).newPage()
  await page.goto(`${site.origin}/`)
  await page.evaluate(async (origin) => {
    await navigator.serviceWorker.register(`/worker.js?archive=${encodeURIComponent(`${origin}/`)}`)
    await navigator.serviceWorker.ready
  }, archive.origin)
  await page.reload()
  await page.waitForFunction('navigator.serviceWorker.controller !== null')
  return page
}

/** The width of a picture, or 0 when it cannot be loaded. */
const picture = (page: Page, src: string, crossOrigin: string | null = null) =>
  page.evaluate(
    ({ src: source, crossOrigin: mode }) =>
      new Promise((resolve) => {
        const image = new Image()
        image.crossOrigin = mode
        image.onload = () => resolve(image.naturalWidth)
        image.onerror = () => resolve(0)
        image.src = source
      }),
    { src, crossOrigin },
  )

describe.each([
  ['Chromium', inChromium],
  ['Firefox', inFirefox],
] as const)('in %s', (name, own) => {
  beforeAll(() => {
    browser = own
  })

  describe('a service worker', () => {
    // Firefox does not route the requests of video and audio elements to workers.
    const seconds = name === 'Firefox' ? 0 : 30

    it('a service worker opens pictures, films and what scripts request, and shows the page no token', async () => {
      const page = await watchedPage()
      const start = archive.exchanges.length
      expect(await picture(page, `${archive.origin}/a.png`)).toBe(16)
      const film = (src: string) =>
        new Promise((resolve) => {
          const video = document.createElement('video')
          video.onloadedmetadata = () => {
            video.onseeked = () => resolve(Math.round(video.duration))
            video.currentTime = 20
          }
          video.onerror = () => resolve(0)
          video.src = src
        })
      expect(await page.evaluate(film, `${archive.origin}/a.wav`)).toBe(seconds)
      const script = async (address: string) => {
        const response = await fetch(address)
        return [response.status, response.url, JSON.stringify([...response.headers])]
      }
      const [status, url, headers] = await page.evaluate(script, `${archive.origin}/tiles/0/0/0`)
      expect([status, url]).toEqual([200, `${archive.origin}/tiles/0/0/0`])
      expect(headers).not.toContain('right')
      const opened = archive.exchanges.slice(start).some(({ request, answer }) => request.path === '/a.wav' && answer.status === 206)
      expect(opened).toBe(name !== 'Firefox')
    })

    it('a service worker opens pictures, sounds and fonts with the CORS headers that the archive allows', async () => {
      const page = await watchedPage()
      const before = archive.exchanges.length
      for (const crossOrigin of ['anonymous', 'use-credentials'])
        expect(await picture(page, `${archive.origin}/a.png`, crossOrigin)).toBe(16)
      const sound = (src: string) =>
        new Promise((resolve) => {
          const audio = new Audio(src)
          audio.onloadedmetadata = () => resolve(Math.round(audio.duration))
          audio.onerror = () => resolve(0)
        })
      expect(await page.evaluate(sound, `${archive.origin}/a.wav`)).toBe(seconds)
      const face = async (src: string) => (await new FontFace('of-the-archive', `url(${src})`).load()).status
      expect(await page.evaluate(face, `${archive.origin}/a.ttf`)).toBe('loaded')
      const all = archive.exchanges.slice(before).filter(({ request }) => request.method === 'GET')
      const asked = all.filter(({ request }) => name !== 'Firefox' || request.path !== '/a.wav')
      expect(new Set(asked.map(({ request }) => request.path))).toEqual(
        new Set(['/a.png', ...(name === 'Firefox' ? [] : ['/a.wav']), '/a.ttf']),
      )
      for (const { request, answer } of asked) expect([request.headers.authorization, answer.status < 300]).toEqual(['Bearer right', true])
    })

    it('opens no plug-ins and downloads of links, which browsers do not route to workers', async () => {
      const page = await watchedPage()
      const before = archive.exchanges.length
      const requested = () => archive.exchanges.length - before
      // A URL of its own for each: browsers request one that they are loading already only once.
      await page.evaluate((src) => {
        const object = Object.assign(document.createElement('object'), { type: 'image/png', data: `${src}?object` })
        const embed = Object.assign(document.createElement('embed'), { type: 'image/png', src: `${src}?embed` })
        document.body.append(object, embed)
      }, `${archive.origin}/a.png`)
      await expect.poll(requested, { timeout: 10_000 }).toBeGreaterThanOrEqual(2)
      // The link to another origin is followed as a navigation, which ends what the page was about to load.
      await page.evaluate(
        (href) => Object.assign(document.createElement('a'), { download: 'a.png', href }).click(),
        `${archive.origin}/a.png?link`,
      )
      // Firefox sends no request for the link, or a late one.
      if (name !== 'Firefox') await expect.poll(requested, { timeout: 10_000 }).toBeGreaterThanOrEqual(3)
      const sent = archive.exchanges.slice(before).map(({ request }) => request.headers.authorization)
      expect(sent.filter((authorization) => authorization !== undefined)).toEqual([])
    })

    it('reports nothing to other hosts, also behind a redirect, and leaves their pictures as they were', async () => {
      const page = await watchedPage()
      const before = stranger.exchanges.length
      expect(await picture(page, `${stranger.origin}/a.png`)).toBe(16)
      await picture(page, `${archive.origin}/moved/0/0/0`)
      const asked = stranger.exchanges.slice(before)
      expect(asked.length).toBeGreaterThan(0)
      expect(asked.filter(({ request }) => request.headers.authorization !== undefined)).toEqual([])
    })

    it('a service worker opens nothing without it, and nothing with a wrong token', async () => {
      const bare = await (await browser().newContext()).newPage()
      await bare.goto(`${site.origin}/`)
      expect(await picture(bare, `${archive.origin}/a.png`)).toBe(0)
      token = 'wrong'
      const page = await watchedPage()
      expect(await picture(page, `${archive.origin}/a.png`)).toBe(0)
      expect(archive.exchanges.at(-1)?.answer.status).toBe(401)
      token = 'right'
    })

    it('leaves pages, and what writes, to the page', async () => {
      const page = await watchedPage()
      const before = archive.exchanges.length
      await page.evaluate((url) => fetch(url, { method: 'POST', mode: 'no-cors' }).catch(() => {}), `${archive.origin}/a.png`)
      await page.evaluate(
        (src) =>
          new Promise((resolve) => {
            const frame = document.createElement('iframe')
            frame.onload = resolve
            frame.src = src
            document.body.append(frame)
          }),
        `${archive.origin}/a.png`,
      )
      const asked = archive.exchanges.slice(before).map(({ request }) => request.headers.authorization)
      expect(asked.length).toBeGreaterThan(1)
      expect(asked.every((sent) => sent === undefined)).toBe(true)
    })
  })
})
