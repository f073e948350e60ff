import { describe, expect, it } from 'vitest'
import { type Needs, needsOf } from '../../src/element/needs.ts'
import { stateOf } from '../../src/element/provider-facts.ts'
import { createAuth, targetsOf } from '../../src/index.ts'
import { unchecked } from '../harness/unchecked.ts'

const KEY = { type: 'apiKey', in: 'header', name: 'x-api-key' }
const LOGIN = { type: 'openIdConnect', openIdConnectUrl: 'https://login.agency.example/.well-known/openid-configuration' }
const key = (id: string, ...sendTo: string[]) => ({ id, ...KEY, value: 'secret', sendTo })
const login = (...sendTo: string[]) => ({
  id: 'portal',
  type: 'openIdConnect',
  issuer: 'https://login.agency.example/',
  clientId: 'c',
  sendTo,
})

function item(schemes: object, assets: Readonly<Record<string, readonly string[]>>) {
  return {
    type: 'Feature',
    stac_version: '1.1.0',
    properties: { 'auth:schemes': schemes },
    links: [],
    assets: Object.fromEntries(
      Object.entries(assets).map(([name, [href, ...refs]]) => [name, { href, ...(refs.length > 0 && { 'auth:refs': refs }) }]),
    ),
  }
}

async function needs(document: object, credentials: readonly object[] = [], url = 'https://stac.agency.example/item.json'): Promise<Needs> {
  const auth = createAuth({ credentials: unchecked(credentials as never), transport: () => Promise.reject(new Error('no network here')) })
  return needsOf(targetsOf(document, { url }), auth, {}, new AbortController().signal)
}

const summary = ({ groups }: Needs) =>
  groups.map((providers) =>
    providers.map((provider) => [stateOf(provider), provider.count, provider.model?.sendTo ?? provider.refusal?.code]),
  )

describe('what a document needs', () => {
  it('is nothing for public assets', async () => {
    expect(await needs(item({}, { a: ['https://data.agency.example/a'] }))).toEqual({ groups: [] })
  })

  it('is shown once per provider, not per file or document', async () => {
    const features = Array.from({ length: 300 }, (_, index) => item({ k: KEY }, { a: [`https://data.agency.example/${index}`, 'k'] }))
    const found = await needs({ type: 'FeatureCollection', features })
    expect(summary(found)).toEqual([[['needed', 300, ['https://data.agency.example/']]]])
  })

  it('is one credential for hosts of one scheme, and two for one scheme of documents on different sites', async () => {
    const one = item({ k: KEY }, { a: ['https://data.agency.example/a', 'k'], b: ['https://tiles.agency.example/b', 'k'] })
    const other = item({ k: KEY }, { a: ['https://data.other.example/a', 'k'] })
    expect(summary(await needs({ type: 'FeatureCollection', features: [one, other] }))).toEqual([
      [['needed', 2, ['https://data.agency.example/', 'https://tiles.agency.example/']]],
      [['needed', 1, ['https://data.other.example/']]],
    ])
  })

  it('is a choice where a file has several schemes, unless one of them is needed for another file anyway', async () => {
    const choice = item({ k: KEY, l: LOGIN }, { a: ['https://data.agency.example/a', 'k', 'l'] })
    expect(summary(await needs(choice))).toEqual([
      [
        ['needed', 1, ['https://data.agency.example/']],
        ['needed', 1, ['https://data.agency.example/']],
      ],
    ])
    const anyway = item({ k: KEY, l: LOGIN }, { a: ['https://data.agency.example/a', 'k', 'l'], b: ['https://data.agency.example/b', 'k'] })
    expect(summary(await needs(anyway))).toEqual([[['needed', 2, ['https://data.agency.example/']]]])
  })

  it('names the credential that is in use, that needs a login, or that may not be sent to a host', async () => {
    const document = item(
      { k: KEY, l: LOGIN },
      { a: ['https://data.agency.example/a', 'k'], b: ['https://more.agency.example/b', 'k'], c: ['https://data.agency.example/c', 'l'] },
    )
    const { groups } = await needs(document, [key('mine', 'https://data.agency.example/'), login('https://data.agency.example/')])
    const [[first] = [], [second] = []] = groups
    expect(first).toMatchObject({ ready: ['mine'], widen: { credential: 'mine', patterns: ['https://more.agency.example/'] } })
    expect(first && stateOf(first)).toBe('widen')
    expect(second).toMatchObject({ login: 'portal', ready: [], isMissing: false })
  })

  it('offers no credential for what is refused', async () => {
    const document = item(
      { odd: { type: 'odd' }, evil: { ...LOGIN, openIdConnectUrl: 'http://login.agency.example/' } },
      {
        a: ['https://data.agency.example/a', 'odd'],
        b: ['https://data.agency.example/b', 'none'],
        c: ['http://data.agency.example/c', 'odd'],
      },
    )
    expect(summary(await needs(document))).toEqual([
      [['unsupported', 1, 'SCHEME_UNSUPPORTED']],
      [['refused', 1, 'SCHEME_NOT_FOUND']],
      [['refused', 1, 'URL_INSECURE']],
    ])
  })

  it('tells that a credential for the files uses another provider', async () => {
    const document = item(
      { l: { ...LOGIN, openIdConnectUrl: 'https://evil.example/.well-known/openid-configuration' } },
      {
        a: ['https://data.agency.example/a', 'l'],
      },
    )
    const { groups } = await needs(document, [login('https://data.agency.example/')])
    expect(groups).toMatchObject([
      [
        {
          isMissing: true,
          endpointDiffers: true,
          parties: { catalog: 'stac.agency.example', files: ['data.agency.example'], provider: ['evil.example'] },
        },
      ],
    ])
  })

  it('does not warn of different sites within one site', async () => {
    const { groups } = await needs(item({ l: LOGIN }, { a: ['https://data.agency.example/a', 'l'] }))
    expect(groups[0]?.[0]).not.toHaveProperty('parties')
  })

  it('ends when its result is no longer wanted', async () => {
    const work = new AbortController()
    work.abort()
    const targets = targetsOf(item({ k: KEY }, { a: ['https://data.agency.example/a', 'k'] }))
    await expect(needsOf(targets, createAuth({ credentials: [] }), {}, work.signal)).rejects.toThrow()
  })
})
