/** `setup` of known providers, with strict stand-ins for them in this process: what is asked, what is written, and a file afterwards. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { HttpRequest } from '../../src/http/message.ts'
import { lintText } from '../../src/lint/index.ts'
import { script } from '../harness/scripted.ts'
import { type ArchiveRequest, createArchives, KEY_ID, SECRET, USER } from '../servers/archives.ts'
import { put, temporaryFolder } from './folder.ts'
import { itemWith } from './items.ts'
import { newUser } from './setup-user.ts'

/** The hosts of the archives, in place of the network. */
const network = vi.hoisted(() => ({ send: undefined as unknown }))
vi.mock('../../src/cli/request-log.ts', () => ({ loggedTransport: async () => ({ transport: network.send }) }))

/** Requests since the beginning of the test. */
let sent: readonly HttpRequest[]
/** Documents by URL. */
let documents: Record<string, object>
beforeEach(() => {
  const archives = createArchives()
  documents = {}
  const wire = script((request) => {
    const document = documents[request.url]
    if (document) return { body: document }
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name.toLowerCase(), value]))
    const asked: ArchiveRequest = { method: request.method, url: request.url, headers, body: String(request.body ?? '') }
    const answer = archives.answer(asked)
    if (!answer) throw new Error(`nobody is at ${request.url}`)
    return answer
  })
  sent = wire.sent
  network.send = async (...given: Parameters<typeof wire.send>) => {
    const response = await wire.send(...given)
    return {
      ...response,
      async *chunks() {
        yield await response.bytes(100_000)
      },
    }
  }
})
afterEach(() => {
  vi.unstubAllEnvs()
})

const CDSE = 'https://identity.dataspace.copernicus.eu/auth/realms/CDSE/.well-known/openid-configuration'
const ZIPPER = 'https://zipper.dataspace.copernicus.eu/odata/v1/Products(7634aef0)/$value'
const BUCKET = 's3://eodata/Sentinel-2/a.dat'
const SCHEMES = { oidc: { type: 'openIdConnect', openIdConnectUrl: CDSE }, s3: { type: 's3' } }

/** Counts questions: what is said without an end of the line. */
function counter() {
  const questions: string[] = []
  return { questions, onError: (text: string) => void (text.endsWith('\n') || questions.push(text)) }
}

async function itemAt(href: string, { refs, schemes, self }: { refs?: readonly string[]; schemes?: object; self?: string } = {}) {
  const asset = { href, ...(refs && { 'auth:refs': refs }) }
  const links = self === undefined ? [] : [{ rel: 'self', href: self }]
  return put(await temporaryFolder(), 'item.json', itemWith({ data: asset }, { schemes: schemes ?? {}, links }))
}

interface Case {
  readonly title: string
  readonly href: string
  readonly refs?: readonly string[]
  readonly schemes?: object
  readonly self?: string
  readonly way?: string
  readonly typed: readonly string[]
  readonly count: number
}

const PC = 'https://planetarycomputer.microsoft.com/api/stac/v1/collections/landsat-c2-l2/items/a'
const CASES: readonly Case[] = [
  { title: 'copernicus by HTTP', href: ZIPPER, refs: ['oidc'], schemes: SCHEMES, typed: ['y', USER, SECRET], count: 3 },
  { title: 'copernicus S3', href: BUCKET, refs: ['s3'], schemes: SCHEMES, typed: ['y', KEY_ID, SECRET], count: 3 },
  {
    title: 'planetary-computer',
    href: 'https://landsateuwest.blob.core.windows.net/landsat-c2/level-2/a.dat',
    self: PC,
    typed: ['y'],
    count: 1,
  },
  { title: 'eumetsat', href: 'https://api.eumetsat.int/data/download/1.0.0/collections/a', typed: ['y', 'my-key', SECRET], count: 3 },
  {
    title: 'planet',
    href: 'https://api.planet.com/data/v1/download?token=of-the-asset',
    refs: ['key'],
    schemes: { key: { type: 'http', scheme: 'api-key' } },
    typed: ['y', SECRET],
    count: 2,
  },
  { title: 'geodes', href: 'https://geodes-portal.cnes.fr/api/download/a', typed: ['y', SECRET], count: 2 },
  {
    title: 'earthdata',
    way: 'token',
    href: 'https://data.lpdaac.earthdatacloud.nasa.gov/lp-prod-protected/a.dat',
    typed: ['y', SECRET],
    count: 2,
  },
]

