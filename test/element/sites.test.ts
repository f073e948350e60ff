import { describe, expect, it } from 'vitest'
import { areDifferentSites, hostNameOf, siteOf } from '../../src/element/sites.ts'

describe('the site of a host', () => {
  it.each([
    ['data.example.org', 'example.org'],
    ['example.org', 'example.org'],
    ['a.b.data.ign.fr', 'ign.fr'],
    ['www.data.gov.uk', 'data.gov.uk'],
    ['tiles.csiro.com.au', 'csiro.com.au'],
    ['api.meteo.gouv.fr', 'meteo.gouv.fr'],
    ['someone.github.io', 'someone.github.io'],
    ['bucket.s3.eu-central-1.amazonaws.com', 'bucket.s3.eu-central-1.amazonaws.com'],
    ['localhost', 'localhost'],
    ['127.0.0.1', '127.0.0.1'],
    ['[::1]', '[::1]'],
  ])('%s is %s', (host, site) => {
    expect(siteOf(host)).toBe(site)
  })
})

describe('the parties of a credential', () => {
  it('are one site when catalog, files and provider share a registrable domain', () => {
    const parties = { catalog: 'stac.agency.example', files: ['data.agency.example'], provider: ['login.agency.example'] }
    expect(areDifferentSites(parties)).toBe(false)
  })

  it.each([
    ['the catalog', { catalog: 'stac.other.example', files: ['data.agency.example'], provider: ['login.agency.example'] }],
    ['one of the files', { catalog: 'stac.agency.example', files: ['data.agency.example', 'data.other.example'], provider: [] }],
    ['the provider', { files: ['data.agency.example'], provider: ['agency.example.login.test'] }],
    ['a user of the same host', { catalog: 'ada.github.io', files: ['eve.github.io'], provider: [] }],
  ])('are different when %s belongs to another site', (_name, parties) => {
    expect(areDifferentSites(parties)).toBe(true)
  })
})

it.each([
  ['https://user@data.example:8443/x', 'data.example'],
  ['https://BÜCHER.example/', 'xn--bcher-kva.example'],
  ['s3://bucket/key', undefined],
  ['data.example', undefined],
])('the host name of %s is %s', (address, host) => {
  expect(hostNameOf(address)).toBe(host)
})
