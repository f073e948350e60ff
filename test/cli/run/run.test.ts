import { describe, expect, it } from 'vitest'
import { asset, item } from '../../harness/documents.ts'
import { basicGuard } from '../../servers/guards.ts'
import { startProtectedFiles } from '../../servers/protected-files.ts'
import { put, temporaryFolder } from '../folder.ts'
import { itemWith } from '../items.ts'
import { run } from '../run.ts'

const folder = await temporaryFolder()
const scheme = { type: 'http', scheme: 'basic' }
const document = await put(folder, 'item.json', item({ b: scheme }, { B04: asset('https://data.example/a.tif', ['b']) }))
const node = (script: string, ...args: string[]) => ['--', process.execPath, '-e', script, ...args]
const PRINT = 'console.log(process.argv.slice(1).join(" "))'

describe('run', () => {
  it('starts the program with the URLs of the gateway in its arguments', async () => {
    const { code, stdout } = await run(['run', document, ...node(PRINT, '{B04}', '--json', '-x', '--', '{vsi:B04}')])
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^(http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\/https\/data\.example\/a\.tif) --json -x -- \/vsicurl\/\1\n$/),
    ])
  })

  it('leaves everything behind the first -- to the program, with options before it or after it', async () => {
    const credentials = await put(folder, 'credentials.json', { version: 1, credentials: [] })
    for (const before of [['--credentials', credentials, document], [document, `--credentials=${credentials}`], []]) {
      const { stdout } = await run(['run', ...before, ...node(PRINT, 'first', '--credentials', 'x', '--help')])
      expect(stdout).toBe('first --credentials x --help\n')
    }
  })

  it('says that -- is missing, and where', async () => {
    expect(await run(['run', document, 'echo', '{B04}'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        `-- is missing between the documents and the program\n  for example: stac-auth run ${document} -- echo '{B04}'`,
      ),
    })
  })

  it('names the provider of files that need one that is not set up', async () => {
    const credentials = await put(folder, 'none.json', { version: 1, credentials: [] })
    const scene = await put(folder, 'scene.json', itemWith({ data: { href: 'https://api.planet.com/data/v1/download?token=a' } }))
    const { stderr } = await run(['run', '--credentials', credentials, scene, ...node(PRINT, 'x')])
    expect(stderr).toContain('Planet: 1 asset needs the API key of your account. stac-auth setup planet\n')
  })

  it('asks for a program, and for one that exists', async () => {
    for (const argv of [['run', document], ['run', document, '--'], ['run']]) {
      expect(await run(argv)).toMatchObject({ code: 2, stderr: expect.stringContaining('USAGE: no program is given\n  name it after --') })
    }
    expect(await run(['run', document, '--', 'no-such-program', '{B04}'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('cannot start "no-such-program": the program was not found'),
    })
  })

  it('starts no program for an unknown placeholder', async () => {
    const { code, stdout, stderr } = await run(['run', document, ...node(PRINT, '{B05}')])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain('TARGET_NOT_FOUND: unknown placeholder {B05}\n  the targets are: B04\n')
    expect((await run(['run', document, ...node(PRINT, '{b-04}')])).stderr).toContain('{b-04}\n  did you mean {B04}?\n')
  })

  it('says why the URL of an asset cannot be used, and names no other one', async () => {
    const assets = { b: asset('https://data.example/a\\b.tif', ['b']), q: asset('https://data.example/q.tif', ['b']) }
    const name = await put(folder, 'refused.json', item({ b: scheme }, assets))
    const { code, stderr } = await run(['run', name, ...node(PRINT, '{b}')])
    expect(code).toBe(4)
    expect(stderr).toMatch(/^error URL_INVALID: \{b\} cannot be used: /)
    expect(stderr).not.toMatch(/\bq\b/)
  })

  it('reads an alternate asset where the asset itself cannot be requested, as download does', async () => {
    const alternates = (href: string) => ({ s3: { href: 's3://bucket/a.tif' }, https: { href } })
    for (const href of ['s3://eo/a.tif', 'https://data.example/a\\b.tif']) {
      const assets = { B04: { href, alternate: alternates('https://data.example/alt.tif') } }
      const name = await put(folder, 'alternate.json', item({}, assets))
      const { stdout, stderr } = await run(['run', name, ...node(PRINT, '{B04}')])
      expect(stdout).toMatch(/\/https\/data\.example\/alt\.tif\n$/)
      expect(stderr).toMatch(/^\{B04\} is read from its alternate asset \{B04\/https\}, because (?:NO_CREDENTIAL|URL_INVALID): /)
    }
    const first = await put(
      folder,
      'first.json',
      item({}, { B04: { href: 'https://data.example/a.tif', alternate: alternates('https://data.example/alt.tif') } }),
    )
    expect(await run(['run', first, ...node(PRINT, '{B04}')])).toMatchObject({ stdout: expect.stringMatching(/\/a\.tif\n$/), stderr: '' })
  })

  it('warns once of a large file that GDAL has loaded whole', async () => {
    const files = await startProtectedFiles({
      '/a.tif': { content: 'II*\0'.repeat(2 ** 18), guard: basicGuard('ada', 'hidden') },
      '/small.tif': { content: 'II*\0' },
    })
    try {
      const name = await put(
        folder,
        'large.json',
        item({ b: scheme }, { a: asset(`${files.origin}/a.tif`, ['b']), s: asset(`${files.origin}/small.tif`, ['b']) }),
      )
      const credential = { id: 'ada', ...scheme, username: 'ada', password: { env: 'PASSWORD_OF_ADA' }, sendTo: [`${files.origin}/`] }
      const credentials = await put(folder, 'large-credentials.json', { version: 1, credentials: [credential] })
      process.env.PASSWORD_OF_ADA = 'hidden'
      const script = `const get = (url, agent) => fetch(url, { headers: { 'user-agent': agent } }).then((answer) => answer.text())
        const [large, small] = process.argv.slice(1)
        get(large, 'curl/8').then(() => get(small, 'GDAL/3.6.2')).then(() => get(large, 'GDAL/3.6.2')).then(() => get(large, 'GDAL/3.6.2'))`
      const { stderr } = await run(['run', name, '--credentials', credentials, ...node(script, '{a}', '{s}')])
      expect(stderr).toBe(
        `GDAL loaded ${files.origin}/a.tif whole (1.0 MB): put /vsicurl/ before its URL, in run {vsi:KEY}, so that it reads only what it needs\n`,
      )
    } finally {
      delete process.env.PASSWORD_OF_ADA
      await files.close()
    }
  })

  it('ends with the exit code of the program, and says then what the gateway refused', async () => {
    const fetchIt = 'fetch(process.argv[1]).then((answer) => process.exit(answer.ok ? 0 : 9))'
    const { code, stderr } = await run(['run', document, ...node(fetchIt, '{B04}')])
    expect([code, stderr]).toEqual([
      9,
      expect.stringMatching(
        /^error NO_CREDENTIAL: the gateway refused https:\/\/data\.example\/a\.tif: no credential .*\n {2}stac-auth setup .*\n {2}or, if you trust /,
      ),
    ])
    const bare = await run(['run', document, ...node('process.exit(4)', 'B04')])
    expect([bare.code, bare.stderr]).toEqual([4, '"B04" was passed to the program as it is: write {B04} for the URL of the asset\n'])
  })

  it('warns of a target that the gateway refused last, even when the program succeeds as QGIS does', async () => {
    const get = 'fetch(process.argv[1]).then(() => process.exit(0))'
    const { code, stderr } = await run(['run', document, ...node(get, '{B04}')])
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(
        /^warning NO_CREDENTIAL: the gateway refused https:\/\/data\.example\/a\.tif: no credential .*\n {2}stac-auth setup /,
      ),
    ])
    const elsewhere = 'fetch(process.env.STAC_AUTH_GATEWAY + "https/other.example/x").then(() => process.exit(0))'
    const beside = await run(['run', document, ...node(elsewhere)])
    expect([beside.code, beside.stderr]).toEqual([0, ''])
  })

  it('lets the program read what it cannot read itself, and keeps the secret from it', async () => {
    const files = await startProtectedFiles({ '/a.txt': { content: 'inside', guard: basicGuard('ada', 'hidden') } })
    try {
      const source = await put(folder, 'own.json', item({ b: scheme }, { a: asset(`${files.origin}/a.txt`, ['b']) }))
      const secret = { id: 'b', type: 'http', scheme: 'basic', username: 'ada', password: { env: 'PASSWORD_OF_ADA' } }
      const credentials = await put(folder, 'ada.json', { version: 1, credentials: [{ ...secret, sendTo: [`${files.origin}/`] }] })
      process.env.PASSWORD_OF_ADA = 'hidden'
      const script = 'fetch(process.argv[1]).then((answer) => answer.text()).then((text) => console.log(text, process.env.PASSWORD_OF_ADA))'
      const env = { PASSWORD_OF_ADA: 'hidden' }
      const argv = (...options: string[]) => ['run', source, '--credentials', credentials, ...options, ...node(script, '{a}')]
      expect((await run(argv(), { env })).stdout).toBe('inside undefined\n')
      expect((await run(argv('--inherit-secrets'), { env })).stdout).toBe('inside hidden\n')
    } finally {
      delete process.env.PASSWORD_OF_ADA
      await files.close()
    }
  })
})
