/** The examples of credentials for known providers, each at a stand-in that is as strict as the real one. */

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Redirection } from '../../src/auth/auth.ts'
import { createAuth } from '../../src/auth/create-auth.ts'
import type { CredentialObject, SecretValue } from '../../src/auth/credential.ts'
import { AuthError } from '../../src/errors.ts'
import type { HttpRequest } from '../../src/http/message.ts'
import { credentialsFromFile } from '../../src/node/credentials/credential-file.ts'
import { earthdata, providers } from '../../src/providers/index.ts'
import { credentialsFrom } from '../../src/providers/provider.ts'
import { assetOf } from '../../src/stac/target.ts'
import { root } from '../architecture/files.ts'
import { put, temporaryFolder } from '../cli/folder.ts'
import { found, item, type Json, scheme, target } from '../harness/documents.ts'
import { FakeClock } from '../harness/fake-clock.ts'
import { script } from '../harness/scripted.ts'
import { unchecked } from '../harness/unchecked.ts'
import { type ArchiveAnswer, CAREFUL_USER, createArchives, KEY_ID, SECRET, TOTP, USER } from '../servers/archives.ts'

afterEach(() => {
  vi.unstubAllEnvs()
})

const CDSE = 'https://identity.dataspace.copernicus.eu/auth/realms/CDSE/.well-known/openid-configuration'
const ZIPPER = 'https://zipper.dataspace.copernicus.eu/odata/v1/Products(7634aef0)/$value'
const S3 = { type: 's3' }

/** What is not usual about a file: by default only its own host hears of it. */
interface Special {
  readonly hosts?: readonly string[]
  readonly clientId?: string
  readonly user?: string
}

