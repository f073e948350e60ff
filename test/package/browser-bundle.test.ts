import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { BUNDLE_BUDGET } from '../../scripts/sizes.ts'
import { root } from '../architecture/files.ts'

const file = join(root, 'dist/browser.bundle.js')

describe('the bundle for pages without a bundler', () => {
  it('the bundle for pages without a bundler is what the hash beside it says', async () => {
    const { file: name, integrity } = JSON.parse(await readFile(join(root, 'dist/browser.bundle.json'), 'utf8'))
    expect(name).toBe('browser.bundle.js')
    expect(integrity).toBe(
      `sha384-${createHash('sha384')
        .update(await readFile(file))
        .digest('base64')}`,
    )
  })

  it('the bundle for pages without a bundler is not larger than its budget', async () => {
    expect(gzipSync(await readFile(file), { level: 9 }).length).toBeLessThanOrEqual(BUNDLE_BUDGET)
  })

  it('loads no other file', async () => {
    const text = await readFile(file, 'utf8')
    const loaded = [...text.matchAll(/(?:\bimport\s*\(?|\bfrom)\s*["']([\w@#./:-]+)["']/g)].map(([, specifier]) => specifier)
    expect(loaded).toEqual([])
    expect(text).toContain('//# sourceMappingURL=browser.bundle.js.map')
  })

  it('exports what the entries for pages export, and authorizes', async () => {
    const bundle = await import(/* @vite-ignore */ pathToFileURL(file).href)
    const entries = await Promise.all(
      ['index.js', 'browser/index.js', 'element/index.js'].map(
        (path) => import(/* @vite-ignore */ pathToFileURL(join(root, 'dist', path)).href),
      ),
    )
    const names = new Set(entries.flatMap((entry) => Object.keys(entry)))
    expect([...names]).toEqual(expect.arrayContaining(['createAuth', 'createLogins', 'createLiveAuth', 'defineStacAuth']))
    expect(Object.keys(bundle).sort()).toEqual([...names].sort())
    const auth = bundle.createAuth({ credentials: [bundle.bearer('t0ken', 'https://data.example/')] })
    const item = {
      type: 'Feature',
      properties: { 'auth:schemes': { token: { type: 'http', scheme: 'bearer' } } },
      assets: { data: { href: 'https://data.example/a.tif', 'auth:refs': ['token'] } },
      links: [],
    }
    const { headers } = await auth.authorize(bundle.assetOf(item, 'data'))
    expect(headers).toEqual({ authorization: 'Bearer t0ken' })
  })
})
