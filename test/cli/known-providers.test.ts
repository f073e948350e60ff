/** Files of known providers: what `explain`, `download --dry-run` and `doctor` say, and which command they name. */
import { describe, expect, it } from 'vitest'
import { planetaryComputer } from '../../src/providers/planetary-computer.ts'
import { put, temporaryFolder } from './folder.ts'
import { itemAt } from './items.ts'
import { run } from './run.ts'

const folder = await temporaryFolder()
const CATALOG = 'https://planetarycomputer.microsoft.com/api/stac/v1'
const BLOB = 'https://landsateuwest.blob.core.windows.net/landsat-c2'

const itemOf = (hrefs: readonly string[], self?: string) =>
  itemAt(Object.fromEntries(hrefs.map((href, index) => [`a${index}`, { href }])), self)

const bands = await put(folder, 'bands.json', itemOf(Array.from({ length: 12 }, (_, index) => `${BLOB}/B${index}.TIF`)))
const none = await put(folder, 'none.json', { version: 1, credentials: [] })
const signing = await put(folder, 'signing.json', { version: 1, credentials: planetaryComputer() })
const NEED = 'Microsoft Planetary Computer: 12 assets need a signature (no account)'
const SETUP = 'stac-auth setup planetary-computer'

const command = (...argv: string[]) => run(argv)

describe('explain', () => {
  it('names the provider of files without references, and the command that sets it up', async () => {
    expect(await command('explain', bands, '--credentials', none)).toMatchObject({
      code: 0,
      stdout: `this document declares no authentication\n\n${NEED}. ${SETUP}\n`,
      stderr: '',
    })
  })

  it('names the credential that is used for them by their URL', async () => {
    const { stdout } = await command('explain', bands, '--credentials', signing)
    expect(stdout).toContain('  + by its URL: planetary-computer\n')
    expect(stdout).toContain(`${NEED}, and are requested with "planetary-computer"\n`)
    expect(stdout).not.toContain(SETUP)
  })

  it('has id, state and command of the provider in JSON', async () => {
    const providerOf = async (credentials: string) => {
      const { stdout } = await command('explain', bands, '--asset', 'a0', '--json', '--credentials', credentials)
      return JSON.parse(stdout)[0].provider
    }
    expect(await providerOf(none)).toEqual({ id: 'planetary-computer', state: 'missing', command: SETUP })
    expect(await providerOf(signing)).toEqual({ id: 'planetary-computer', state: 'ready', command: SETUP })
  })

  it('has one line for each provider, and at most 12 lines for many', async () => {
    const path = await put(
      folder,
      'many.json',
      itemOf([
        `${BLOB}/a.TIF`,
        'https://download.dataspace.copernicus.eu/odata/v1/Products(1)/$value',
        's3://eodata/Sentinel-2/a.jp2',
        'https://data.lpdaac.earthdatacloud.nasa.gov/lp-prod-protected/a.tif',
        's3://usgs-landsat/collection02/a.TIF',
        'https://api.eumetsat.int/data/download/1.0.0/a',
      ]),
    )
    const { stdout } = await command('explain', path, '--credentials', none)
    expect(stdout.split('\n').length - 1).toBeLessThanOrEqual(12)
    expect(stdout).toContain(
      'Copernicus Data Space Ecosystem: 2 assets need the user name and password of your account, or ' +
        'the access key and secret key of your account. stac-auth setup copernicus\n',
    )
    expect(stdout).toContain('2 more providers: --all names each\n')
    const { stdout: all } = await command('explain', path, '--all', '--credentials', none)
    expect(all).toContain(
      'EUMETSAT Data Store: 1 asset needs the consumer key and consumer secret of your account. stac-auth setup eumetsat\n',
    )
  })

  it('does not count what carries a signature, nor links between documents of a provider', async () => {
    const item = itemOf(
      [`${BLOB}/a.TIF?sv=2024-01-01&se=2099-01-01T00%3A00%3A00Z&sr=c&sp=rl&sig=abc`],
      'https://api.eumetsat.int/data/browse/1.0.0/x',
    )
    const { stdout } = await command('explain', await put(folder, 'signed.json', item), '--credentials', none)
    expect(stdout).not.toContain('stac-auth setup')
  })

  it('proposes the provider instead of credentials for references that only it answers', async () => {
    const item = itemOf(
      ['https://download.dataspace.copernicus.eu/odata/v1/Products(1)/$value'],
      'https://stac.dataspace.copernicus.eu/v1/x',
    )
    const oidc = {
      type: 'openIdConnect',
      openIdConnectUrl: 'https://identity.dataspace.copernicus.eu/auth/realms/CDSE/.well-known/openid-configuration',
    }
    const path = await put(folder, 'cdse.json', {
      ...item,
      properties: { ...item.properties, 'auth:schemes': { oidc } },
      assets: { a: { ...(item.assets.a0 as object), 'auth:refs': ['oidc'] } },
    })
    const { code, stdout, stderr } = await command('explain', path, '--credentials', none)
    expect(code).toBe(3)
    expect(stdout).toContain('NO_CREDENTIAL')
    expect(stdout).toContain('1 asset needs the user name and password of your account. stac-auth setup copernicus\n')
    expect(stdout + stderr).not.toMatch(/add this credential|setup \/|asks for what is missing/)
  })
})