/** Provider and way in, the scheme of a file, and its URL. */
const ROWS: readonly (readonly [id: string, scheme: Json, href: string, special?: Special])[] = [
  ['copernicus password', scheme.oidc(CDSE), ZIPPER, { hosts: ['identity.dataspace.copernicus.eu', 'zipper.dataspace.copernicus.eu'] }],
  ['copernicus s3', S3, 's3://eodata/Sentinel-2/MSI/L2A/2024/01/10/a.jp2', { hosts: ['eodata.dataspace.copernicus.eu'] }],
  [
    'copernicus sentinel-hub',
    scheme.oidc(CDSE),
    'https://sh.dataspace.copernicus.eu/api/v1/catalog/1.0.0/collections',
    { hosts: ['identity.dataspace.copernicus.eu', 'sh.dataspace.copernicus.eu'], clientId: 'sh-mine' },
  ],
  [
    'earthdata password',
    scheme.bearer,
    'https://data.lpdaac.earthdatacloud.nasa.gov/lp-prod-protected/HLSL30.020/a.tif',
    { hosts: ['urs.earthdata.nasa.gov', 'data.lpdaac.earthdatacloud.nasa.gov', 'd1nklfio7vscoe.cloudfront.net'] },
  ],
  [
    'earthdata s3-password',
    S3,
    's3://lp-prod-protected/HLSL30.020/a.tif',
    { hosts: ['urs.earthdata.nasa.gov', 'data.lpdaac.earthdatacloud.nasa.gov', 'lp-prod-protected.s3.us-west-2.amazonaws.com'] },
  ],
  [
    'earthdata token',
    scheme.bearer,
    'https://data.lpdaac.earthdatacloud.nasa.gov/lp-prod-protected/HLSL30.020/a.tif',
    { hosts: ['data.lpdaac.earthdatacloud.nasa.gov', 'd1nklfio7vscoe.cloudfront.net'] },
  ],
  [
    'earthdata s3',
    S3,
    's3://lp-prod-protected/HLSL30.020/a.tif',
    { hosts: ['data.lpdaac.earthdatacloud.nasa.gov', 'lp-prod-protected.s3.us-west-2.amazonaws.com'] },
  ],
  [
    'eumetsat key',
    scheme.client('https://api.eumetsat.int/token'),
    'https://api.eumetsat.int/data/download/1.0.0/collections/EO%3AEUM%3ADAT%3A0407/products/a',
    { clientId: 'my-key' },
  ],
  [
    'terrascope password',
    scheme.oidc('https://sso.terrascope.be/auth/realms/terrascope/.well-known/openid-configuration'),
    'https://services.terrascope.be/download/WORLDCOVER/a.tif',
    { hosts: ['sso.terrascope.be', 'services.terrascope.be'] },
  ],
  ['dlr password', scheme.basic, 'https://download.geoservice.dlr.de/TDM30_EDEM/files/a.zip'],
  [
    'sentinel-hub client',
    scheme.client('https://services.sentinel-hub.com/auth/realms/main/protocol/openid-connect/token'),
    'https://services.sentinel-hub.com/api/v1/catalog/1.0.0/collections',
    { clientId: 'my-client' },
  ],
  ['landsat keys', S3, 's3://usgs-landsat/collection02/level-2/a.TIF', { hosts: ['usgs-landsat.s3.us-west-2.amazonaws.com'] }],
  [
    'earth-search keys',
    S3,
    's3://sentinel-s2-l1c/tiles/33/U/VR/2024/1/10/0/B01.jp2',
    { hosts: ['sentinel-s2-l1c.s3.eu-central-1.amazonaws.com'] },
  ],
  ['planet key', { type: 'http', scheme: 'api-key' }, 'https://api.planet.com/data/v1/download?token=of-the-asset'],
  ['planet basic', { type: 'http', scheme: 'basic' }, 'https://api.planet.com/data/v1/download?token=of-the-asset'],
  [
    'planet tiles',
    scheme.key('api_key', 'query'),
    'https://tiles.planet.com/basemaps/v1/planet-tiles/global_monthly_2024_02_mosaic/gmap/1/1/1.png',
  ],
  [
    'eodms password',
    scheme.oauth2({ password: { tokenUrl: 'https://www.eodms-sgdot.nrcan-rncan.gc.ca/aaa/v1/login', scopes: {} } }),
    'https://eodms-sgdot.nrcan-rncan.gc.ca/dds/v1/item/EODMS/Radarsat-2_Tropical_Forest_Products/4ff7a4b5',
    { hosts: ['www.eodms-sgdot.nrcan-rncan.gc.ca', 'eodms-sgdot.nrcan-rncan.gc.ca'] },
  ],
  [
    'planetary-computer no-account',
    scheme.signed('https://planetarycomputer.microsoft.com/api/sas/v1/sign'),
    'https://landsateuwest.blob.core.windows.net/landsat-c2/level-2/a.TIF',
    { hosts: ['planetarycomputer.microsoft.com', 'landsateuwest.blob.core.windows.net'] },
  ],
  [
    'planetary-computer container',
    scheme.signed('https://planetarycomputer.microsoft.com/api/sas/v1/token/{account}/{container}', { parameters: {} }),
    'https://landsateuwest.blob.core.windows.net/landsat-c2/level-2/a.TIF',
    { hosts: ['planetarycomputer.microsoft.com', 'landsateuwest.blob.core.windows.net'] },
  ],
  [
    'theia key',
    scheme.signed('https://signing.stac.teledetection.fr/sign', { parameters: { url: { in: 'query', required: true } } }),
    'https://s3-data.meso.umontpellier.fr/sentinel2-l2a/a.tif',
    { hosts: ['signing.stac.teledetection.fr', 's3-data.meso.umontpellier.fr'] },
  ],
  [
    'creodias password',
    scheme.oidc('https://identity.cloudferro.com/auth/realms/Creodias-new/.well-known/openid-configuration'),
    'https://zipper.creodias.eu/download/7634aef0',
    { hosts: ['identity.cloudferro.com', 'zipper.creodias.eu'], user: CAREFUL_USER },
  ],
  ['creodias s3', S3, 's3://eodata/Sentinel-2/a.jp2', { hosts: ['eodata.cloudferro.com'] }],
  [
    'up42 password',
    scheme.oidc('https://auth.up42.com/realms/public/.well-known/openid-configuration'),
    'https://api.up42.com/v2/assets/stac/a',
    { hosts: ['auth.up42.com', 'api.up42.com'] },
  ],
  ['nci-sara password', scheme.basic, 'https://copernicus.nci.org.au/sara.server/1.0/collections/S2/a/download'],
  ['geodes key', scheme.key('X-API-Key'), 'https://geodes-portal.cnes.fr/api/download/a'],
  ['hydroweb-next key', scheme.key('X-API-Key'), 'https://hydroweb.next.theia-land.fr/api/v1/a'],
  ['ecmwf-cds key', scheme.key('PRIVATE-TOKEN'), 'https://cds.climate.copernicus.eu/api/retrieve/v1/jobs/a'],
  ['ecmwf-ads key', scheme.key('PRIVATE-TOKEN'), 'https://ads.atmosphere.copernicus.eu/api/retrieve/v1/jobs/a'],
  ['ecmwf-ewds key', scheme.key('PRIVATE-TOKEN'), 'https://ewds.climate.copernicus.eu/api/retrieve/v1/jobs/a'],
  ['meteoblue key', scheme.key('apikey', 'query'), 'https://my.meteoblue.com/dataset/query'],
  ['brazil-data-cube token', scheme.key('access_token', 'query'), 'https://data.inpe.br/bdc/data/a.tif'],
  ['vantor key', scheme.key('maxar-api-key'), 'https://api.maxar.com/discovery/v1/a'],
  ['capella key', scheme.key('Authorization'), 'https://api.capellaspace.com/catalog/a'],
  ['ceda token', scheme.bearer, 'https://dap.ceda.ac.uk/neodc/a.tif'],
  ['wekeo password', scheme.bearer, 'https://gateway.prod.wekeo2.eu/hda-broker/api/v1/dataaccess/download/a'],
  ['wekeo token', scheme.bearer, 'https://gateway.prod.wekeo2.eu/hda-broker/api/v1/dataaccess/download/a'],
  ['destine token', scheme.bearer, 'https://hda.data.destination-earth.eu/stac/v2/a'],
  [
    'earthdaily token',
    scheme.client('https://api.earthdaily.com/account_management/v1/authentication/api_tokens/exchange'),
    'https://api.earthdaily.com/platform/v1/stac/a',
  ],
  [
    'umbra client',
    scheme.client('https://auth.canopy.umbra.space/oauth/token'),
    'https://api.canopy.umbra.space/v2/stac/a',
    { hosts: ['auth.canopy.umbra.space', 'api.canopy.umbra.space'] },
  ],
]

