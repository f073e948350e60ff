import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { platform as node } from '../../src/platform/node.ts'
import { platform as web } from '../../src/platform/web.ts'
import { importsOf } from '../architecture/imports.ts'

describe('both platforms', () => {
  it('both platforms have the same members, but for checks and packages that pages do not load', () => {
    expect([...Object.keys(web), 'checkClient', 'checkOptions', 'checkStrategies', 'optionalPackages'].sort()).toEqual(
      Object.keys(node).sort(),
    )
  })

  it.each([
    ['node', node],
    ['web', web],
  ])('%s hashes and signs alike', async (_name, platform) => {
    expect(await platform.sha256Hex('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
    const key = await platform.hmacKey(new TextEncoder().encode('Jefe'))
    expect(await key.signHex('what do ya want for nothing?')).toBe('5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843')
  })

  it.each([
    ['node', node],
    ['web', web],
  ])('%s has a transport that refuses private addresses', async (_name, platform) => {
    const send = await platform.defaultTransport()
    await expect(send({ method: 'GET', url: 'https://10.0.0.1/', headers: {} })).rejects.toMatchObject({ code: 'URL_ADDRESS_FORBIDDEN' })
  })
})

describe('the web platform', () => {
  it('reports that sources, profiles and tickets are read on Node', async () => {
    await expect(web.secretSource({ env: 'NAME' }).read()).rejects.toMatchObject({
      name: 'UnsupportedError',
      code: 'UNSUPPORTED_IN_BROWSER',
    })
    await expect(web.s3Keys({ profile: 'eo' })()).rejects.toMatchObject({ code: 'UNSUPPORTED_IN_BROWSER' })
    await expect(web.securityContext({ id: 'a', service: 'HTTP@b' })).rejects.toMatchObject({ code: 'UNSUPPORTED_IN_BROWSER' })
  })

  it('imports nothing of Node', async () => {
    const seen = new Set<string>()
    const visit = async (url: URL): Promise<void> => {
      if (seen.has(url.href)) return
      seen.add(url.href)
      const source = await readFile(url, 'utf8')
      for (const { kind, specifier: name = '' } of importsOf(source)) {
        if (kind === 'type') continue
        expect(name, `${url.pathname} imports ${name}`).toMatch(/^\.{1,2}\//)
        await visit(new URL(name, url))
      }
    }
    await visit(new URL('../../src/platform/web.ts', import.meta.url))
    expect(seen.size).toBeGreaterThan(5)
  })
})
