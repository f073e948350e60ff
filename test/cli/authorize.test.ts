import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { put, temporaryFolder } from './folder.ts'
import { itemWith, keyFor } from './items.ts'
import { lastError, run } from './run.ts'

const SECRET = 'hunter2-hunter2'
const folder = await temporaryFolder()
const credentials = await put(folder, 'credentials.json', keyFor('https://data.example/'))
const href = 'https://data.example/B04.tif?x=1'
const item = await put(
  folder,
  'item.json',
  itemWith(
    {
      B04: { href, 'auth:refs': ['key'] },
      'a/b': { href, alternate: { 'c/d': { href: 'https://data.example/alt/slashes', 'auth:refs': ['key'] } } },
      a: { href, alternate: { 'b/c/d': { href: 'https://data.example/alt/short' }, d: { href: 'https://data.example/alt/d' } } },
      evil: { href: 'https://evil.example/f', 'auth:refs': ['key'] },
      open: { href: 'https://public.example/f' },
      relative: { href: './B05.tif', 'auth:refs': ['key'] },
    },
    {
      links: [
        { rel: 'self', href: 'https://data.example/items/x.json' },
        { rel: 'next', href: 'https://data.example/1', 'auth:refs': ['key'] },
        { rel: 'next', href: 'https://data.example/2', 'auth:refs': ['key'] },
        { rel: 'http://rel.example/x#2', href: 'https://data.example/odd' },
      ],
    },
  ),
)

const authorize = (...argv: string[]) => run(['authorize', item, '--credentials', credentials, ...argv])

beforeEach(() => vi.stubEnv('STAC_AUTH_TEST_KEY', SECRET))
afterEach(() => vi.unstubAllEnvs())

