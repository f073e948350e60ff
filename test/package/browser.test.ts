import { mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { bundle } from '../../scripts/bundle.ts'
import { ADAPTER_BUDGETS, BUDGETS, OPEN_ID_LOGIN, OPEN_ID_LOGIN_BUDGET } from '../../scripts/sizes.ts'

/** Modules that a browser must never load with an entry. */
const NOT_FOR_BROWSERS =
  /(?:^|[^\w-])node:|node_modules\/(?:undici|@aws-sdk|@smithy|openid-client|oauth4webapi|commander)\/|dist\/(?:node|cli)\/|platform\/node/

describe.each(BUDGETS)('$entry in a browser', ({ entry, budget }) => {
  it('stays within its budget', async () => {
    const { eager } = await bundle(entry)
    expect(eager).toBeGreaterThan(500)
    expect(eager).toBeLessThanOrEqual(budget)
  })

  it('loads no Node code, no undici, no AWS SDK and no openid-client at once', async () => {
    const { eagerModules, eagerText } = await bundle(entry)
    expect(eagerModules.length).toBeGreaterThan(3)
    expect(eagerModules.filter((path) => NOT_FOR_BROWSERS.test(path))).toEqual([])
    expect(eagerText.match(/(?:from|import|require)\s*\(?\s*["'](?:node:[^"']*)["']/g)).toBeNull()
  })

  it('needs no code made from text, so that it runs under a content security policy', async () => {
    const { eagerText } = await bundle(entry)
    expect(eagerText.match(/\bnew Function\b|\beval\(|\brequire\(/g)).toBeNull()
  })
})

it('a page with a login by OpenID Connect stays within its budget, with the used parts of openid-client', async () => {
  const { eager, eagerText } = await bundle(OPEN_ID_LOGIN)
  expect(eager).toBeGreaterThan(20_000)
  expect(eager).toBeLessThanOrEqual(OPEN_ID_LOGIN_BUDGET)
  const unused = /ERR_JWE_DECRYPTION_FAILED/
  expect((await bundle('openid-client')).eagerText).toMatch(unused)
  expect(eagerText).not.toMatch(unused)
})

it('every adapter but the one for a validator has a budget', async () => {
  const names = (await readdir(new URL('../../src/adapters', import.meta.url))).map((name) => name.replace(/\.ts$/, ''))
  expect(names.filter((name) => name !== 'stac-node-validator').sort()).toEqual(Object.keys(ADAPTER_BUDGETS).sort())
})

describe.each(Object.entries(ADAPTER_BUDGETS))('the adapter %s in a browser', (name, budget) => {
  it('stays within its budget, without its library and without the engine', async () => {
    const { eager, eagerModules, eagerText } = await bundle(`dist/adapters/${name}.js`)
    expect(eager).toBeGreaterThan(100)
    expect(eager).toBeLessThanOrEqual(budget)
    expect(eagerModules.filter((path) => NOT_FOR_BROWSERS.test(path) || /node_modules|create-auth|strategies/.test(path))).toEqual([])
    expect(eagerText.match(/\bnew Function\b|\beval\(|\brequire\(/g)).toBeNull()
  })
})

describe('the check for browsers', () => {
  it.each([
    'node_modules/undici/index.js',
    'dist/node/index.js',
    'node_modules/openid-client/build/index.js',
    'dist/platform/node.js',
    'node:fs',
  ])('would notice %s', (path) => expect(path).toMatch(NOT_FOR_BROWSERS))

  it('fails to build a module that imports Node code', async () => {
    await expect(bundle('dist/node/index.js')).rejects.toThrow(/node:/)
  })

  it('reports what is loaded at once from what is loaded when needed', async () => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'stac-auth-bundle-')))
    const sources = {
      'entry.js': "import { a } from './a.js'\nexport const b = async () => (await import('./later.js')).later + a",
      'a.js': "import { shared } from './shared.js'\nexport const a = shared + 'at once'",
      'later.js': "import { shared } from './shared.js'\nexport const later = shared + 'when needed'",
      'shared.js': 'export const shared = Math.random()',
    }
    await Promise.all(Object.entries(sources).map(([name, text]) => writeFile(join(folder, name), text)))
    const { eagerModules, eagerText, eager } = await bundle('entry.js', folder)
    await rm(folder, { recursive: true })
    expect([...eagerModules].sort()).toEqual(['a.js', 'entry.js', 'shared.js'])
    expect(eagerText).toContain('at once')
    expect(eagerText).not.toContain('when needed')
    expect(eager).toBeGreaterThan(0)
  })
})