describe('a document that only claims a provider', () => {
  it.each([
    [
      'hosts that look alike',
      itemOf(['https://landsateuwest.blob.core.windows.net.evil.example/a', 'https://download.dataspace.copernicus.eu@evil.example/a']),
    ],
    ['an account that is not one of its', itemOf(['https://evil.blob.core.windows.net/landsat-c2/a.TIF'])],
    ['an account of others in another catalog', itemOf([`${BLOB}/a.TIF`], 'https://evil.example/planetarycomputer.microsoft.com/x')],
    ['a catalog whose name contains it', itemOf([`${BLOB}/a.TIF`], 'https://planetarycomputer.microsoft.com.evil.example/x')],
    [
      'title, id and description',
      {
        ...itemOf(['https://evil.example/a.tif'], 'https://evil.example/x'),
        id: 'planetarycomputer.microsoft.com',
        properties: { datetime: '2026-01-01T00:00:00Z', title: 'planetarycomputer', description: CATALOG },
      },
    ],
    [
      'an issuer',
      {
        ...itemOf([], 'https://evil.example/x'),
        properties: {
          datetime: '2026-01-01T00:00:00Z',
          'auth:schemes': {
            oidc: { type: 'openIdConnect', openIdConnectUrl: 'https://identity.dataspace.copernicus.eu/auth/realms/CDSE' },
          },
        },
        assets: { a: { href: 'https://evil.example/a', 'auth:refs': ['oidc'] } },
      },
    ],
    ['URLs that are not encrypted', itemOf(['http://download.dataspace.copernicus.eu/odata/v1/a'])],
  ])('by %s is not recognized', async (_what, item) => {
    const path = await put(folder, 'claims.json', item)
    for (const argv of [
      ['explain', path],
      ['explain', path, '--json'],
      ['download', path, '--dry-run'],
      ['doctor', path],
    ]) {
      const { stdout, stderr } = await command(...argv, '--credentials', none)
      expect(stdout + stderr).not.toMatch(/stac-auth setup (?:planetary-computer|copernicus)|"provider"/)
    }
  })
})

it('download --dry-run names the provider of files that would be requested without a credential', async () => {
  expect((await command('download', bands, '--dry-run', '--credentials', none)).stdout).toContain(
    `${NEED}. ${SETUP}\n12 files of unknown size\n`,
  )
  expect((await command('download', bands, '--dry-run', '--credentials', signing)).stdout).not.toContain(SETUP)
})

describe('doctor', () => {
  it('compares credentials with the registry, field by field, without values of the user', async () => {
    const [made] = planetaryComputer()
    const old = { ...made, method: 'POST', sendTo: ['https://landsateuwest.blob.core.windows.net/', 'https://own.example/'] }
    const mine = {
      id: 'mine',
      type: 'apiKey',
      in: 'header',
      name: 'x',
      value: { env: 'MY_KEY' },
      sendTo: ['https://x.example/'],
      provider: 'later',
    }
    const path = await put(folder, 'old.json', { version: 1, credentials: [old, mine] })
    const { stdout } = await command('doctor', '--offline', '--credentials', path)
    expect(stdout).toMatch(
      /warning provider planetary-computer: .*: method is "GET"; sendTo lacks https:\/\/ai4edataeuwest\..* and 30 more\n {8}stac-auth setup planetary-computer\n/,
    )
    expect(stdout).toContain('ok      provider later: is not known to this version; "mine" is used as it is\n')
    expect(stdout).not.toContain('own.example')
    expect((await command('doctor', '--offline', '--credentials', signing)).stdout).toMatch(
      /ok {6}provider planetary-computer: "planetary-computer" is as known on \d/,
    )
  })

  it('says what the files of a document need, and the limits of their provider', async () => {
    const { stdout } = await command('doctor', bands, '--credentials', none)
    expect(stdout).toContain('ok      document: it declares no authentication\n')
    expect(stdout).toContain(`12 assets need a signature (no account), and no credential is used for them\n        ${SETUP}\n`)
    expect(stdout).toContain('ok      provider planetary-computer: Azure answers 404 or 409 to a request without a signature.\n')
  })
})
