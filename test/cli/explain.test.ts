import { describe, expect, it } from 'vitest'
import { put, temporaryFolder } from './folder.ts'
import { itemWith, KEY_SCHEME, keyFor } from './items.ts'
import { run } from './run.ts'

const folder = await temporaryFolder()
const credentials = await put(folder, 'credentials.json', keyFor('https://data.example/'))
const href = 'https://data.example/f?token=in-the-href'
const schemes = { key: KEY_SCHEME, digest: { type: 'http', scheme: 'digest' }, none: { type: 'none' } }
const honest = itemWith(
  { data: { href, 'auth:refs': ['digest', 'gone', 'key'] }, free: { href, 'auth:refs': ['none'] }, plain: { href } },
  { schemes, links: [{ rel: 'self', href: 'https://data.example/x.json' }] },
)
const item = await put(folder, 'item.json', honest)
const explain = (...argv: string[]) => run(['explain', ...argv, '--credentials', credentials])

describe('explain', () => {
  it('names setup where a target has no usable credential, and only there', async () => {
    const locked = await put(
      folder,
      'locked.json',
      itemWith({ a: { href: 'https://far.example/a', 'auth:refs': ['digest'] } }, { schemes }),
    )
    expect((await explain(locked)).stderr).toBe(`\nstac-auth setup ${locked} asks for what is missing\n`)
    expect((await explain(locked, '--json')).stderr).toBe('')
    expect((await explain(item)).stderr).toBe('')
  })

  it('names setup for a target on this machine that no credential allows', async () => {
    const local = await put(folder, 'local.json', itemWith({ a: { href: 'http://127.0.0.1:1/a', 'auth:refs': ['key'] } }))
    const { code, stdout } = await explain(local)
    expect([code, stdout]).toEqual([4, expect.stringContaining(`a credential for its URL: stac-auth setup ${local}\n`)])
  })

  it('proposes no credential for an s3: URL that no credential of the type can authorize', async () => {
    const bucket = { openid: { type: 'openIdConnect', openIdConnectUrl: 'https://id.example/.well-known/openid-configuration' } }
    const asset = { href: 's3://bucket/a', 'auth:refs': ['openid'] }
    const path = await put(folder, 'bucket.json', itemWith({ a: asset }, { schemes: bucket }))
    const { stdout, stderr } = await explain(path)
    expect(stderr).toBe('')
    expect(stdout).toContain('NO_CREDENTIAL')
    expect(stdout).toContain('this type cannot authorize s3: URLs')
    expect(stdout).not.toContain('sendTo')
    const reason = 'no credential for s3://bucket (scheme "openid", type openIdConnect)'
    const hint = '  this type cannot authorize s3: URLs: report it to the publisher\n'
    for (const argv of [
      ['authorize', path, '--asset', 'a'],
      ['credentials', 'add', path],
    ])
      expect((await run([...argv, '--credentials', credentials])).stderr).toBe(
        `error NO_CREDENTIAL /assets/a/auth:refs/0: ${reason}\n${hint}`,
      )
    const setup = await run(['setup', path, '--credentials', credentials])
    expect([setup.code, setup.stderr]).toEqual([3, expect.stringContaining(`NO_CREDENTIAL /assets/a: ${reason}\n`)])
  })

  it('says that a URL with its own signature gets no credential, and when it expired', async () => {
    const signed = (end: string) => `https://data.example/f?sv=2022-11-02&sr=b&sp=r&se=${end}&sig=c2ln`
    const assets = {
      old: { href: signed('2020-01-01T00:00:00Z'), 'auth:refs': ['key'] },
      silent: { href: signed('2020-01-01T00:00:00Z') },
      good: { href: signed('2999-01-01T00:00:00Z'), 'auth:refs': ['key'] },
      open: { href: 'https://data.example/f?sv=2022-11-02&sr=c&si=readers&sig=c2ln', 'auth:refs': ['gone'] },
    }
    const path = await put(folder, 'signed.json', itemWith(assets, { schemes }))
    const { code, stdout, stderr } = await explain(path)
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout.split('\n').filter((line) => line.startsWith('  '))).toEqual([
      '  x the signature in its URL (Azure Storage) expired at 2020-01-01T00:00:00.000Z: it is requested as it is, without a credential. Read the document again for a new URL',
      '  + its URL carries a signature (Azure Storage), valid until 2999-01-01T00:00:00.000Z: it is requested as it is, without a credential',
      '  + its URL carries a signature (Azure Storage): it is requested as it is, without a credential',
    ])
    expect(stdout).not.toContain('c2ln')
    const json = JSON.parse((await explain(path, '--asset', 'old', '--json')).stdout)
    expect(json[0].signature).toEqual({ kind: 'Azure Storage', expiresAt: '2020-01-01T00:00:00.000Z', expired: true })
  })

  it('reports JSON that is not STAC', async () => {
    expect(await explain(await put(folder, 'other.json', { a: 1 }))).toMatchObject({
      code: 0,
      stderr: 'this is not an Item, a Collection, a Catalog or a list of them, so it has no assets and links\n',
    })
  })
})