describe('setup of a document of a known provider', () => {
  it.each(CASES.map((one) => [one.title, one] as const))('%s asks for the secret and one yes, and opens a file', async (title, one) => {
    const { href, way, typed, count } = one
    const item = await itemAt(href, one)
    const user = await newUser()
    const { questions, onError } = counter()
    const { code, stdout, stderr } = await user.at(['setup', item, ...(way === undefined ? [] : ['--way', way])], typed, { onError })
    expect(stderr).toMatch(/^these files belong to .*; it needs (?:your account|no account, only your yes): for data$/m)
    expect([code, stdout]).toEqual([0, expect.stringContaining(' works: ')])
    expect(questions).toHaveLength(count)
    const [id = ''] = title.split(' ')
    expect(await user.credentials()).toEqual([expect.objectContaining({ provider: id })])
    const fetched = await user.at(['fetch', item, '--asset', 'data'], [], { isTTY: false })
    expect([fetched.code, fetched.stdout, fetched.stderr]).toEqual([0, 'file', expect.any(String)])
    const again = counter()
    expect(await user.at(['setup', item], [], again)).toMatchObject({ code: 0 })
    expect(again.questions).toEqual([])
  })

  it('writes what the registry says, and nothing of the document', async () => {
    const user = await newUser()
    await user.at(['setup', await itemAt(ZIPPER, { refs: ['oidc'], schemes: SCHEMES })], ['y', USER, SECRET])
    expect(await user.credentials()).toMatchObject([
      {
        id: 'copernicus',
        clientId: 'cdse-public',
        username: USER,
        password: { file: join(user.secrets, 'copernicus.password') },
        use: 'by-address',
      },
    ])
    expect(await readFile(join(user.secrets, 'copernicus.password'), 'utf8')).toBe(`${SECRET}\n`)
  })

  it('sends nothing and creates nothing without the yes', async () => {
    const user = await newUser()
    const item = await itemAt(ZIPPER, { refs: ['oidc'], schemes: SCHEMES })
    const { code, stderr } = await user.at(['setup', item], [''])
    expect([code, sent]).toEqual([3, []])
    expect(stderr).toContain(`Copernicus Data Space Ecosystem still without a credential: run stac-auth setup ${item} again\n`)
    await expect(user.credentials()).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('asks which way in where files of several are in it, and takes the first after Enter', async () => {
    const assets = {
      s3: { href: BUCKET, 'auth:refs': ['s3'] },
      http: { href: ZIPPER, 'auth:refs': ['oidc'] },
    }
    const item = await put(await temporaryFolder(), 'both.json', itemWith(assets, { schemes: SCHEMES }))
    const user = await newUser()
    const { stderr } = await user.at(['setup', item], ['', 'y', USER, SECRET])
    expect(stderr).toMatch(/several ways in:\n {2}1 {2}password .*\n {2}2 {2}s3 .*\n {2}3 {2}s3-password .*\nWhich\? {2}\[1\] /)
    expect((await user.credentials()).map(({ id }) => id)).toEqual(['copernicus'])
    expect(await user.at(['setup', item], ['y', KEY_ID, SECRET])).toMatchObject({ code: 0 })
    expect((await user.credentials()).map(({ id }) => id)).toEqual(['copernicus', 'copernicus-s3'])
  })

  it('is content with one of the addresses of a file, without a question which', async () => {
    const data = { href: BUCKET, 'auth:refs': ['s3'], alternate: { http: { href: ZIPPER, 'auth:refs': ['oidc'] } } }
    const item = await put(await temporaryFolder(), 'alternate.json', itemWith({ data }, { schemes: SCHEMES }))
    const user = await newUser()
    const { questions, onError } = counter()
    expect(await user.at(['setup', item], ['y', USER, SECRET], { onError })).toMatchObject({ code: 0 })
    expect(questions).toHaveLength(3)
    expect(await user.at(['setup', item])).toMatchObject({ code: 0 })
    expect(await user.at(['setup', item, '--way', 's3'], ['y', KEY_ID, SECRET])).toMatchObject({ code: 0 })
  })

  it.each([
    ['a host that looks alike', 'https://zipper.dataspace.copernicus.eu.evil.example/a', ['oidc']],
    ['a foreign catalog with its issuer', 'https://data.evil.example/a', ['oidc']],
    ['the storage of others in a foreign catalog', 'https://landsateuwest.blob.core.windows.net/landsat-c2/a.dat', undefined],
  ])('%s is no provider', async (_title, href, refs) => {
    const item = await itemAt(href, { ...(refs && { refs }), schemes: SCHEMES })
    const user = await newUser()
    const { stdout } = await user.at(['setup', item, '--json'])
    expect(JSON.parse(stdout).filter((one: object) => 'provider' in one)).toEqual([])
    expect(sent).toEqual([])
  })

  it('without a terminal says what to add, and sends nothing', async () => {
    const user = await newUser()
    const item = await itemAt(ZIPPER, { refs: ['oidc'], schemes: SCHEMES })
    const { code, stderr } = await user.at(['setup', item], [], { isTTY: false })
    expect([code, sent]).toEqual([2, []])
    expect(stderr).toContain(
      'error USAGE: Copernicus Data Space Ecosystem is not set up: it needs your account, and setup asks at a terminal\n',
    )
    expect(stderr).toContain(`  run stac-auth setup ${item} at a terminal, or, if you trust these URLs, add this credential to `)
    expect(JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({ id: 'copernicus', password: { env: 'CDSE_PASSWORD' } })
  })

  it('shows it with --json and --dry-run, without a question', async () => {
    const user = await newUser()
    const item = await itemAt(ZIPPER, { refs: ['oidc'], schemes: SCHEMES })
    const { code, stdout } = await user.at(['setup', item, '--json'])
    expect([code, JSON.parse(stdout)]).toMatchObject([
      3,
      [
        { scheme: 'oidc', state: 'missing', provider: 'copernicus' },
        { provider: 'copernicus', way: 'password', state: 'missing', targets: ['/assets/data'], proposal: [{ clientId: 'cdse-public' }] },
      ],
    ])
    expect(await user.at(['setup', item, '--dry-run'])).toMatchObject({ code: 3, stdout: expect.stringContaining('these files belong to') })
  })

  it('sets the provider up that refuses the document itself', async () => {
    const url = 'https://geodes-portal.cnes.fr/api/stac/items/a'
    const user = await newUser()
    const { stderr } = await user.at(['setup', url], ['y', SECRET])
    expect(stderr).toContain('CNES GEODES, by key\n')
    expect(await user.credentials()).toMatchObject([{ id: 'geodes', provider: 'geodes' }])
  })
})

describe('setup of a provider by its name', () => {
  it('asks which way in, for the user name and the password, and logs in', async () => {
    const user = await newUser()
    const { code, stdout, stderr } = await user.at(['setup', 'copernicus'], ['', 'y', USER, SECRET])
    expect(stderr).toContain(`  secret goes to   ${CDSE}\n  token goes to    https://download.dataspace.copernicus.eu/\n`)
    expect(stderr).toContain('"copernicus" is logged in until ')
    expect([code, stdout]).toEqual([0, expect.stringContaining('stac-auth download DOC -d data')])
    expect(new Set(sent.map(({ url }) => new URL(url).host))).toEqual(new Set(['identity.dataspace.copernicus.eu']))
  })

  it('offers to type a refused password again', async () => {
    const user = await newUser()
    const { code, stderr } = await user.at(['setup', 'terrascope'], ['y', USER, 'wrong', 'y', SECRET])
    expect([code, stderr]).toEqual([0, expect.stringContaining('Type the secret of "terrascope" again?')])
  })

  it('asks only for the yes where nothing is needed', async () => {
    const user = await newUser()
    const { questions, onError } = counter()
    const { code, stderr } = await user.at(['setup', 'planetary-computer'], ['y'], { onError })
    expect([code, questions]).toEqual([0, [expect.stringContaining('Create this credential?')]])
    expect(stderr).toContain('  signed by       https://planetarycomputer.microsoft.com/api/sas/v1/sign\n')
    expect(await user.credentials()).toMatchObject([{ id: 'planetary-computer', use: 'by-address', provider: 'planetary-computer' }])
  })

  it('takes variables that are set without asking', async () => {
    const user = await newUser()
    const { code, stderr } = await user.at(['setup', 'earthdata', '--way', 'token'], ['y'], { env: { EARTHDATA_TOKEN: SECRET } })
    expect([code, stderr]).toEqual([0, expect.stringContaining('Token of your profile: from the variable EARTHDATA_TOKEN, which is set\n')])
    expect(await user.credentials()).toMatchObject([{ token: { env: 'EARTHDATA_TOKEN' } }])
  })

  it('takes the way in whose values are all in variables', async () => {
    const user = await newUser()
    const env = { PC_SDK_SUBSCRIPTION_KEY: SECRET }
    expect(await user.at(['setup', 'planetary-computer'], ['y'], { env })).toMatchObject({ code: 0 })
    expect((await user.credentials()).map(({ id }) => id)).toEqual(['planetary-computer-key', 'planetary-computer'])
    expect((await user.at(['setup', 'planetary-computer'])).stderr).toContain('is set up already: "planetary-computer-key", ')
  })

  it('keeps the redirect URI that the user gives for a login', async () => {
    const user = await newUser()
    const abort = new AbortController()
    const onError = (text: string) => text.includes('is written to') && abort.abort('SIGINT')
    const given = ['--way', 'login', '--port', '8765', '--redirect-host', 'localhost']
    await user.at(['setup', 'planet', ...given], ['y', 'my-client'], { signal: abort.signal, onError })
    expect(await user.credentials()).toMatchObject([{ id: 'planet', clientId: 'my-client', redirectPort: 8765, redirectHost: 'localhost' }])
  })

  it('writes all credentials of a way in together, and keeps one that is there', async () => {
    const user = await newUser()
    await user.at(['setup', 'earthdata', '--way', 'token'], ['y', SECRET])
    const { stderr } = await user.at(['setup', 'earthdata', '--way', 's3'], ['y'])
    expect(stderr).toContain('Create these 5 credentials?')
    const all = await user.credentials()
    expect(all.map(({ id, with: chained }) => [id, chained])).toEqual([
      ['earthdata', undefined],
      ...['lpdaac', 'nsidc', 'ornldaac', 'podaac', 'asdc'].map((name) => [`earthdata-s3-${name}`, 'earthdata']),
    ])
  })

  it('puts another way in in the place of one with the same id, and leaves credentials of others alone', async () => {
    const own = { id: 'planetary-computer-key', type: 'http', scheme: 'bearer', token: { env: 'X' }, sendTo: ['https://a.example/'] }
    const user = await newUser(own)
    await user.at(['setup', 'planetary-computer'], ['y'])
    const { stderr } = await user.at(['setup', 'planetary-computer', '--way', 'key'], ['y', SECRET])
    expect(stderr).toContain('"planetary-computer" takes the place of the credential of that name')
    const all = await user.credentials()
    expect(all[0]).toEqual(own)
    expect(all.map(({ id, with: chained }) => [id, chained])).toEqual([
      ['planetary-computer-key', undefined],
      ['planetary-computer', 'planetary-computer-key-2'],
      ['planetary-computer-key-2', undefined],
    ])
  })

  it('names the option that adds another way in, and adds it', async () => {
    const user = await newUser()
    await user.at(['setup', 'copernicus', '--way', 's3'], ['y', KEY_ID, SECRET])
    const { code, stderr } = await user.at(['setup', 'copernicus'])
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining(
        'is set up already: "copernicus-s3" (s3); to add another way in: stac-auth setup copernicus --way password (or login, ',
      ),
    ])
    expect(await user.at(['setup', 'copernicus', '--way', 'password'], ['y', USER, SECRET])).toMatchObject({ code: 0 })
    expect((await user.credentials()).map(({ id }) => id)).toEqual(['copernicus-s3', 'copernicus'])
  })

  it('says that it is set up already, and offers what has changed in the registry', async () => {
    const user = await newUser()
    await user.at(['setup', 'geodes'], ['y', SECRET])
    const [made] = await user.credentials()
    const again = await user.at(['setup', 'geodes'])
    expect([again.code, again.stderr]).toEqual([0, expect.stringContaining('CNES GEODES is set up already: "geodes" (key)\n')])
    const old = await newUser({ ...made, name: 'X-Old-Key', sendTo: ['https://mine.example/'] })
    const { code, stderr } = await old.at(['setup', 'geodes'], ['y'])
    expect(stderr).toContain('what is known of CNES GEODES has changed since:\n  geodes name  - X-Old-Key\n  geodes name  + X-API-Key\n')
    expect(stderr).toContain('https://mine.example/ stays: it is not in the registry')
    expect([code, await old.credentials()]).toMatchObject([
      0,
      [{ name: 'X-API-Key', sendTo: ['https://mine.example/', 'https://geodes-portal.cnes.fr/'] }],
    ])
  })

  it('takes a credential of the cookbook for the provider, and offers to mark it', async () => {
    const mine = {
      id: 'cnes',
      type: 'apiKey',
      in: 'header',
      name: 'X-API-Key',
      value: { env: 'K' },
      sendTo: ['https://geodes-portal.cnes.fr/api/'],
    }
    const user = await newUser(mine)
    expect(await user.at(['setup', 'geodes'], ['y'])).toMatchObject({ stderr: expect.stringContaining('  cnes provider  + geodes\n') })
    expect(await user.credentials()).toEqual([
      { ...mine, sendTo: [...mine.sendTo, 'https://geodes-portal.cnes.fr/'], use: 'by-address', provider: 'geodes' },
    ])
  })

  it('without a terminal names the command and the credentials', async () => {
    const user = await newUser()
    const { code, stderr } = await user.at(['setup', 'planetary-computer'], [], { isTTY: false })
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('it needs your confirmation, and setup asks at a terminal\n  run stac-auth setup planetary-computer at'),
    ])
  })

  it('is named by commands that lack its credential', async () => {
    const { code, stderr } = await (await newUser()).at(['login', 'copernicus'])
    expect([code, stderr]).toEqual([3, 'error NO_CREDENTIAL: unknown credential "copernicus"\n  stac-auth setup copernicus creates it\n'])
  })

  it('is what a bare id means; a file of that name has a folder before it', async () => {
    const user = await newUser()
    const file = await put(await temporaryFolder(), 'geodes', itemWith({}))
    expect((await user.at(['setup', 'geodes', '--dry-run'])).stdout).toContain('CNES GEODES is not set up')
    expect((await user.at(['setup', file, '--dry-run'])).stdout).toContain('they need no credential')
  })

  it('refuses an unknown provider and an unknown way in, with what was meant', async () => {
    const user = await newUser()
    expect(await user.at(['setup', 'copernikus'])).toMatchObject({ code: 2, stderr: expect.stringContaining('did you mean copernicus? ') })
    expect(await user.at(['setup', 'copernicus', '--way', 'S3'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('did you mean "s3"? '),
    })
  })
})