interface Case {
  readonly id: string
  readonly scheme: Json
  readonly href: string
  /** Secrets and names of users by variable. */
  readonly env: Readonly<Record<string, string>>
  /** The one of them that is made wrong; absent where nothing is secret. */
  readonly secret: string | undefined
  /** The code of the refusal then. */
  readonly code: string
  readonly clientId?: string
  /** All hosts that may hear of it. */
  readonly hosts: readonly string[]
}

const CASES: readonly Case[] = ROWS.map(([id, given, href, special = {}]) => {
  const { way } = wayOf(id)
  const { user = USER, hosts = [new URL(href).host], clientId } = special
  const values: Readonly<Record<string, string>> = { username: user, accessKeyId: KEY_ID, ...(user === CAREFUL_USER && { totp: TOTP }) }
  const holes = Object.entries(way.holes).filter(
    ([name, { kind, optional }]) => kind !== 'text' && (!optional || values[name] !== undefined),
  )
  const variables = holes.map(([name, { env = [] }]) => [found(env.at(-1)), values[name] ?? SECRET] as const)
  const secret = variables.find(([, value]) => value === SECRET)?.[0]
  const isToken = way.credentials.some(({ type }) => type === 'oauth2' || type === 'openIdConnect')
  const code = isToken ? 'OAUTH_ERROR' : 'AUTH_REJECTED'
  return { id, scheme: given, href, env: Object.fromEntries(variables), secret, code, hosts, ...(clientId !== undefined && { clientId }) }
})

