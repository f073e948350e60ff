import { readFile, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { put, temporaryFolder } from './folder.ts'
import { itemWith } from './items.ts'
import { run, type Surroundings } from './run.ts'

const folder = await temporaryFolder()

const FLOW = { tokenUrl: 'https://identity.example/token', scopes: { read: '', admin: 'everything' } }
const OAUTH = { type: 'oauth2', flows: { clientCredentials: FLOW } }
const refs = { 'auth:refs': ['oauth'] }
const asset = (href: string) => ({ href, ...refs })
const document = await put(
  folder,
  'item.json',
  itemWith(
    { a: asset('https://data.example/a.tif'), b: asset('https://data.example/b.tif'), open: { href: 'https://data.example/c.tif' } },
    { schemes: { oauth: OAUTH }, links: [{ rel: 'tiles', href: 'https://tiles.example/1', ...refs }] },
  ),
)

let files = 0
const newFile = () => join(folder, `${++files}`, 'credentials.json')

/** Adds what the document needs, at a terminal where these lines are typed. */
const add = (stdin: string, file: string, name: string = document, more: readonly string[] = [], around: Surroundings = {}) =>
  run(['credentials', 'add', name, '--credentials', file, ...more], { isTTY: true, stdin, env: { NO_COLOR: '1' }, ...around })

/** Agrees, and names a variable for the secret. */
const YES = 'y\nme\n\nv\n\n'

const QUESTION = 'Create this credential?  [y]es / [N]o / [d]etails '

describe('the question', () => {
  it('reports who asks, where secret and token would go, and what is requested', async () => {
    const { code, stdout, stderr } = await add('n\n', newFile(), document, ['--scope', 'read'])
    expect([code, stdout]).toEqual([3, ''])
    expect(stderr).toBe(
      [
        `${document} asks for "oauth" (OAuth 2, client credentials)`,
        '  secret goes to   https://identity.example/token',
        '  token goes to    https://data.example/ (2 assets)',
        '                   https://tiles.example/ (1 link)',
        '  scopes           read      (the catalog also lists: admin; not requested)',
        `${QUESTION}error NO_CREDENTIAL /properties/auth:schemes/oauth: no credential was written: none was confirmed`,
        `  run stac-auth credentials add ${document} to be asked again\n`,
      ].join('\n'),
    )
  })

  it.each(['\n', 'n\n', 'N\n', 'no\n', 'nay\n', 'yeah\n', 'd\n\n'])('%j is a no: nothing is written', async (typed) => {
    const file = newFile()
    expect(await add(typed, file)).toMatchObject({ code: 3 })
    await expect(stat(join(file, '..'))).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('calls a signature no token, and asks a login for nothing that has none', async () => {
    const sentinel = new URL('../../examples/items/sentinel-2.json', import.meta.url).pathname
    const asked = await add('n\nn\n', newFile(), sentinel)
    expect(asked.stderr).toContain('(S3)\n  endpoint            https://eodata.eo.example/\n  signature goes to   s3://eodata/ (1 asset)\n')
    const login = await run(['login', sentinel, '--credentials', newFile()], { isTTY: true, stdin: 'n\n', env: { NO_COLOR: '1' } })
    expect([login.code, login.stderr.split('[y]es')]).toEqual([3, expect.objectContaining({ length: 2 })])
    expect(login.stderr).toContain('asks for "oidc" (OpenID Connect)')
  })

  it('the end of the input at the question is exit code 130, and nothing is written', async () => {
    const file = newFile()
    expect(await add('', file)).toMatchObject({ code: 130, stderr: expect.stringMatching(/\nerror ABORTED: interrupted\n$/) })
    await expect(stat(file)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('shows the whole credential and its targets when that is wanted', async () => {
    const { stderr } = await add('d\nn\n', newFile())
    expect(stderr.split(QUESTION)).toHaveLength(3)
    expect(stderr).toContain('"tokenUrl": "https://identity.example/token"')
    expect(stderr).toMatch(/for these targets\n {4}\/assets\/a\n {4}\/assets\/b\n {4}\/links\/0\n/)
  })
})

describe('a yes', () => {
  it.each([
    ['file:secret.txt', { file: resolve('secret.txt') }],
    ['env:$MY_SECRET', { env: 'MY_SECRET' }],
    ['keyring:mine', { keyring: 'mine' }],
  ])('writes the source %s so that it is the same from every working directory', async (typed, clientSecret) => {
    const file = newFile()
    expect(await add(`y\nme\n${typed}\n`, file)).toMatchObject({ code: 0 })
    expect(JSON.parse(await readFile(file, 'utf8')).credentials).toMatchObject([{ clientSecret }])
  })

  it('requests what only the user knows, and writes a credential that is used', async () => {
    const file = newFile()
    const { code, stdout, stderr } = await add('y\nme\nfile:~/secret\n', file, document, ['--scope', 'read', '--id', 'mine'])
    expect([code, stdout]).toEqual([0, ''])
    expect(stderr).toContain('  Client id:   Client secret, not shown (press Enter if it is in a variable, a file or a command): ')
    expect(stderr).toMatch(new RegExp(`credential "mine" is written to ${file}\n$`))
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({
      version: 1,
      credentials: [
        {
          id: 'mine',
          type: 'oauth2',
          flow: 'clientCredentials',
          tokenUrl: 'https://identity.example/token',
          clientId: 'me',
          clientSecret: { file: '~/secret' },
          scopes: ['read'],
          sendTo: ['https://data.example/', 'https://tiles.example/'],
        },
      ],
    })
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect((await stat(join(file, '..'))).mode & 0o777).toBe(0o700)
    expect((await stat(join(file, '../known-schemes.json'))).mode & 0o777).toBe(0o600)
    const { stdout: explained } = await run(['explain', document, '--asset', 'a', '--json', '--credentials', file])
    expect(JSON.parse(explained)[0].refs).toEqual([{ ref: 'oauth', scheme: 'oauth2', credential: 'mine' }])
    expect((await add('', file)).stderr).toMatch(/^nothing to add/)
  })

  it('never takes a secret where its place is requested', async () => {
    const file = newFile()
    const { stderr } = await add('y\nme\n\nhunter2\n\nv\n\n', file)
    expect(stderr).toContain('answer v, f or c; a secret is never typed where it is shown')
    expect(JSON.parse(await readFile(file, 'utf8')).credentials[0].clientSecret).toEqual({ env: 'STAC_AUTH_SECRET_OAUTH_CLIENT_SECRET' })
    expect(stderr + (await readFile(file, 'utf8'))).not.toContain('hunter2')
  })

  it('leaves the rest of the file as it was, and other credentials their ids', async () => {
    const text =
      '{ "version": 1,\r\n  "credentials": [\r\n    { "id": "oauth",   "type": "http", "scheme": "bearer",\r\n' +
      '      "token": { "env": "T" }, "sendTo": ["https://other.example/"] } ] }\r\n'
    const file = await put(folder, 'mine.json', text)
    await add(YES, file)
    const changed = await readFile(file, 'utf8')
    expect(changed.startsWith(text.slice(0, text.indexOf(' ] }\r\n')))).toBe(true)
    expect(changed).not.toMatch(/[^\r]\n/)
    expect(JSON.parse(changed).credentials.map(({ id }: { id: string }) => id)).toEqual(['oauth', 'oauth-2'])
  })

  it('a yes is refused for an id that is taken, before anything is asked', async () => {
    const file = newFile()
    await add(YES, file)
    expect(await add('y\n', file, document, ['--id', 'oauth'])).toMatchObject({ code: 2, stderr: expect.stringContaining('already') })
  })

  it('a yes to one of several ways is enough', async () => {
    const schemes = { key: { type: 'apiKey', in: 'header', name: 'x-key' }, oauth: OAUTH, basic: { type: 'http', scheme: 'basic' } }
    const both = { href: 'https://data.example/a', 'auth:refs': ['key', 'oauth', 'basic'] }
    const name = await put(folder, 'ways.json', itemWith({ both }, { schemes }))
    const { code, stderr } = await add(`n\n${YES}`, newFile(), name, ['--scope', 'read'])
    expect(code).toBe(0)
    expect(stderr).toContain('asks for "key" (API key, header x-key)\n  secret goes to   https://data.example/ (1 asset)\n')
    expect(stderr.split(QUESTION)).toHaveLength(3)
  })

  it('needs the places that a catalog leaves open first', async () => {
    const schemes = { sign: { type: 'signedUrl', flows: { get: { method: 'GET', authorizationApi: 'https://sign.example/s' } } } }
    const name = await put(folder, 'signed.json', itemWith({ a: { href: 'https://data.example/a', 'auth:refs': ['sign'] } }, { schemes }))
    const file = newFile()
    const { code, stderr } = await add('*\nhttps://*.blob.core.windows.net/ https://data.example/\ny\n', file, name)
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining('asks for "sign" (signing service)\n  secret goes to   https://sign.example/s\n'),
    ])
    expect(stderr).toContain('enter URL patterns separated by spaces, such as')
    expect(JSON.parse(await readFile(file, 'utf8')).credentials[0].signedUrlHosts).toHaveLength(2)
  })
})

describe('without a terminal', () => {
  it.each([
    ['no terminal', { isTTY: false }],
    ['a dumb one', { env: { TERM: 'dumb' } }],
  ])('%s is exit code 3, with the credential to add', async (_name, around) => {
    const file = newFile()
    const outcome = await add('y\ny\ny\n', file, document, [], around)
    expect([outcome.code, outcome.stdout]).toEqual([3, ''])
    expect(outcome.stderr).not.toContain('[y]es')
    const json = outcome.stderr.trimEnd().split('\n').at(-1)?.trim() ?? ''
    expect(JSON.parse(json)).toMatchObject({
      id: 'oauth',
      tokenUrl: FLOW.tokenUrl,
      sendTo: ['https://data.example/', 'https://tiles.example/'],
    })
    await expect(stat(file)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('--yes of login answers nothing', async () => {
    for (const isTTY of [true, false]) {
      const file = newFile()
      const outcome = await run(['login', document, '--yes', '--credentials', file], { isTTY, stdin: 'n\n' })
      expect(outcome.code).toBe(3)
      await expect(stat(file)).rejects.toMatchObject({ code: 'ENOENT' })
    }
  })
})

describe('a scheme that has changed', () => {
  it('a scheme that has changed is refused and not asked about, also where no credential is left', async () => {
    const name = 'changing.json'
    const path = await put(folder, name, JSON.parse(await readFile(document, 'utf8')))
    const file = newFile()
    await add(YES, file, path)
    const evil = { type: 'oauth2', flows: { clientCredentials: { tokenUrl: 'https://identity.evil.example/token' } } }
    await put(folder, name, itemWith({ a: asset('https://data.example/a.tif') }, { schemes: { oauth: evil } }))
    for (const content of [await readFile(file, 'utf8'), '{ "version": 1, "credentials": [] }']) {
      await put(join(file, '..'), 'credentials.json', content)
      const outcome = await add(YES, file, path)
      expect(outcome).toMatchObject({ code: 4, stderr: expect.stringContaining('error SCHEME_CHANGED /properties/auth:schemes/oauth') })
      expect(outcome.stderr).not.toContain('[y]es')
    }
    const json = await run(['login', path, '--credentials', file], { isTTY: true })
    expect(json.code).toBe(4)
  })

  it('a scheme that has changed is not one that offers a further way', async () => {
    const name = 'growing.json'
    const path = await put(folder, name, JSON.parse(await readFile(document, 'utf8')))
    const file = newFile()
    await add(YES, file, path)
    await put(join(file, '..'), 'credentials.json', '{ "version": 1, "credentials": [] }')
    const more = { ...OAUTH, flows: { ...OAUTH.flows, password: { tokenUrl: 'https://identity.example/token' } } }
    await put(folder, name, itemWith({ a: asset('https://data.example/a.tif') }, { schemes: { oauth: more } }))
    expect((await add('n\n', file, path)).stderr).toContain('[y]es')
  })

  it('a scheme that has changed cannot hide behind a damaged list', async () => {
    const file = newFile()
    await add(YES, file)
    await put(join(file, '..'), 'credentials.json', '{ "version": 1, "credentials": [] }')
    await put(join(file, '..'), 'known-schemes.json', '{')
    expect(await add('y\n', file)).toMatchObject({ code: 2, stderr: expect.stringContaining('is damaged') })
  })
})
