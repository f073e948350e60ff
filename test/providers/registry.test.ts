import { readdir, readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import type { SecretValue } from '../../src/auth/credential.ts'
import { readCredentials } from '../../src/auth/parse-credentials.ts'
import { loadStrategies } from '../../src/auth/strategy.ts'
import { isSharedSuffix, matchesAny, parseUrlPattern, type UrlPattern } from '../../src/auth/url-pattern.ts'
import { credentialsFrom, type Provider, type Way } from '../../src/providers/provider.ts'
import { providers } from '../../src/providers/registry.ts'
import { defaultStrategies } from '../../src/strategies/index.ts'

const strategies = await loadStrategies(defaultStrategies)
const named = providers.map((provider) => [provider.id, provider] as const)
const ways = providers.flatMap((provider) => provider.ways.map((way) => [`${provider.id} by ${way.id}`, provider, way] as const))

const patternsOf = ({ recognizes: { files, catalogs } }: Provider) => [...files, ...catalogs].map((text) => parseUrlPattern(text))

/** A value for each hole, as a file may have it. */
function valuesFor({ holes }: Way, optional = true): Record<string, SecretValue> {
  const wanted = Object.entries(holes).filter(([, hole]) => optional || !hole.optional)
  return Object.fromEntries(wanted.map(([name, { kind }]) => [name, kind === 'text' ? 'mine' : { env: 'VALUE' }]))
}

/** True when some URL matches both. */
function meet(one: UrlPattern, other: UrlPattern): boolean {
  if (one.scheme !== other.scheme || one.port !== other.port) return false
  const below = (host: string, { host: suffix, wildcard }: UrlPattern) => wildcard && host.endsWith(`.${suffix}`)
  const hosts = one.host === other.host ? one.wildcard === other.wildcard : below(one.host, other) || below(other.host, one)
  return hosts && (one.path.startsWith(other.path) || other.path.startsWith(one.path))
}

describe('the registry', () => {
  it('each id is unique, and so is each way in of a provider and each title', () => {
    const unique = (texts: readonly string[]) => expect(new Set(texts).size).toBe(texts.length)
    unique(providers.map(({ id }) => id))
    unique(providers.map(({ title }) => title))
    for (const { ways: own } of providers) unique(own.map(({ id }) => id))
    for (const { id, ways: own } of providers) for (const each of [id, ...own.map((way) => way.id)]) expect(each).toMatch(/^[a-z0-9-]+$/)
  })

  it.each(named)('%s names an account, sources and the day of the last look', (_id, { account, homepage, sources, checked, ways: own }) => {
    for (const url of [account.url, homepage, ...sources.map((source) => source.url)]) expect(new URL(url).protocol).toBe('https:')
    expect(sources.length).toBeGreaterThan(0)
    for (const text of [account.text, ...own.map(({ when }) => when)]) expect(text).toMatch(/^\S.{10,}\.$/)
    for (const { proves } of sources) expect(proves).toMatch(/^\S.+[^.]$/)
    expect(new Date(checked).toISOString().slice(0, 10)).toBe(checked)
  })

  it.each(named)('%s recognizes exact places over https', (_id, provider) => {
    const { files, catalogs, issuers, buckets } = provider.recognizes
    expect(files.length + buckets.length).toBeGreaterThan(0)
    for (const text of [...files, ...catalogs]) expect(text).toMatch(/^https:\/\/.*\/$/)
    for (const { host, wildcard } of patternsOf(provider)) if (wildcard) expect(isSharedSuffix(host)).toBe(false)
    for (const url of [...issuers, ...buckets.flatMap(({ endpoint }) => endpoint ?? [])]) expect(new URL(url).protocol).toBe('https:')
  })

  it('two providers never recognize the same URL, issuer or bucket', () => {
    const both: string[] = []
    providers.forEach((one, index) => {
      for (const other of providers.slice(index + 1)) {
        for (const first of patternsOf(one)) {
          for (const second of patternsOf(other)) if (meet(first, second)) both.push(`${first.pattern} ${second.pattern}`)
        }
      }
    })
    const places = providers.flatMap(({ recognizes: { issuers, buckets } }) => [
      ...issuers,
      ...buckets.map(({ name, endpoint = '' }) => `${endpoint} ${name}`),
    ])
    expect(both).toEqual([])
    expect(new Set(places).size).toBe(places.length)
  })

  it.each(ways)('%s gives credentials that a credential file may contain', (_name, provider, way) => {
    for (const optional of [true, false]) {
      const credentials = credentialsFrom(provider, way.id, valuesFor(way, optional))
      const read = readCredentials(credentials as never, strategies, 'file')
      expect(read.map((credential) => credential.provider)).toEqual(way.credentials.map(() => provider.id))
      expect(JSON.stringify(credentials)).not.toContain('"hole"')
    }
  })

  it.each(ways)('%s uses each of its holes, and has only holes that it describes', (_name, _provider, way) => {
    const used = [...JSON.stringify(way.credentials).matchAll(/\{"hole":"(\w+)"\}/g)].map(([, name]) => name)
    expect([...new Set(used)].sort()).toEqual(Object.keys(way.holes).sort())
    for (const { label, env = [] } of Object.values(way.holes)) {
      expect(label).toMatch(/^[A-Z].*[^.]$/)
      for (const name of env) expect(name).toMatch(/^[A-Z][A-Z0-9_]*$/)
    }
  })

  it.each(ways)('%s sends nothing to places that are not of the provider', (_name, provider, way) => {
    const { issuers, buckets } = provider.recognizes
    const own = [...patternsOf(provider), ...buckets.map(({ name }) => parseUrlPattern(`s3://${name}/`))]
    const credentials = readCredentials(credentialsFrom(provider, way.id, valuesFor(way)) as never, strategies, 'file')
    const strange = credentials.flatMap(({ sendTo }) => sendTo).filter((pattern) => !own.some((one) => meet(one, pattern)))
    const known: Readonly<Record<string, readonly string[]>> = {
      copernicus: ['https://s3-keys-manager.cloudferro.com/api/user/'],
      earthdata: ['https://urs.earthdata.nasa.gov/'],
    }
    expect(strange.map(({ pattern }) => pattern).filter((text) => !(known[provider.id] ?? []).includes(text))).toEqual([])
    expect(issuers).toEqual(expect.any(Array))
  })

  it('each place where files are recognized is opened by some way in', () => {
    const closed = providers.flatMap(({ id, recognizes, ways: own }) => {
      const sent = JSON.stringify(own.map(({ credentials }) => credentials.map(({ sendTo }) => sendTo)))
      const places = [...recognizes.files, ...recognizes.buckets.map(({ name }) => `s3://${name}/`)]
      return places.filter((place) => !sent.includes(JSON.stringify(place))).map((place) => `${id} ${place}`)
    })
    // Its login page opens them, and no credential.
    expect(closed).toEqual(['landsat https://landsatlook.usgs.gov/data/'])
  })

  it('a bundler can leave out each provider: its file calls nothing but marked functions when it is loaded', async () => {
    const folder = new URL('../../src/providers/', import.meta.url)
    for (const name of await readdir(folder)) {
      const code = (await readFile(new URL(name, folder), 'utf8')).replace(/\/\*\*[\s\S]*?\*\/|'[^'\n]*'/g, '')
      expect(code.match(/^(?:export )?const [^=]*= (?:\[[^\]]*\.\.\.|\{[^}]*\.\.\.\w+\(|\w+\().*/gm), name).toBeNull()
    }
  })

  it('orders are sent to the provider alone, and use only names of the URL or of earlier answers', () => {
    const orders = providers.flatMap((provider) => (provider.order ? [{ provider, order: provider.order }] : []))
    expect(orders.map(({ provider }) => provider.id)).toEqual(['ecmwf-ads', 'ecmwf-cds', 'ecmwf-ewds', 'eodms', 'planet', 'up42', 'wekeo'])
    for (const { provider, order } of orders) {
      const { files, parameters = [], request, status, result, location, costs } = order
      const probe = (template: string) => new URL(template.replace(/\{\w+(?::\w+)?\}/g, 'x'))
      for (const file of files) expect(matchesAny(patternsOf(provider), probe(file)), file).toBe(true)
      const inFiles = files.map((file) => [...file.matchAll(/\{(\w+)/g)].map(([, name]) => name).join())
      expect(new Set(inFiles).size).toBe(1)
      const known = new Set(['href', ...parameters, ...(inFiles[0] ?? '').split(',')])
      const namesIn = (text: string) =>
        [...text.matchAll(/\{(\w+)(?::uuid)?\}|"hole":"(\w+)"/g)].map(([, inUrl, inBody]) => inUrl ?? inBody)
      for (const step of [request, status, result]) {
        if (!step) continue
        if (!/^\{\w+\}/.test(step.url)) expect(matchesAny(patternsOf(provider), probe(step.url)), step.url).toBe(true)
        const used = [...namesIn(step.url), ...namesIn(JSON.stringify(step.body ?? null))]
        expect(used.filter((name) => !known.has(name ?? ''))).toEqual([])
        for (const name of Object.keys(step.answer ?? {})) known.add(name)
      }
      expect(namesIn(location).filter((name) => !known.has(name ?? ''))).toEqual([])
      if (costs !== undefined) expect(costs).toMatch(/^[a-z].+[^.]$/)
    }
  })

  it('ids of credentials are unique among all providers but for ways in of one credential', () => {
    const owner = new Map<string, string>()
    for (const { id, ways: own } of providers) {
      for (const credential of own.flatMap(({ credentials }) => credentials)) {
        expect(owner.get(credential.id) ?? id).toBe(id)
        owner.set(credential.id, id)
      }
    }
  })
})
