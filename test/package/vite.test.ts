import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build, type Rollup } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { root } from '../architecture/files.ts'

const ONE_STRATEGY = `
  import { assetOf, createEngine } from 'stac-auth/engine'
  import { apiKey } from 'stac-auth/strategies/api-key'
  const auth = createEngine({ credentials: [], strategies: [apiKey] })
  globalThis.answer = auth.fetch(assetOf(globalThis.item, 'data'))`

const ALL_STRATEGIES = `
  import { assetOf, createAuth } from 'stac-auth'
  globalThis.answer = createAuth({ credentials: [] }).fetch(assetOf(globalThis.item, 'data'))`

const LOGINS = /oauth4webapi|openid-client|strategies\/oauth2|strategies\/open-id-connect/

/** An application as people have it: an empty folder of its own, in which the package is installed. */
describe('an application that Vite builds', () => {
  let folder = ''
  beforeAll(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'stac-auth-vite-')))
    await mkdir(join(folder, 'node_modules'))
    await symlink(root, join(folder, 'node_modules/stac-auth'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  /** Everything that is written out for the program, also what is loaded later, or never. */
  async function chunksOf(program: string): Promise<readonly Rollup.OutputChunk[]> {
    await writeFile(join(folder, 'main.js'), program)
    const output = await build({
      root: folder,
      configFile: false,
      logLevel: 'error',
      build: {
        write: false,
        target: 'es2022',
        rolldownOptions: { input: join(folder, 'main.js'), external: ['@cloudflare/privacypass-ts'] },
      },
    })
    if (Array.isArray(output) || !('output' in output)) throw new Error('Vite gave no single output')
    return output.output.filter((file) => file.type === 'chunk')
  }

  /** The modules of which something is left. */
  const carried = (chunks: readonly Rollup.OutputChunk[]) =>
    chunks.flatMap(({ modules }) => Object.keys(modules).filter((id) => (modules[id]?.renderedLength ?? 0) > 0))

  it('carries no logins in any chunk when it brings one strategy', async () => {
    const chunks = await chunksOf(ONE_STRATEGY)
    const modules = carried(chunks)
    expect(modules.filter((id) => /dist\/(?:auth\/runtime|strategies\/api-key)\.js$/.test(id))).toHaveLength(2)
    expect(modules.filter((id) => LOGINS.test(id))).toEqual([])
    expect(modules.filter((id) => /dist\/(?:node|cli|lint)\/|platform\/node|dist\/strategies\/(?!api-key|reveal)/.test(id))).toEqual([])
    expect(chunks.filter(({ code }) => /authorization_endpoint|code_verifier/.test(code)).map(({ fileName }) => fileName)).toEqual([])
  })

  it('carries them when it brings all, which the check notices, and loads them only when they are needed', async () => {
    const chunks = await chunksOf(ALL_STRATEGIES)
    expect(carried(chunks).filter((id) => LOGINS.test(id)).length).toBeGreaterThan(3)
    expect(chunks.some(({ code }) => /authorization_endpoint|code_verifier/.test(code))).toBe(true)
    const [entry] = chunks.filter(({ isEntry }) => isEntry)
    const named = new Map(chunks.map((chunk) => [chunk.fileName, chunk]))
    const atOnce = [entry, ...(entry?.imports ?? []).map((name) => named.get(name))].flatMap((chunk) => (chunk ? carried([chunk]) : []))
    expect(atOnce.length).toBeGreaterThan(3)
    expect(atOnce.filter((id) => LOGINS.test(id))).toEqual([])
  })
})
