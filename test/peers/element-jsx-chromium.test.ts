/** `<stac-auth>` in components of React and Preact, which are those of the type tests, in a real browser. */
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { root } from '../architecture/files.ts'
import { type AnsweringServer, startAnswering } from '../servers/answering-server.ts'
import { useChromium } from './chromium.ts'
import { itemOf, openPage } from './element-page.ts'

const browser = useChromium()
const RENDER = {
  react: `import { createElement } from 'react'; import { createRoot } from 'react-dom/client'
    const place = createRoot(document.querySelector('#place')); const render = (tree) => place.render(tree)`,
  preact: `import { createElement, render as put } from 'preact'
    const render = (tree) => put(tree, document.querySelector('#place'))`,
}

const KEY = { type: 'apiKey', in: 'header', name: 'x-api-key' }
const PRIVATE = itemOf({ key: KEY }, { a: ['https://data.catalog.example/a', 'key'] })
const PUBLIC = itemOf({}, { a: ['https://data.catalog.example/a'] })

describe.each(['react', 'preact'] as const)('a component of %s', (framework) => {
  let site: AnsweringServer
  beforeAll(async () => {
    const script = await scriptOf(framework)
    site = await startAnswering(({ path }) => {
      if (path === '/app.js') return { status: 200, headers: { 'content-type': 'text/javascript' }, body: script }
      const body =
        '<!doctype html><html lang="en"><title>Catalog</title><div id="place"></div><script type="module" src="/app.js"></script>'
      return { status: 200, headers: { 'content-type': 'text/html' }, body }
    })
  }, 60_000)
  afterAll(() => site.close())

  it('sets properties and attributes, and hears events', async () => {
    const { page, complaints } = await openPage(browser(), site)
    await page.evaluate((item) => Reflect.get(globalThis, 'access')({ item }), PRIVATE)
    await page.getByRole('heading', { name: 'Sign in', level: 3 }).waitFor()
    await page.getByRole('button', { name: 'Eingeben' }).waitFor()
    await page.getByText('Read the terms first.').waitFor()
    const facts = await page.evaluate(() => {
      const { atProvider, watchClosing, locale, typed, logins, className, state } = document.querySelector('stac-auth') ?? ({} as never)
      return { atProvider, watchClosing, locale, typed, logins: logins !== undefined, className, state }
    })
    const typed = ['http://127.0.0.1:8080/']
    expect(facts).toEqual({
      atProvider: true,
      watchClosing: false,
      locale: 'de',
      typed,
      logins: true,
      className: 'access',
      state: 'needed',
    })
    expect(await page.evaluate(() => Reflect.get(globalThis, 'ready'))).toEqual([])
    await page.evaluate((item) => Reflect.get(globalThis, 'access')({ item }), PUBLIC)
    await expect.poll(() => page.evaluate(() => Reflect.get(globalThis, 'ready'))).toEqual(['open'])
    expect(complaints).toEqual([])
  }, 30_000)

  it('takes back what it has set', async () => {
    const { page, complaints } = await openPage(browser(), site)
    const typed = ['http://127.0.0.1:8080/']
    const clients = [{ issuer: 'https://login.catalog.example/', clientId: 'page' }]
    const all = { document: PRIVATE, url: 'https://catalog.example/', parents: [{}], typed, clients, strings: { title: 'Sign in' } }
    await page.evaluate((given) => Reflect.get(globalThis, 'wrapped')(given), {
      ...all,
      locale: 'de',
      watchClosing: false,
      atProvider: true,
    })
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.evaluate((document) => Reflect.get(globalThis, 'wrapped')({ document }), PRIVATE)
    await page.getByRole('heading', { name: 'Access' }).waitFor()
    await page.getByRole('button', { name: 'Enter it' }).click()
    await page.getByLabel('Key', { exact: true }).waitFor()
    const left = await page.evaluate(() => {
      const {
        url,
        parents,
        typed: hosts,
        clients: known,
        strings,
        watchClosing,
        atProvider,
      } = document.querySelector('stac-auth') ?? ({} as never)
      return { url, parents, typed: hosts, clients: known, strings, watchClosing, atProvider }
    })
    expect(left).toEqual({ typed: [], clients: [], strings: {}, watchClosing: true, atProvider: false })
    expect(complaints).toEqual([])
  }, 30_000)
})

/** Bundles the components; `access` and `wrapped` render them. */
async function scriptOf(framework: keyof typeof RENDER): Promise<string> {
  const contents = `import { createLiveAuth } from 'stac-auth/browser'
    import { defineStacAuth } from 'stac-auth/element'
    import { Access, Wrapped } from './test/types/jsx/access.tsx'
    ${RENDER[framework]}
    defineStacAuth()
    const auth = createLiveAuth({ credentials: [] })
    const ready = []
    const onReady = ({ detail }) => ready.push(detail.state)
    const access = (props) => render(createElement(Access, { ...props, onReady }))
    const wrapped = (props) => render(createElement(Wrapped, { auth, ...props }))
    Object.assign(globalThis, { ready, access, wrapped })`
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: root, loader: 'ts' },
    alias: {
      '#framework': join(root, `test/types/jsx/${framework}.ts`),
      '#platform': join(root, 'src/platform/web.ts'),
      'stac-auth/browser': join(root, 'src/browser/index.ts'),
      'stac-auth/element': join(root, 'src/element/index.ts'),
    },
    jsx: 'automatic',
    jsxImportSource: framework,
    define: { 'process.env.NODE_ENV': '"production"' },
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    write: false,
    logLevel: 'silent',
  })
  return outputFiles[0]?.text ?? ''
}
