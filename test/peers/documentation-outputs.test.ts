/** Compares what pages show after a command with what it prints, where the documents of the page are written down here or on the page. */
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type PageShell, pageShell } from './page-shell.ts'

const read = (page: string) => readFile(fileURLToPath(new URL(`../../${page}`, import.meta.url)), 'utf8')
const EXTENSION = ['https://stac-extensions.github.io/authentication/v1.1.0/schema.json']
const item = (schemes: object, assets: object, properties: object = {}) => ({
  type: 'Feature',
  stac_version: '1.1.0',
  stac_extensions: EXTENSION,
  id: 'scene-1',
  geometry: null,
  properties: { datetime: '2026-01-01T00:00:00Z', 'auth:schemes': schemes, ...properties },
  links: [],
  assets,
})

interface Scene {
  readonly files: Readonly<Record<string, unknown>>
  readonly credentials: readonly object[]
  readonly env?: Readonly<Record<string, string>>
  /** Commands that need a server of their own; they have tests of their own. */
  readonly without?: RegExp
  /** Blocks of the page that show a command, of which all are compared. */
  readonly blocks: number
}

const KEYS = { type: 's3', accessKeyId: { env: 'KEY_ID' }, secretAccessKey: { env: 'SECRET_KEY' } }

const SCENES: Readonly<Record<string, (page: string) => Scene>> = {
  'docs/publish.md': (page) => ({
    files: { 'my-catalog/item.json': /^```json\n([\s\S]*?)^```/m.exec(page)?.[1] ?? '' },
    credentials: [],
    blocks: 2,
  }),
  'docs/linting.md': (page) => ({
    files: {
      'lint.json': /^```json\n([\s\S]*?)^```/m.exec(page)?.[1] ?? '',
      'shared/lint.json': {},
      'catalog/catalog.json': { type: 'Catalog', stac_version: '1.1.0', id: 'catalog', description: 'A catalog', links: [] },
      'catalog/item.json': `{
  "type": "Feature",
  "stac_version": "1.1.0",
  "stac_extensions": ["${EXTENSION[0]}"],
  "id": "scene-1",
  "geometry": null,
  "properties": {
    "datetime": "2026-01-01T00:00:00Z",
    "auth:schemes": {
      "key": { "type": "apiKey", "name": "x-api-key", "in": "headers" }
    }
  },
  "links": [],
  "assets": {
    "data": { "href": "https://data.example/a.tif", "auth:refs": ["keys"] },
    "preview": { "href": "https://data.example/a.png", "auth:refs": "key" }
  }
}
`,
    },
    credentials: [],
    without: /--watch/,
    blocks: 2,
  }),
  'docs/outputs.md': () => ({
    files: {
      'item.json': item(
        {
          token: { type: 'http', scheme: 'bearer' },
          login: { type: 'http', scheme: 'basic' },
          key: { type: 'apiKey', in: 'header', name: 'x-key' },
          eo: { type: 's3', region: 'eu-central-1' },
          s3: { type: 's3' },
        },
        {
          B04: { href: 'https://data.example/B04.tif', 'auth:refs': ['token'] },
          B04_10m: { href: 's3://eodata/Sentinel-2/MSI/L2A/2026/11/04/T32UPU/R10m/B04.jp2', 'auth:refs': ['s3'] },
          scene: { href: 's3://eo/2026/B04.tif', 'auth:refs': ['eo'] },
          guide: { href: 'https://data.example/guide.pdf', 'auth:refs': ['login'] },
          thumbnail: { href: 'https://tiles.example/scene-1.png', 'auth:refs': ['key'] },
        },
      ),
    },
    credentials: [
      { id: 'token', type: 'http', scheme: 'bearer', token: { env: 'TOKEN' }, sendTo: ['https://data.example/'] },
      { id: 'ada', type: 'http', scheme: 'basic', username: 'ada', password: { env: 'PASSWORD' }, sendTo: ['https://data.example/'] },
      { id: 'key', type: 'apiKey', in: 'header', name: 'x-key', value: { env: 'PASSWORD' }, sendTo: ['https://tiles.example/'] },
      { id: 'eo', ...KEYS, region: 'eu-central-1', sendTo: ['s3://eo/'] },
      { id: 'eodata', ...KEYS, endpoint: 'https://eodata.eo.example/', region: 'default', sendTo: ['s3://eodata/'] },
    ],
    env: {
      TOKEN: 'mF_9.B5f-4.1JqM',
      PASSWORD: 'hunter2',
      KEY_ID: 'AKIAIOSFODNN7EXAMPLE',
      SECRET_KEY: 'wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY',
    },
    blocks: 5,
  }),
}

let pages: PageShell
beforeAll(async () => {
  pages = await pageShell()
})
afterAll(() => pages.remove())

it.each(Object.keys(SCENES))(
  '%s shows what its commands print',
  async (path) => {
    const page = await read(path)
    const { files, credentials, env, blocks, without } = (SCENES[path] as (page: string) => Scene)(page)
    const folder = await pages.folder(path, files, credentials)
    const all = [...page.matchAll(/^```text\n\$ (.*)\n([\s\S]*?)^```/gm)].map(([, command = '', output = '']) => ({ command, output }))
    const shown = all.filter(({ command }) => !without?.test(command))
    const printed: { command: string; output: string }[] = []
    for (const { command } of shown) printed.push({ command, output: (await pages.run(command, folder, env)).text })
    expect(printed).toEqual(shown)
    expect(shown.length).toBe(blocks)
  },
  90_000,
)