function wayOf(wanted: string) {
  const [id, name] = wanted.split(' ')
  const provider = found(providers.find((one) => one.id === id))
  return { provider, way: found(provider.ways.find((one) => one.id === name)) }
}

/** The credentials of a way in, as users have them in their file, with the environment of a user. */
async function example(
  wanted: string,
  env: Readonly<Record<string, string>> = {},
  clientId = 'mine',
): Promise<readonly CredentialObject[]> {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  const { provider, way } = wayOf(wanted)
  const values: Record<string, SecretValue> = {}
  for (const [hole, { kind, env: variables = [], optional }] of Object.entries(way.holes)) {
    const variable = variables.find((one) => one in env)
    if (kind === 'text') values[hole] = clientId
    else if (variable !== undefined || !optional) values[hole] = { env: variable ?? variables[0] ?? 'UNSET' }
  }
  const folder = await temporaryFolder()
  const credentials = credentialsFrom(provider, way.id, values)
  return (await credentialsFromFile(await put(folder, 'credentials.json', { version: 1, credentials }))).credentials
}

/** An engine with these credentials among the archives and nothing else. */
function among(credentials: readonly CredentialObject[], { answer }: Pick<ReturnType<typeof createArchives>, 'answer'> = createArchives()) {
  const wire = script((request: HttpRequest) => {
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name.toLowerCase(), value]))
    const reply = answer({ method: request.method, url: request.url, headers, body: String(request.body ?? '') })
    if (reply === undefined) throw new Error(`nobody is at ${request.url}`)
    return reply
  })
  return {
    auth: createAuth({
      credentials: unchecked(credentials),
      transport: wire.send,
      clock: new FakeClock({ now: Date.now, waits: 'skipped' }),
    }),
    sent: wire.sent,
    hosts: () => new Set(wire.sent.map(({ url }) => new URL(url).host)),
  }
}