/** Findings about the URLs of the assets, which are made up. */
const BY_HREF = new Set(['scheme-href-mismatch'])

describe('providers', () => {
  it('providers ID prints the schemes for a catalog with its files, in which the linter finds nothing to correct', async () => {
    const listed: readonly { id: string; schemes: Readonly<Record<string, object>> }[] = JSON.parse(
      (await (await newUser()).at(['providers', '--json'])).stdout,
    )
    const described = listed.filter(({ schemes }) => Object.keys(schemes).length > 0)
    // The others have nothing but a signing service.
    expect(listed.filter((one) => !described.includes(one)).map(({ id }) => id)).toEqual(['theia'])
    for (const { id, schemes } of described) {
      const assets = Object.fromEntries(
        Object.keys(schemes).map((name) => [name, { href: `https://data.example/${name}`, 'auth:refs': [name] }]),
      )
      const problems = lintText(JSON.stringify(itemWith(assets, { schemes }))).filter(({ code }) => !BY_HREF.has(code))
      expect([id, problems.filter(({ severity }) => severity !== 'info')]).toEqual([id, []])
    }
    const { stdout } = await (await newUser()).at(['providers', 'copernicus'])
    expect(stdout).toMatch(
      /\nin a catalog with its files, .*\n {2}"auth:schemes": \{\n {4}"copernicus": \{"type":"openIdConnect".*\n {4}"s3": \{"type":"s3"\}\n/,
    )
  })

  it('lists them with what is needed, and what is set up', async () => {
    const user = await newUser()
    await user.at(['setup', 'geodes'], ['y', SECRET])
    const { stdout } = await user.at(['providers'])
    expect(stdout).toMatch(/^\+ geodes .* set up by key$/m)
    expect(stdout).toMatch(/^ {2}copernicus .* needs user name \(e-mail address\), password; 5 other ways in$/m)
  })

  it('shows one with its ways in and the hosts that get the secret', async () => {
    const { stdout } = await (await newUser()).at(['providers', 'copernicus'])
    expect(stdout).toContain(`  needs: Password (CDSE_PASSWORD)\n`)
    expect(stdout).toContain(`  secret goes to   ${CDSE}\n`)
  })

  it('prints JSON', async () => {
    const user = await newUser()
    const all = JSON.parse((await user.at(['providers', '--json'])).stdout)
    expect(all.find(({ id }: { id: string }) => id === 'eumetsat')).toMatchObject({
      state: 'not set up',
      ways: [{ secretTo: ['https://api.eumetsat.int/token'], sendTo: ['https://api.eumetsat.int/data/'] }],
    })
    expect(JSON.parse((await user.at(['providers', 'geodes', '--json'])).stdout)).toMatchObject({ id: 'geodes' })
    expect(await user.at(['providers', 'geode'])).toMatchObject({ code: 2, stderr: expect.stringContaining('did you mean geodes?') })
  })
})

it('names three of the many hosts of a provider, and where the others are listed', async () => {
  const user = await newUser()
  const { stderr } = await user.at(['setup', 'earthdata', '--way', 'password'], ['n'])
  expect(stderr).toMatch(/\n +and \d+ more \(stac-auth providers earthdata lists them\)\n/)
  expect(stderr.match(/earthdatacloud\.nasa\.gov\//g)?.length ?? 0).toBeLessThan(5)
})