describe('authorize', () => {
  it('prints the whole request for programs', async () => {
    const { code, stdout, stderr } = await authorize('--asset', 'B04', '--as', 'json')
    expect([code, stderr]).toEqual([0, ''])
    expect(JSON.parse(stdout)).toEqual({
      method: 'GET',
      url: href,
      headers: { 'x-api-key': SECRET },
      ref: 'key',
      scheme: 'apiKey',
      credential: 'portal',
      pointer: '/assets/B04',
    })
  })

  it.each([
    ['http', 'GET /B04.tif?x=1 HTTP/1.1\nhost: data.example\nx-api-key: [secret]\n\n'],
    ['curl', `curl --globoff \\\n  --header 'x-api-key: [secret]' \\\n  '${href}' \\\n  <secrets are hidden: use --reveal>\n`],
    ['url', `${href}\n`],
    ['headers', 'x-api-key: [secret]\n'],
  ])('authorize as %s hides the secret unless asked to reveal it', async (form, expected) => {
    expect(await authorize('--asset', 'B04', '--as', form)).toEqual(expect.objectContaining({ code: 0, stdout: expected }))
    const revealed = await authorize('--asset', 'B04', '--as', form, '--reveal')
    expect(revealed.stdout).toBe(expected.replace('[secret]', SECRET).replace(/ \\\n {2}<.*>/, ''))
  })

  it.each([
    ['http', 'secrets are hidden: --reveal shows them\n'],
    ['headers', 'secrets are hidden: --reveal shows them\n'],
    ['json', ''],
    ['url', 'the URL alone is not authorized: it needs x-api-key (see --as headers)\n'],
  ])('authorize as %s says what it omits, once', async (form, note) => {
    expect((await authorize('--asset', 'B04', '--as', form)).stderr).toBe(note)
    expect((await authorize('--asset', 'B04', '--as', form, '--reveal')).stderr).toBe(form === 'url' ? note : '')
  })

  it('reports on stderr until when the request is valid, in words too', async () => {
    const file = await put(folder, 's3.json', {
      version: 1,
      credentials: [
        {
          id: 'eo',
          type: 's3',
          accessKeyId: { env: 'STAC_AUTH_TEST_KEY' },
          secretAccessKey: { env: 'STAC_AUTH_TEST_KEY' },
          region: 'eu-central-1',
          sendTo: ['s3://eo/'],
        },
      ],
    })
    const scene = await put(
      folder,
      'scene.json',
      itemWith({ data: { href: 's3://eo/a.tif', 'auth:refs': ['s3'] } }, { schemes: { s3: { type: 's3' } } }),
    )
    const { stderr } = await run(['authorize', scene, '--asset', 'data', '--as', 'url', '--reveal', '--credentials', file])
    expect(stderr).toMatch(/^valid until 20\S+Z \(in (60 minutes|59 minutes|1 hour)\)\n$/)
  })

  it('authorize without a target lists the assets, with what distinguishes them', async () => {
    const { code, stdout, stderr } = await authorize()
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(
      /^error USAGE: no target is selected: give --asset KEY, --alternate KEY\/NAME or --link REL\n {2}the assets are:\n/,
    )
    expect(stderr).toMatch(/^ {4}B04 {7}- {2}- {2}refs key$/m)
    expect(stderr).toMatch(/^ {4}a\/b {7}- {2}- {2}alternates c\/d$/m)
    expect(stderr).toMatch(/\n {2}for example --asset B04\n$/)
  })

  it('lists alternates as they are to be written', async () => {
    const { code, stderr } = await authorize('--alternate', 'alt')
    expect([code, stderr]).toEqual([2, expect.stringContaining('  give KEY/NAME; the alternate assets are: a/b/c/d, a/b/c/d, a/d\n')])
  })

  it('takes the credential file from STAC_AUTH_CREDENTIALS', async () => {
    const { code } = await run(['authorize', item, '--asset', 'B04'], { env: { STAC_AUTH_CREDENTIALS: credentials } })
    expect(code).toBe(0)
  })

  it.each([
    [['--alternate', 'a/b/c/d'], 'https://data.example/alt/slashes'],
    [['--alternate', 'a/d'], 'https://data.example/alt/d'],
    [['--link', 'next'], 'https://data.example/1'],
    [['--link', 'next#1'], 'https://data.example/2'],
    [['--link', 'http://rel.example/x#2'], 'https://data.example/odd'],
    [['--asset', 'open'], 'https://public.example/f'],
    [['--asset', 'relative'], 'https://data.example/items/B05.tif'],
  ])('%j is %s', async (choice, url) => {
    const outcome = await authorize(...choice, '--as', 'url')
    expect(outcome).toMatchObject({ code: 0, stdout: `${url}\n` })
  })

  it.each([
    [['--asset', 'nothing'], 2, 'TARGET_NOT_FOUND', undefined],
    [['--link', 'next#2'], 2, 'TARGET_NOT_FOUND', undefined],
    [['--alternate', 'B04/none'], 2, 'TARGET_NOT_FOUND', undefined],
    [['--asset', 'evil'], 4, 'CREDENTIAL_TARGET_UNTRUSTED', '/assets/evil/href'],
  ])('%j ends in %i with %s', async (choice, exit, code, pointer) => {
    const outcome = await authorize(...choice, '--as', 'json')
    expect([outcome.code, outcome.stdout]).toEqual([exit, ''])
    expect(lastError(outcome)).toMatchObject({ code, ...(pointer && { pointer }) })
    expect((await authorize(...choice)).stderr).toMatch(new RegExp(`^error ${code}[: ]`))
  })

  it('reports what to do when nothing is configured', async () => {
    const empty = await put(folder, 'empty.json', { version: 1, credentials: [] })
    const outcome = await run(['authorize', item, '--asset', 'B04', '--as', 'json', '--credentials', empty])
    expect(outcome.code).toBe(3)
    expect(lastError(outcome)).toMatchObject({
      code: 'NO_CREDENTIAL',
      pointer: '/assets/B04/auth:refs/0',
      hint: expect.stringContaining('apiKey'),
    })
  })

  it('prints nothing of a hostile document that a terminal would obey', async () => {
    const name = 'k\u001b[2J\n::error::\u202e'
    const hostile = itemWith(
      { [name]: { href: 'https://data.example/f', 'auth:refs': [name] } },
      { schemes: { [name]: { type: 'nonsense' } } },
    )
    const path = await put(folder, 'hostile.json', hostile)
    for (const as of ['http', 'json']) {
      const { code, stderr, stdout } = await run(['authorize', path, '--asset', name, '--as', as, '--credentials', credentials])
      expect(code).toBe(4)
      expect(stderr + stdout).not.toMatch(/[^\P{Cc}\n]|\p{Bidi_Control}/u)
      expect(stderr).not.toMatch(/^::/m)
    }
  })

  it('hides a key in the URL, and reports that by the structure of the request', async () => {
    const entry = {
      id: 'q',
      type: 'apiKey',
      in: 'query',
      name: 'key',
      value: { env: 'STAC_AUTH_TEST_KEY' },
      sendTo: ['https://data.example/'],
    }
    const file = await put(folder, 'query.json', { version: 1, credentials: [entry] })
    const asset = { data: { href: 'https://data.example/f?sig=a%2Fb+c', 'auth:refs': ['k'] } }
    const path = await put(folder, 'query-item.json', itemWith(asset, { schemes: { k: { type: 'apiKey', in: 'query', name: 'key' } } }))
    const url = (...more: string[]) => run(['authorize', path, '--asset', 'data', '--as', 'url', '--credentials', file, ...more])
    expect(await url()).toMatchObject({
      stdout: 'https://data.example/f?sig=…&key=…\n',
      stderr: 'secrets are hidden: --reveal shows them\n',
    })
    const headers = await run(['authorize', path, '--asset', 'data', '--as', 'headers', '--credentials', file])
    expect(headers).toMatchObject({ code: 0, stdout: '', stderr: 'the key is in the URL (see --as url --reveal)\n' })
    expect((await url('--reveal')).stdout).toBe(`https://data.example/f?sig=a%2Fb+c&key=${SECRET}\n`)
  })
})
