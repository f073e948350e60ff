import { describe, expect, it } from 'vitest'
import { put, temporaryFolder } from './folder.ts'
import { itemWith } from './items.ts'
import { run } from './run.ts'

const folder = await temporaryFolder()
const none = await put(folder, 'none.json', { version: 1, credentials: [] })
const OPENID = 'https://id.example/.well-known/openid-configuration'
const SCHEMES = { s3: { type: 's3' }, oidc: { type: 'openIdConnect', openIdConnectUrl: OPENID } }

/** An Item as archives publish it: each file in a bucket, with an alternate behind a login, and an open thumbnail. */
const product = await put(
  folder,
  'product.json',
  itemWith(
    Object.fromEntries([
      ...Array.from({ length: 41 }, (_, index) => {
        const name = `B${String(index).padStart(2, '0')}`
        const web = { href: `https://zipper.example/product/${name}`, 'auth:refs': ['oidc'] }
        return [name, { href: `s3://archive/product/${name}.jp2`, 'auth:refs': ['s3'], alternate: { https: web } }]
      }),
      ['thumbnail', { href: 'https://open.example/thumbnail.png' }],
    ]),
    { schemes: SCHEMES, links: [{ rel: 'enclosure', href: 's3://archive/product/', 'auth:refs': ['s3'] }] },
  ),
)

const login = await put(folder, 'login.json', {
  version: 1,
  credentials: [{ id: 'login', type: 'http', scheme: 'bearer', token: { env: 'STAC_AUTH_TEST_KEY' }, sendTo: ['https://zipper.example/'] }],
})
const elsewhere = await put(folder, 'elsewhere.json', {
  version: 1,
  credentials: [
    {
      id: 'login',
      type: 'openIdConnect',
      openIdConnectUrl: OPENID,
      clientId: 'me',
      scopes: ['read'],
      sendTo: Array.from({ length: 9 }, (_, index) => `https://d${index}.example/`),
    },
  ],
})

const explain = (...argv: string[]) => run(['explain', ...argv])
const linesOf = (text: string) => text.split('\n').length - 1

describe('targets with the same explanation', () => {
  it('are one block with their number and the first names', async () => {
    const { code, stdout } = await explain(product, '--credentials', login)
    expect(code).toBe(3)
    expect(stdout).toMatch(
      /^42 targets: \/assets\/B00, \/assets\/B01, \/assets\/B02 and 39 more\n {2}x NO_CREDENTIAL: no credential for s3:/,
    )
    expect(stdout).toContain(
      '41 targets: /assets/B00/alternate/https, /assets/B01/alternate/https, /assets/B02/alternate/https and 38 more\n' +
        '  + oidc (openIdConnect): login\n',
    )
    expect(stdout.match(/\{"id"/g)).toHaveLength(1)
  })

  it('are printed one by one with --all', async () => {
    const { stdout } = await explain(product, '--all', '--credentials', none)
    expect(stdout.match(/^\/assets\/B\d\d {2}s3:/gm)).toHaveLength(41)
    expect(stdout.match(/NO_CREDENTIAL/g)).toHaveLength(83)
  })

  it('stay one by one in JSON', async () => {
    expect(JSON.parse((await explain(product, '--json', '--credentials', none)).stdout)).toHaveLength(84)
  })

  it('name three patterns of a credential that may not be sent there, and count the others', async () => {
    const { code, stdout } = await explain(product, '--credentials', elsewhere)
    expect(code).toBe(4)
    expect(stdout).toContain('"login" may be sent to https://d0.example/, https://d1.example/, https://d2.example/ and 6 more; this ')
  })

  it('include the references that alternates inherit', async () => {
    const copied = (name: string) => ({
      href: `https://data.example/${name}`,
      'auth:refs': ['oidc'],
      alternate: { copy: { href: `https://data.example/copy/${name}` } },
    })
    const assets = { a: copied('a'), b: copied('b'), c: copied('c') }
    const inheriting = await put(folder, 'inheriting.json', itemWith(assets, { schemes: SCHEMES }))
    expect((await explain(inheriting, '--credentials', none)).stdout).toMatch(/^6 targets: .* and 3 more\n {2}x NO_CREDENTIAL: /)
  })
})

it('prints each warning once, with the number of targets that have it', async () => {
  const scoped = { type: 'oauth2', flows: { clientCredentials: { tokenUrl: 'https://id.example/token', scopes: { admin: 'all' } } } }
  const assets = Object.fromEntries(['a', 'b', 'c'].map((name) => [name, { href: `https://data.example/${name}`, 'auth:refs': ['oauth'] }]))
  const path = await put(folder, 'scoped.json', itemWith(assets, { schemes: { oauth: scoped } }))
  const client = await put(folder, 'client.json', {
    version: 1,
    credentials: [
      {
        id: 'client',
        type: 'oauth2',
        flow: 'clientCredentials',
        tokenUrl: 'https://id.example/token',
        clientId: 'me',
        clientSecret: { env: 'STAC_AUTH_TEST_KEY' },
        scopes: ['read'],
        sendTo: ['https://data.example/'],
      },
    ],
  })
  const { stderr } = await explain(path, '--credentials', client)
  expect(stderr.match(/SCOPE_NOT_GRANTED/g)).toHaveLength(1)
  expect(stderr).toContain('(and 2 other targets)')
})

describe('the explanation of a document', () => {
  it.each([none, login, elsewhere])('has at most 12 lines for an Item with 42 files', async (credentials) => {
    const { stdout, stderr } = await explain(product, '--credentials', credentials)
    expect(linesOf(stdout + stderr)).toBeLessThanOrEqual(12)
  })

  it('has at most 12 lines for a target each with another reason, and says how to see all', async () => {
    const assets = Object.fromEntries(
      Array.from({ length: 9 }, (_, index) => [`a${index}`, { href: `https://h${index}.example/f`, 'auth:refs': ['oidc'] }]),
    )
    const path = await put(folder, 'hosts.json', itemWith(assets, { schemes: SCHEMES }))
    const { stdout, stderr } = await explain(path, '--credentials', none)
    expect(linesOf(stdout + stderr)).toBeLessThanOrEqual(12)
    expect(stdout).toContain('6 more targets with other reasons: --all prints each\n')
  })
})