describe('explain --json', () => {
  it('lists every target with what each of its references means', async () => {
    const { code, stdout, stderr } = await explain(item, '--json')
    expect([code, stderr]).toEqual([0, ''])
    const list = JSON.parse(stdout)
    expect(list.map(({ pointer }: { pointer: string }) => pointer)).toEqual(['/assets/data', '/assets/free', '/assets/plain', '/links/0'])
    expect(list[0]).toMatchObject({
      href,
      refs: [
        { ref: 'digest', scheme: 'http', code: 'NO_CREDENTIAL', message: expect.any(String) },
        { ref: 'gone', code: 'SCHEME_NOT_FOUND' },
        { ref: 'key', scheme: 'apiKey', credential: 'portal' },
      ],
    })
    expect(list[0].refs[2]).not.toHaveProperty('code')
  })

  it('explain --json is about one target when one is chosen', async () => {
    const { stdout } = await explain(item, '--json', '--asset', 'free')
    expect(JSON.parse(stdout)).toEqual([{ pointer: '/assets/free', href, refs: [{ ref: 'none', scheme: 'none' }] }])
  })
})

describe('exit code', () => {
  it.each([
    ['all can be reached', { data: { href, 'auth:refs': ['key'] } }, 0],
    ['nothing is asked for', { data: { href } }, 0],
    ['a reference leads nowhere', { data: { href, 'auth:refs': ['gone'] } }, 4],
    ['no entry fits', { data: { href, 'auth:refs': ['digest'] } }, 3],
    ['the one that got furthest counts', { data: { href: 'https://evil.example/', 'auth:refs': ['gone', 'key'] } }, 4],
    ['the address is refused', { data: { href: 'http://data.example/', 'auth:refs': ['key'] } }, 4],
    ['one of two cannot be reached', { a: { href, 'auth:refs': ['key'] }, b: { href, 'auth:refs': ['digest'] } }, 3],
  ])('%s', async (_name, assets, exit) => {
    const path = await put(folder, 'one.json', itemWith(assets, { schemes }))
    expect((await explain(path)).code).toBe(exit)
  })
})

it('explains the credential of the URL for a selected target only', async () => {
  const path = await put(folder, 'relative.json', itemWith({ data: { href: './no-base.tif' } }))
  expect((await explain(path)).code).toBe(0)
  expect(await explain(path, '--asset', 'data')).toMatchObject({ code: 4, stdout: expect.stringContaining('x URL_INVALID: ') })
})

it('reports which credential covers the URL of a chosen target that requests nothing', async () => {
  expect((await explain(item, '--asset', 'plain')).stdout).toBe(
    '1 target declares no authentication\n\n' +
      '"portal" may be sent to this URL: use --by-address, or set "use": "by-address" in the credential\n',
  )
})