describe('credentials of providers', () => {
  it('the example of credentials for identity providers of your own is read as a credential file is', async () => {
    const page = await readFile(join(root, 'docs/providers.md'), 'utf8')
    const text = found(/```json\n([\s\S]*?)```/.exec(page)?.[1])
    const file = await put(await temporaryFolder(), 'credentials.json', JSON.parse(text))
    const credentials = await credentialsFromFile(file)
    const auth = createAuth({ credentials, transport: () => Promise.reject(new Error('sent')) })
    await auth.ready()
    const states = await auth.status()
    expect(states.map(({ credential, state }) => [credential, state])).toEqual([
      ['keycloak-service', 'none'],
      ['auth0-api', 'none'],
    ])
  })

  it.each(CASES.map((one) => [one.id, one] as const))(
    '%s opens a file, and asks no one else',
    async (id, { scheme: definition, href, env, clientId, hosts }) => {
      const { auth, hosts: asked } = among(await example(id, env, clientId))
      const response = await auth.fetch(target(definition, href))
      expect([response.status, await response.text()]).toEqual([200, 'file'])
      expect([...asked()]).toEqual(hosts)
    },
  )

  it.each(CASES.map((one) => [one.id, one] as const))(
    '%s opens a file of a document that names no scheme where its catalogs name none, else not',
    async (id, { href, env, clientId, hosts }) => {
      const credentials = await example(id, env, clientId)
      const { auth, hosts: asked } = among(credentials)
      const outcome = auth.fetch(assetOf(item(undefined, { data: { href } }), 'data'))
      if (credentials.at(-1)?.use === undefined) {
        const status = await outcome.then(
          (response) => response.status,
          () => undefined,
        )
        expect(status).not.toBe(200)
        return
      }
      expect(await (await outcome).text()).toBe('file')
      expect([...asked()]).toEqual(hosts)
    },
  )

  it('each provider opens a file in some way', () => {
    const tried = new Set(CASES.map(({ id }) => id.split(' ')[0]))
    const untried = providers.map(({ id }) => id).filter((id) => !tried.has(id))
    expect(untried, 'each provider has a case in CASES of this file, and servers in test/servers/archives.ts').toEqual(['openeo-cdse'])
  })

  const secretive = CASES.flatMap((one) => (one.secret === undefined ? [] : [[one.id, one, one.secret] as const]))
  it.each(secretive)(
    '%s with a wrong secret is refused',
    async (id, { scheme: definition, href, env, clientId, hosts, code }, variable) => {
      const { auth, hosts: asked } = among(await example(id, { ...env, [variable]: 'not-the-secret' }, clientId))
      const failure = await auth.fetch(target(definition, href)).catch((error: unknown) => error)
      expect(failure).toBeInstanceOf(AuthError)
      expect(failure).toMatchObject({ code })
      expect(JSON.stringify([failure, String(failure)])).not.toContain('not-the-secret')
      expect(hosts).toEqual(expect.arrayContaining([...asked()]))
    },
  )
})

describe('earthdata', () => {
  const FILE = 'https://data.lpdaac.earthdatacloud.nasa.gov/lp-prod-protected/HLSL30.020/a.tif'
  const ENTRY = `machine urs.earthdata.nasa.gov login ${USER} password ${SECRET}`

  it('earthdata by netrc opens a file, from code without values as well', async () => {
    const netrc = join(await temporaryFolder(), 'netrc')
    await writeFile(netrc, ENTRY, { mode: 0o600 })
    for (const credentials of [await example('earthdata netrc', { NETRC: netrc }), earthdata() as readonly CredentialObject[]]) {
      const { auth, hosts } = among(credentials)
      expect(await (await auth.fetch(FILE)).text()).toBe('file')
      expect(hosts()).toContain('urs.earthdata.nasa.gov')
    }
  })

  it('earthdata by netrc opens a file once its password is corrected, and names a missing field', async () => {
    const netrc = join(await temporaryFolder(), 'netrc')
    await writeFile(netrc, 'machine urs.earthdata.nasa.gov', { mode: 0o600 })
    const { auth, sent } = among(await example('earthdata netrc', { NETRC: netrc }))
    const message = `username of "earthdata-login": the netrc file ${netrc} has no login for the machine "urs.earthdata.nasa.gov"`
    await expect(auth.fetch(FILE)).rejects.toMatchObject({ code: 'CREDENTIAL_SOURCE', message })
    await writeFile(netrc, ENTRY.replace(SECRET, 'old'))
    await expect(auth.fetch(FILE)).rejects.toMatchObject({ code: 'AUTH_REJECTED' })
    await expect(auth.fetch(FILE)).rejects.toMatchObject({ code: 'AUTH_REJECTED' })
    expect(sent).toHaveLength(1)
    await writeFile(netrc, ENTRY)
    expect(await (await auth.fetch(FILE)).text()).toBe('file')
  })

  it('earthdata by netrc is never read for a document: only the machine that the credential names is', async () => {
    const netrc = join(await temporaryFolder(), 'netrc')
    await writeFile(
      netrc,
      `${ENTRY}\nmachine data.lpdaac.earthdatacloud.nasa.gov login eve password other\ndefault login eve password other`,
      {
        mode: 0o600,
      },
    )
    const { auth, sent } = among(await example('earthdata netrc', { NETRC: netrc }))
    await auth.fetch(FILE)
    await auth.fetch('https://elsewhere.example/a').catch(() => undefined)
    expect(sent.flatMap(({ headers }) => headers.authorization ?? []).filter((value) => value.startsWith('Basic '))).toEqual([
      `Basic ${btoa(`${USER}:${SECRET}`)}`,
    ])
  })

  it('earthdata by password sends the token to archives, and the password to its login alone', async () => {
    const env = { EARTHDATA_USERNAME: USER, EARTHDATA_PASSWORD: SECRET }
    const { auth, sent } = among(await example('earthdata password', env))
    for (const name of ['a', 'b']) await auth.fetch(FILE.replace('a.tif', name))
    const basics = sent.filter(({ headers }) => headers.authorization?.startsWith('Basic '))
    expect(basics.map(({ url }) => url)).toEqual(['https://urs.earthdata.nasa.gov/api/users/find_or_create_token'])
  })

  it('earthdata by password revokes its token at the logout, and the next file needs another', async () => {
    const env = { EARTHDATA_USERNAME: USER, EARTHDATA_PASSWORD: SECRET }
    const { auth, sent } = among(await example('earthdata password', env))
    await auth.login('earthdata')
    expect(await auth.status()).toMatchObject([{ credential: 'earthdata', state: 'valid' }])
    await auth.logout('earthdata')
    expect(new URL(found(sent.at(-1)).url).pathname).toBe('/api/users/revoke_token')
    expect(await (await auth.fetch(FILE)).text()).toBe('file')
  })
})

