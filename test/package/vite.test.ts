import type { Rollup } from 'vite'
import { describe, expect, it } from 'vitest'
import { MOST_SCRIPTS, STRATEGIES } from '../../scripts/sizes.ts'
import { builtByVite, LINT, ONE_FETCH, ONE_STRATEGY, scriptsFor } from '../../scripts/vite-page.ts'

const LOGINS = /oauth4webapi|openid-client|strategies\/oauth2|strategies\/open-id-connect/

/** An application as people have it: an empty folder of its own, in which the package is installed. */
describe('an application that Vite builds', () => {
  /** The modules of which something is left. */
  const carried = (chunks: readonly Rollup.OutputChunk[]) =>
    chunks.flatMap(({ modules }) => Object.keys(modules).filter((id) => (modules[id]?.renderedLength ?? 0) > 0))

  it('carries no logins in any chunk when it brings one strategy', async () => {
    const chunks = await builtByVite(ONE_STRATEGY)
    const modules = carried(chunks)
    expect(modules.filter((id) => /dist\/(?:auth\/engine|strategies\/api-key)\.js$/.test(id))).toHaveLength(2)
    expect(modules.filter((id) => LOGINS.test(id))).toEqual([])
    expect(
      modules.filter((id) => /dist\/(?:node|cli|lint)\/|platform\/node|dist\/strategies\/(?!api-key|credential-values|index)/.test(id)),
    ).toEqual([])
    expect(chunks.filter(({ code }) => /authorization_endpoint|code_verifier/.test(code)).map(({ fileName }) => fileName)).toEqual([])
  })

  it('carries them when it brings all, which the check notices, and loads them only when they are needed', async () => {
    const chunks = await builtByVite(ONE_FETCH)
    expect(carried(chunks).filter((id) => LOGINS.test(id)).length).toBeGreaterThan(3)
    expect(chunks.some(({ code }) => /authorization_endpoint|code_verifier/.test(code))).toBe(true)
    const [entry] = chunks.filter(({ isEntry }) => isEntry)
    const named = new Map(chunks.map((chunk) => [chunk.fileName, chunk]))
    const atOnce = [entry, ...(entry?.imports ?? []).map((name) => named.get(name))].flatMap((chunk) => (chunk ? carried([chunk]) : []))
    expect(atOnce.length).toBeGreaterThan(3)
    expect(atOnce.filter((id) => LOGINS.test(id))).toEqual([])
  })

  it('loads schemas and rules only with the first document that needs them', async () => {
    const chunks = await builtByVite(LINT)
    const [entry] = chunks.filter(({ isEntry }) => isEntry)
    expect(entry?.imports).toEqual([])
    expect(carried(entry ? [entry] : []).filter((id) => /dist\/lint\/(?:lint|runner|rules|schema)/.test(id))).toEqual([])
    expect(carried(chunks).filter((id) => /dist\/lint\/(?:lint|rules\/index|schema\/validators)\.js$/.test(id))).toHaveLength(3)
  })

  it.each(Object.entries(MOST_SCRIPTS))('loads few scripts for %s', async (row, most) => {
    const { later = [] } = STRATEGIES.find(({ name }) => name === row) ?? {}
    expect(later.length).toBeGreaterThan(1)
    const scripts = scriptsFor(await builtByVite(ONE_FETCH), later)
    expect(carried(scripts).some((id) => id.endsWith('/dist/auth/engine.js'))).toBe(true)
    expect(scripts.length).toBeLessThanOrEqual(most)
  })
})
