/** Maps in a real browser with tiles that need a key in a header of its own. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { root } from '../architecture/files.ts'
import type { AnsweringServer } from '../servers/answering-server.ts'
import { keyGuard } from '../servers/guards.ts'
import { useChromium } from './chromium.ts'
import { scriptOf } from './page-script.ts'
import { png, startHoldings, startSite } from './page-server.ts'

const browser = useChromium()
const points = { type: 'FeatureCollection', features: [] }
const files = {
  '/tile': { type: 'image/png', body: png(256) },
  '/a.geojson': { type: 'application/json', body: Buffer.from(JSON.stringify(points)) },
}

let site: AnsweringServer
let archive: AnsweringServer
let stranger: AnsweringServer

beforeAll(async () => {
  const page = '<!doctype html><meta charset="utf-8"><div id="map" style="width:256px;height:256px"></div><script src="/maps.js"></script>'
  const type = 'text/javascript'
  const library = (name: string) => readFile(join(root, 'node_modules/maplibre-gl/dist', name), 'utf8')
  site = await startSite(
    {
      '/': { type: 'text/html', body: page },
      '/maps.js': { type, body: await scriptOf('test/peers/maps-in-page.ts') },
      '/maplibre-gl-worker.mjs': { type, body: await library('maplibre-gl-worker.mjs') },
      '/maplibre-gl-shared.mjs': { type, body: await library('maplibre-gl-shared.mjs') },
    },
    () => ({ status: 405 }),
  )
  stranger = await startHoldings({ files, allows: { origin: '*', headers: '' } })
  archive = await startHoldings({
    files,
    guard: keyGuard('header', 'x-archive-key', 'right'),
    moved: stranger.origin,
    allows: { origin: site.origin, headers: 'x-archive-key' },
  })
}, 60_000)
afterAll(() => Promise.all([site.close(), archive.close(), stranger.close()]))

async function inPage(call: string): Promise<unknown> {
  const page = await (await browser().newContext()).newPage()
  await page.goto(`${site.origin}/`)
  await page.waitForFunction('"drawMap" in globalThis')
  return page.evaluate(call)
}

const statusesOf = (path: string) =>
  archive.exchanges.filter(({ request }) => request.method === 'GET' && request.path.startsWith(path)).map(({ answer }) => answer.status)
const toldToStranger = () => stranger.exchanges.filter(({ request }) => 'x-archive-key' in request.headers)

describe('a map of MapLibre', () => {
  it('shows tiles and data of the archive and of others, and follows no redirect with the key', async () => {
    const failures = await inPage(`drawMap('${archive.origin}', '${stranger.origin}', 'right')`)
    expect(new Set(failures as unknown[])).toEqual(new Set(['REDIRECT_CROSS_ORIGIN']))
    expect(new Set(statusesOf('/tiles/'))).toEqual(new Set([200]))
    expect(statusesOf('/a.geojson')).toEqual([200])
    expect(stranger.exchanges.filter(({ request }) => request.path.startsWith('/tiles/')).length).toBeGreaterThan(0)
    expect(toldToStranger()).toEqual([])
  })

  it('shows none with a wrong key', async () => {
    const before = statusesOf('/tiles/').length
    const failures = await inPage(`drawMap('${archive.origin}', '${stranger.origin}', 'wrong', 3)`)
    expect(new Set(failures as unknown[])).toEqual(new Set(['AUTH_REJECTED']))
    expect(new Set(statusesOf('/tiles/').slice(before))).toEqual(new Set([403]))
  })
})

describe('a tile of OpenLayers', () => {
  it('a tile of OpenLayers comes with the key, and neither with a wrong one nor through a redirect', async () => {
    expect(await inPage(`loadTile('${archive.origin}', 'tiles', 'right')`)).toBe(256)
    expect(await inPage(`loadTile('${archive.origin}', 'tiles', 'wrong')`)).toBe('error')
    expect(await inPage(`loadTile('${archive.origin}', 'moved', 'right')`)).toBe('error')
    expect(toldToStranger()).toEqual([])
  })
})

describe('a map of Leaflet', () => {
  it('shows tiles with the key, none with a wrong one or through a redirect, and sends it to no other host', async () => {
    expect(await inPage(`drawLeaflet('${archive.origin}', '${archive.origin}/tiles', 'right')`)).toEqual([4])
    expect(await inPage(`drawLeaflet('${archive.origin}', '${archive.origin}/tiles', 'wrong')`)).toEqual([0, 'AUTH_REJECTED'])
    expect(await inPage(`drawLeaflet('${archive.origin}', '${archive.origin}/moved', 'right')`)).toEqual([0, 'REDIRECT_CROSS_ORIGIN'])
    expect(await inPage(`drawLeaflet('${archive.origin}', '${stranger.origin}/tiles', 'right')`)).toEqual([0, 'URL_INSECURE'])
    expect(toldToStranger()).toEqual([])
  })
})
