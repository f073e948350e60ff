/** `setup` that is interrupted, refused, repeated, and run without a terminal. */
import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startAnswering } from '../servers/answering-server.ts'
import { basicGuard } from '../servers/guards.ts'
import { put, temporaryFolder } from './folder.ts'
import { itemWith, KEY_SCHEME } from './items.ts'
import { lastError } from './run.ts'
import { ASKED, fourFiles, itemOf, newUser, SCHEMES, SECRETS, signingService } from './setup-user.ts'

const folder = await temporaryFolder()

describe('an interruption', () => {
  it('keeps what was finished, and the next run asks for the rest', async () => {
    const server = await fourFiles()
    const item = await itemOf(server, ['token', 'key', 'basic'])
    const user = await newUser()
    const interrupted = await user.at(['setup', item], ['y', SECRETS.token, 'y'])
    expect(interrupted.code).toBe(130)
    expect(interrupted.stderr).toMatch(
      /\ncredentials that were written are kept; run the same command again for the rest\nerror ABORTED: interrupted\n$/,
    )
    expect((await user.credentials()).map(({ id }) => id)).toEqual(['token'])
    expect(await readdir(user.secrets)).toEqual(['token.token'])
    const rest = await user.at(['setup', item], ['y', SECRETS.key, 'y', 'ada', SECRETS.password])
    expect([rest.code, rest.stderr.split(ASKED)]).toEqual([0, expect.objectContaining({ length: 3 })])
    expect(rest.stderr).toContain('+ "token" (HTTP, bearer)')
    expect(rest.stdout.match(/ works: /g)).toHaveLength(3)
  })

  it('leaves no secret of a credential that was not written', async () => {
    const server = await fourFiles()
    const user = await newUser()
    const abort = new AbortController()
    const onError = (text: string) => text.includes('Password') && abort.abort('SIGINT')
    const item = await itemOf(server, ['basic'])
    const interrupted = await user.at(['setup', item], ['y', 'ada'], { signal: abort.signal, onError })
    expect(interrupted.code).toBe(130)
    expect(interrupted.stderr).not.toContain('are kept')
    await expect(readdir(join(user.home, 'stac-auth'))).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('of credentials add is continued, too', async () => {
    const user = await newUser()
    const assets = {
      a: { href: 'https://data.example/a', 'auth:refs': ['key'] },
      b: { href: 'https://data.example/b', 'auth:refs': ['other'] },
    }
    const file = await put(
      folder,
      'two.json',
      itemWith(assets, { schemes: { key: KEY_SCHEME, other: { ...KEY_SCHEME, name: 'x-other' } } }),
    )
    expect(await user.at(['credentials', 'add', file], ['y', 'k1'])).toMatchObject({ code: 130 })
    expect(await user.at(['credentials', 'add', file], ['y', 'k2'])).toMatchObject({ code: 0 })
    expect((await user.credentials()).map(({ id }) => id)).toEqual(['key', 'other'])
  })
})

describe('the small requests', () => {
  it('offer to type the secret of the credential again that a signing service refuses', async () => {
    const guard = basicGuard('ada', SECRETS.password)
    const { item } = await signingService(guard, { href: { in: 'query', required: true } }, { account: SCHEMES.basic })
    const user = await newUser()
    const { code, stdout, stderr } = await user.at(['setup', item], ['y', 'ada', 'wrong', '', 'y', 'y', SECRETS.password])
    expect(stderr).toContain('Type the secret of "account" again?')
    expect([code, stdout]).toEqual([0, expect.stringMatching(/x "sign" fails: [^+]* \+ "sign" works/)])
    // The user name was typed as well, and may be what is wrong.
    expect(stderr).toContain(`"account" is for "ada"; if that is wrong, correct it in ${user.home}/stac-auth/credentials.json\n`)
  })

  it('come after each warning was shown once', async () => {
    const server = await fourFiles()
    const user = await newUser()
    const { code, stderr } = await user.at(['setup', await itemOf(server, ['token'])], ['y', SECRETS.token], {
      env: { STAC_AUTH_TOKEN: 'x' },
    })
    expect([code, stderr.match(/STAC_AUTH_TOKEN is ignored/g)]).toEqual([0, ['STAC_AUTH_TOKEN is ignored']])
  })

  it('offer to type a refused secret again', async () => {
    const server = await fourFiles()
    const user = await newUser()
    const item = await itemOf(server, ['token'])
    const { code, stdout, stderr } = await user.at(['setup', item], ['y', 'wrong', 'y', SECRETS.token])
    expect(stdout).toMatch(/x "token" fails: AUTH_REJECTED.*\n(?: .*\n)* {2}\+ "token" works/)
    expect(stderr).toContain('Type the secret of "token" again?  [y]es / [N]o ')
    expect(code).toBe(0)
    expect(await readFile(join(user.secrets, 'token.token'), 'utf8')).toBe(`${SECRETS.token}\n`)
    expect((await stat(join(user.secrets, 'token.token'))).mode & 0o777).toBe(0o600)
    expect(await user.at(['setup', item])).toMatchObject({ code: 0 })
  })

  it('end the question with a line when it is interrupted', async () => {
    const item = await itemOf(await fourFiles(), ['token'])
    const abort = new AbortController()
    const onError = (text: string) => text.includes('again?') && abort.abort('SIGINT')
    const { code, stderr } = await (await newUser()).at(['setup', item], ['y', 'wrong'], { signal: abort.signal, onError })
    expect([code, stderr]).toEqual([130, expect.stringMatching(/again\? {2}\[y\]es \/ \[N\]o \nerror ABORTED: interrupted\n$/)])
  })

  it('ask for one byte, and report a missing file', async () => {
    const server = await fourFiles()
    const user = await newUser()
    const schemes = { gone: KEY_SCHEME }
    const { code, stdout } = await user.at(['setup', await itemOf(server, ['gone'], schemes)], ['y', SECRETS.key])
    expect([code, stdout]).toEqual([5, expect.stringMatching(/x "gone" fails: HTTP_404: .*answered 404\n/)])
    expect(server.exchanges.map(({ request }) => request.headers.range)).toEqual(['bytes=0-0'])
  })
})

describe('setup without a terminal', () => {
  it.each(['xterm', 'dumb'])('ends in 2 and says what to do, whatever TERM is: %s', async (TERM) => {
    const server = await fourFiles()
    const user = await newUser()
    const item = await itemOf(server, ['key'])
    const { code, stdout, stderr } = await user.at(['setup', item], [], { isTTY: false, env: { TERM } })
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain('error USAGE: no credential matches "key", and setup asks for one at a terminal\n')
    expect(stderr).toContain(`  run stac-auth setup ${item} at a terminal, or, if you trust these URLs, add this credential to`)
    expect(JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({ id: 'key', sendTo: [`${server.origin}/`] })
  })

  it('quotes the name of the document for a shell in the command to run', async () => {
    const user = await newUser()
    const item = await put(folder, "ada's scene.json", itemWith({ B04: { href: 'https://data.example/B04.tif', 'auth:refs': ['key'] } }))
    const { stderr } = await user.at(['setup', item], [], { isTTY: false })
    expect(stderr).toContain(`  run stac-auth setup '${folder}/ada'\\''s scene.json' at a terminal`)
  })

  it('tests what is there', async () => {
    const server = await fourFiles()
    const user = await newUser()
    const item = await itemOf(server, ['key'])
    await user.at(['setup', item], ['y', SECRETS.key])
    expect(await user.at(['setup', item], [], { isTTY: false })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('+ "key" works'),
    })
  })

  it('lists what is there and what is missing with --json and --dry-run, and sends nothing', async () => {
    const server = await fourFiles()
    const user = await newUser()
    await user.at(['setup', await itemOf(server, ['key'])], ['y', SECRETS.key])
    const before = server.exchanges.length
    const item = await itemOf(server, ['key', 'token'])
    const json = await user.at(['setup', item, '--json'])
    const common = { document: item, pointer: expect.stringMatching(/^\/properties\/auth:schemes\//) }
    expect([json.code, JSON.parse(json.stdout)]).toEqual([
      3,
      [
        { ...common, scheme: 'key', type: 'apiKey', state: 'ready', credential: 'key', targets: ['/assets/key'] },
        {
          ...common,
          scheme: 'token',
          type: 'http',
          state: 'missing',
          code: 'NO_CREDENTIAL',
          targets: ['/assets/token'],
          proposal: {
            id: 'token',
            type: 'http',
            scheme: 'bearer',
            token: { env: 'STAC_AUTH_SECRET_TOKEN_TOKEN' },
            sendTo: [`${server.origin}/`],
          },
        },
      ],
    ])
    const dry = await user.at(['setup', item, '--dry-run'])
    expect([dry.code, dry.stdout, dry.stderr]).toEqual([3, expect.stringContaining('x "token" (HTTP, bearer)'), ''])
    expect(server.exchanges).toHaveLength(before)
  })

  it('says that a document needs no credential, and which one may', async () => {
    const catalog = {
      type: 'Catalog',
      id: 'c',
      description: '',
      stac_version: '1.0.0',
      links: [{ rel: 'item', href: 'https://c.example/i.json' }],
    }
    const name = await put(folder, 'catalog.json', catalog)
    const { code, stderr } = await (await newUser()).at(['setup', name])
    expect([code, stderr]).toEqual([
      0,
      `${name} names no scheme for its assets and links: they need no credential\nthe documents that it links to may need one: stac-auth setup https://c.example/i.json\n`,
    ])
    expect(lastError(await (await newUser()).at(['setup', '--json'])).code).toBe('USAGE')
  })

  it('says how a file gets a credential that its document does not name, where there is a credential', async () => {
    const server = await fourFiles()
    const user = await newUser()
    const bare = await put(folder, 'bare.json', itemWith({ B04: { href: `${server.origin}/gone` } }))
    const hint = 'if a server requires one nevertheless: --by-address sends the credential whose sendTo allows the URL\n'
    expect((await user.at(['setup', bare])).stderr).not.toContain(hint)
    await user.at(['setup', await itemOf(server, ['key'])], ['y', SECRETS.key])
    expect((await user.at(['setup', bare])).stderr).toContain(`they need no credential\n${hint}`)
  })
})

it('setup names the first assets and links that need a scheme, and counts the others', async () => {
  const refs = { 'auth:refs': ['key'] }
  const asset = { href: 'https://data.example/a.tif', ...refs }
  const assets = { 'a\x1b/b': { ...asset, alternate: { web: asset } }, c: asset, d: asset }
  const item = await put(folder, 'uses.json', itemWith(assets, { links: [{ rel: 'tiles', href: 'https://data.example/', ...refs }] }))
  const { stdout } = await (await newUser()).at(['setup', item, '--dry-run'])
  expect(stdout).toContain('no credential, for a\\u{1b}/b, a\\u{1b}/b/web, c and 2 more\n')
})

it('setup asks for no key for the host of a license', async () => {
  const assets = { a: { href: 'https://data.example/a.tif', 'auth:refs': ['key'] } }
  const link = (rel: string) => ({ rel, href: `https://${rel.replace(/^.*\//, '')}.example/`, 'auth:refs': ['key'] })
  const links = ['license', 'about', 'https://terms.example/rel/terms', 'search', 'http://www.opengis.net/def/rel/ogc/1.0/items'].map(link)
  const item = await put(folder, 'license.json', itemWith(assets, { links }))
  const { stdout } = await (await newUser()).at(['setup', item, '--json'])
  const [scheme] = JSON.parse(stdout)
  expect(scheme.proposal.sendTo).toEqual(['https://data.example/', 'https://search.example/', 'https://items.example/'])
})

describe('setup of a catalog', () => {
  const linking = (rel: string, href: string) => ({
    type: 'Catalog',
    id: 'c',
    description: '',
    stac_version: '1.0.0',
    links: [
      { rel: 'self', href: 'https://c.example/' },
      { rel, href },
    ],
  })

  it('follows its links to the first item', async () => {
    const server = await fourFiles()
    const user = await newUser()
    const item = await itemOf(server, ['key'])
    const name = await put(dirname(item), 'root.json', linking('child', './inner.json'))
    await put(dirname(item), 'inner.json', linking('item', basename(item)))
    const { code, stdout, stderr } = await user.at(['setup', name], ['y', SECRETS.key])
    expect(stderr).toContain(`"${name}" needs no credential itself, so its first document is used: ${item}\n${item} uses 1 scheme\n`)
    expect([code, stdout]).toEqual([0, expect.stringContaining(`stac-auth fetch ${item} --asset key -o key.tif`)])
  })

  it('follows links of a served catalog on its origin only', async () => {
    const server = await startAnswering(({ path }) => {
      const documents: Readonly<Record<string, object>> = {
        '/catalog.json': linking('item', '/item.json'),
        '/item.json': itemWith({ a: { href: 'https://data.example/a.tif', 'auth:refs': ['key'] } }),
        '/elsewhere.json': linking('item', 'https://other.example/item.json'),
      }
      const document = documents[path]
      return document ? { status: 200, body: JSON.stringify(document) } : { status: 404 }
    })
    onTestFinished(() => server.close())
    const user = await newUser()
    const found = await user.at(['setup', `${server.origin}/catalog.json`, '--json'])
    expect([found.code, JSON.parse(found.stdout)]).toMatchObject([3, [{ document: `${server.origin}/item.json`, scheme: 'key' }]])
    const other = await user.at(['setup', `${server.origin}/elsewhere.json`, '--dry-run'])
    expect([other.code, other.stdout]).toEqual([0, expect.stringContaining('stac-auth setup https://other.example/item.json\n')])
    expect(server.exchanges).toHaveLength(3)
  })
})

describe('the other questions of setup', () => {
  it('name a file for a key of several lines, and never ask for it to be typed', async () => {
    const user = await newUser()
    const schemes = { sealed: { type: 'http', scheme: 'concealed' } }
    const name = await put(folder, 'sealed.json', itemWith({ a: { href: 'https://data.example/a', 'auth:refs': ['sealed'] } }, { schemes }))
    const file = await put(folder, 'key.pem', '-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----\n')
    const abort = new AbortController()
    const onError = (text: string) => text.includes('is written to') && abort.abort('SIGINT')
    const { stderr } = await user.at(['setup', name], ['y', '', file, 'id-1'], { signal: abort.signal, onError })
    expect(stderr).toMatch(/Private key.* is in a \[v\]ariable \/ a \[F\]ile \/ a \[c\]ommand prints it: /)
    expect(await user.credentials()).toMatchObject([{ id: 'sealed', privateKey: { file }, keyId: 'id-1' }])
  })

  it('leave S3 keys to a profile of the AWS tools, or to where these look', async () => {
    const name = await put(
      folder,
      'bucket.json',
      itemWith({ a: { href: 's3://eo/a', 'auth:refs': ['s3'] } }, { schemes: { s3: { type: 's3' } } }),
    )
    for (const [typed, fields] of [
      [['y', 'p', ''], { profile: 'default' }],
      [['y', 'u'], {}],
    ] as const) {
      const user = await newUser()
      const abort = new AbortController()
      const onError = (text: string) => text.includes('is written to') && abort.abort('SIGINT')
      await user.at(['setup', name], typed, { signal: abort.signal, onError })
      expect(await user.credentials()).toEqual([{ id: 's3', type: 's3', ...fields, sendTo: ['s3://eo/'] }])
    }
  })
})

it('a credential file that cannot be written leaves no secret, and names the ways to use another file', async () => {
  const server = await fourFiles()
  const user = await newUser()
  const file = '/proc/stac-auth/credentials.json'
  const refused = await user.at(['setup', await itemOf(server, ['token']), '--credentials', file], ['y', SECRETS.token])
  expect(refused.code).toBe(6)
  expect(refused.stderr).not.toContain('is stored in')
  expect(refused.stderr).toContain(`error FILE_ACCESS: cannot write "${file}": `)
  expect(refused.stderr).toContain('\n  name a file in a folder that you can write with --credentials or STAC_AUTH_CREDENTIALS\n')
  expect(await readdir(user.secrets)).toEqual([])
})