it.each([
  ['has no targets', {}],
  ['has targets that ask for nothing', { plain: { href: 'https://far.example/f' } }],
])('reports when a document %s', async (_name, assets) => {
  const path = await put(folder, 'silent.json', itemWith(assets))
  expect(await explain(path)).toMatchObject({ code: 0, stdout: 'this document declares no authentication\n', stderr: '' })
})

describe('explain for people', () => {
  it('explain prints a block per target that requests something, in ASCII where needed', async () => {
    const { stdout } = await explain(item)
    const lines = stdout.split('\n')
    expect(lines[0]).toBe('/assets/data  https://data.example/f?token=…')
    expect(lines[1]).toMatch(/^ {2}x NO_CREDENTIAL: no credential for .* \(scheme "digest", type http\)/)
    expect(stdout).toContain('  + key (apiKey): portal\n')
    expect(stdout).toContain('  + none (none): needs no credential\n')
    expect(stdout).toContain('2 targets declare no authentication\n')
    expect(stdout).not.toContain('\u001b')
  })

  it('marks with signs and colours on a terminal that has them', async () => {
    const env = { LANG: 'en_GB.UTF-8', TERM: 'xterm' }
    const { stdout } = await run(['explain', item, '--credentials', credentials], { env, isTTY: true })
    expect(stdout).toContain('\u001b[32m✓\u001b[0m key (apiKey): portal')
  })

  it('prints nothing of a hostile document that a terminal would obey', async () => {
    const name = 'k\u001b[2J\n::error::\u202e\ud800'
    const hostile = itemWith(
      { [name]: { href: `https://data.example/\u001b${name}`, 'auth:refs': [name, `${name}2`] } },
      { schemes: { [name]: KEY_SCHEME } },
    )
    const path = await put(folder, 'hostile.json', hostile)
    for (const more of [[], ['--json']]) {
      const { stdout, stderr } = await explain(path, ...more)
      expect(stdout + stderr).not.toMatch(/[^\P{Cc}\n]|\p{Bidi_Control}|\p{Surrogate}/u)
      expect(stdout + stderr).not.toMatch(/^::/m)
    }
  })
})

describe('auth:refs that cannot be read', () => {
  const path = put(
    folder,
    'malformed.json',
    itemWith({ data: { href, 'auth:refs': [{}] }, list: { href, 'auth:refs': true } }, { schemes }),
  )

  it('auth:refs that cannot be read are explained with their pointers, and end in exit code 4', async () => {
    const { code, stdout } = await explain(await path, '--json')
    expect(code).toBe(4)
    expect(JSON.parse(stdout)).toMatchObject([
      { refs: [{ ref: '{}', code: 'SCHEME_INVALID', pointer: '/assets/data/auth:refs/0' }] },
      { refs: [{ ref: 'true', code: 'SCHEME_INVALID', pointer: '/assets/list/auth:refs' }] },
    ])
    expect((await explain(await path)).stdout).not.toContain('nothing in this document')
  })

  it.each([
    ['authorize', '--asset', 'data', '--as', 'json'],
    ['fetch', '--asset', 'data'],
    ['list', '--asset', 'list'],
  ])('auth:refs that cannot be read are refused by %s before anything is sent', async (command, ...options) => {
    const { code, stdout, stderr } = await run([command, await path, ...options, '--credentials', credentials])
    expect([code, stdout]).toEqual([4, ''])
    expect(stderr).toContain('SCHEME_INVALID')
  })

  it('auth:refs that cannot be read are refused by download for each asset', async () => {
    const { code, stderr } = await run(['download', await path, '-d', `${folder}/files`, '--credentials', credentials])
    expect(code).toBe(4)
    expect(stderr.match(/SCHEME_INVALID/g)?.length).toBe(2)
  })
})