it('copernicus by password with a second factor sends the one-time code, and is refused without it', async () => {
  const account = { CDSE_USERNAME: CAREFUL_USER, CDSE_PASSWORD: SECRET }
  const file = target(scheme.oidc(CDSE), ZIPPER)
  const env = { ...account, CDSE_TOTP: TOTP }
  await expect(among(await example('copernicus password', account)).auth.fetch(file)).rejects.toMatchObject({ code: 'OAUTH_ERROR' })
  const { auth } = among(await example('copernicus password', env))
  expect(await (await auth.fetch(file)).text()).toBe('file')
})

/** EODMS, where the first token has ended by the time that it is shown, and a refresh gets this answer; what is asked of its login. */
async function endedAtEodms(refreshed?: ArchiveAnswer) {
  const archives = createArchives()
  const grants: unknown[] = []
  let ended = false
  const answer: typeof archives.answer = (request) => {
    if (request.method === 'POST') {
      const { grant_type } = JSON.parse(request.body)
      grants.push(grant_type)
      if (grant_type === 'refresh_token' && refreshed) return refreshed
    } else if (!ended) {
      ended = true
      return { status: 401, headers: { 'www-authenticate': 'Bearer error="invalid_token"' } }
    }
    return archives.answer(request)
  }
  const { auth } = among(await example('eodms password', { EODMS_USERNAME: USER, EODMS_PASSWORD: SECRET }), { answer })
  const fetched = auth.fetch('https://eodms-sgdot.nrcan-rncan.gc.ca/dds/v1/item/EODMS/a')
  return { outcome: await fetched.then((response) => response.text()).catch((error: unknown) => error), grants }
}

describe('a token of EODMS that has ended', () => {
  it('a token of EODMS that has ended is followed by another login: its refresh is not a token request', async () => {
    expect(await endedAtEodms()).toEqual({ outcome: 'file', grants: ['password', 'refresh_token', 'password'] })
  })

  it('a token of EODMS that has ended is followed by another login where a refusal has no body', async () => {
    expect(await endedAtEodms({ status: 403 })).toEqual({ outcome: 'file', grants: ['password', 'refresh_token', 'password'] })
  })

  it.each([
    ['the client is not believed', { status: 401, body: { error: 'invalid_client' } }, 'OAUTH_ERROR'],
    ['the server fails', { status: 500 }, 'HTTP_500'],
  ])('a token of EODMS that has ended is not followed by another login where %s', async (_name, refreshed, code) => {
    const { outcome, grants } = await endedAtEodms(refreshed)
    expect(outcome).toMatchObject({ code })
    expect(new Set(grants.slice(1))).toEqual(new Set(['refresh_token']))
  })
})

it('planetary-computer by container opens files of documents of version 1.0.0 with one token', async () => {
  const { auth, hosts, sent } = among(await example('planetary-computer container'))
  for (const name of ['a', 'b']) {
    const file = target({ type: 'planetaryComputer' }, `https://landsateuwest.blob.core.windows.net/landsat-c2/${name}.TIF`)
    expect(await (await auth.fetch(file)).text()).toBe('file')
  }
  expect([...hosts()]).toEqual(['planetarycomputer.microsoft.com', 'landsateuwest.blob.core.windows.net'])
  expect(sent).toHaveLength(3)
})

it('planetary-computer by container opens a folder that an abfs: URL names, with one token', async () => {
  const { auth, hosts } = among(await example('planetary-computer container'))
  const members = { href: 'abfs://landsat-c2/a.zarr', 'xarray:storage_options': { account_name: 'landsateuwest' } }
  const folder = auth.fetchFor(assetOf(item(undefined, { data: members }), 'data'))
  const below = 'https://landsateuwest.blob.core.windows.net/landsat-c2/a.zarr/'
  for (const name of ['.zmetadata', 'x/0.0']) expect(await (await folder(below + name)).text()).toBe('file')
  expect([...hosts()]).toEqual(['planetarycomputer.microsoft.com', 'landsateuwest.blob.core.windows.net'])
})

describe('logins at providers', () => {
  it.each([
    ['copernicus login', scheme.oidc(CDSE), ZIPPER],
    ['openeo-cdse login', scheme.oidc(CDSE), 'https://openeo.dataspace.copernicus.eu/openeo/1.2/jobs/j-1/results/assets/a.tif'],
  ])('%s takes the token of a person', async (id, definition, href) => {
    const archives = createArchives()
    const { auth } = among(await example(id), archives)
    const uri = 'http://127.0.0.1:45678/callback'
    const answer: Redirection['answer'] = async (url, isOurs) => {
      const callback = archives.visit(url)
      if (callback === undefined || !isOurs(callback)) throw new Error('the realm refused')
      return callback
    }
    await auth.login(found(id.split(' ')[0]), { redirect: async () => ({ uri, answer, close: async () => {} }) })
    expect(await (await auth.fetch(target(definition, href))).text()).toBe('file')
  })

  it('openeo-cdse is refused without its prefix', async () => {
    const archives = createArchives()
    const credentials = (await example('openeo-cdse login')).map(({ tokenPrefix: _prefix, ...others }) => others as CredentialObject)
    const { auth } = among(credentials, archives)
    const answer = async (url: string) => archives.visit(url) ?? new URL(url)
    await auth.login('openeo-cdse', { redirect: async () => ({ uri: 'http://127.0.0.1:45678/callback', answer, close: async () => {} }) })
    const href = 'https://openeo.dataspace.copernicus.eu/openeo/1.2/jobs/j-1/results/assets/a.tif'
    await expect(auth.fetch(target(scheme.oidc(CDSE), href))).rejects.toMatchObject({ code: 'LOGIN_REQUIRED' })
  })
})

it.each(['oidc/CDSE/\r\nx: y', 'oidc CDSE/', '', 'ö/'])('a token prefix like %j is refused when it is read', (tokenPrefix) => {
  const credential = {
    id: 'mine',
    type: 'openIdConnect',
    issuer: 'https://sso.example',
    clientId: 'me',
    sendTo: 'https://data.example/',
    tokenPrefix,
  }
  const auth = createAuth({ credentials: unchecked([credential]) })
  return expect(auth.ready()).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
})
