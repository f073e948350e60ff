import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { proposedName } from '../../../src/http/headers.ts'
import { verifyFolder } from '../../../src/node/download/index.ts'
import { MANIFEST_NAME } from '../../../src/node/download/manifest.ts'
import { plainSuffix } from '../../../src/text/file-name.ts'
import { temporaryFolder } from '../../cli/folder.ts'
import { type FileServer, noise, startFileServer } from '../../servers/file-server.ts'
import { codesOf, filesIn, itemOf, ofKind, run } from './fixture.ts'

const server = { origin: 'https://data.example' }

/** The names that a download would give. */
async function named(assets: object, options = {}, ids = ['one']) {
  const items = ids.map((id) => itemOf(server, assets, { id }))
  const result = await run(items, { folder: await temporaryFolder(), dryRun: true, template: '{id}/{name}', ...options })
  return { names: ofKind(result, 'planned').map(({ file }) => file.name), codes: codesOf(result) }
}

const product = (number: number) => ({ href: `https://odata.example/Products(${number})/$value`, type: 'application/zip' })

describe('a URL whose last segment says nothing', () => {
  it('returns the key of the asset, so that two of them are two files', async () => {
    const assets = { product: product(1), quicklook: { href: 'https://odata.example/Assets(2)/$value', type: 'image/jpeg' } }
    expect(await named(assets)).toEqual({ names: ['one/product.zip', 'one/quicklook.jpg'], codes: [] })
  })

  it('adds the id where the template does not distinguish items', async () => {
    const items = [1, 2].map((number) => itemOf(server, { product: product(number) }, { id: `item-${number}` }))
    const result = await run(items, { folder: await temporaryFolder(), dryRun: true, template: '{name}' })
    expect([ofKind(result, 'planned').map(({ file }) => file.name), codesOf(result)]).toEqual([
      ['item-1_product.zip', 'item-2_product.zip'],
      [],
    ])
  })

  it.each(['download?id=1', 'x/file', 'x/', 'x/Content'])('a URL whose last segment says nothing is recognised: %s', async (href) => {
    expect((await named({ B04: { href } })).names).toEqual(['one/B04'])
  })

  it('lets no key lead elsewhere', async () => {
    const { names } = await named({ '../../etc/passwd': { href: 'a/$value' }, '.bashrc': { href: 'b/$value' } })
    expect(names).toEqual(['one/_.._etc_passwd', 'one/bashrc'])
  })
})

describe('a name without an extension', () => {
  it('gets that of its media type, {ext} too', async () => {
    const assets = { data: { href: 'B04', type: 'image/tiff; application=geotiff; profile=cloud-optimized' } }
    expect((await named(assets)).names).toEqual(['one/B04.tif'])
    expect((await named(assets, { template: '{key}{ext}' })).names).toEqual(['data.tif'])
  })

  it('stays as it is where the media type has none, and one with an extension always', async () => {
    const assets = { a: { href: 'a', type: '__proto__' }, b: { href: 'b.tiff', type: 'image/jp2' }, c: { href: 'c' } }
    expect((await named(assets)).names).toEqual(['one/a', 'one/b.tiff', 'one/c'])
  })
})

describe('a choice of assets', () => {
  const keys = ['B01', 'B02', 'B8A', 'meta/x', 'B[1]']
  const assets = { ...Object.fromEntries(keys.map((key) => [key, { href: `${key.replace(/\W/g, '')}.tif` }])), info: { href: 'info.xml' } }
  const chosen = async (choice: object) => (await named(assets, { template: '{key}', assets: choice })).names

  it('takes globs of keys, in which a slash is nothing special', async () => {
    expect(await chosen({ keys: ['B0*'] })).toEqual(['B01', 'B02'])
    expect(await chosen({ keys: ['B{01,8A}', 'info'] })).toEqual(['B01', 'B8A', 'info'])
    expect(await chosen({ keys: ['m*'] })).toEqual(['meta_x'])
  })

  it('takes a key as it is before it is a glob', async () => {
    expect(await chosen({ keys: ['B[1]'] })).toEqual(['B[1]'])
  })

  it('omits keys and names that match', async () => {
    expect(await chosen({ exclude: ['*.xml', 'B0?', 'meta/*'] })).toEqual(['B8A', 'B[1]'])
    expect(await chosen({ keys: ['B*'], exclude: ['B01', 'b*'] })).toEqual(['B02', 'B8A', 'B[1]'])
  })
})

describe('{local_path}', () => {
  const template = '{id}/{local_path}'
  const asset = (path: unknown) => ({ data: { href: 'B04.tif', 'file:local_path': path } })
  const place = async (path: unknown) => (await named(asset(path), { template })).names[0]

  it('{local_path} is the file:local_path of the asset, with its folders', async () => {
    expect(await place('GRANULE/IMG_DATA/R10m/B04.jp2')).toBe('one/GRANULE/IMG_DATA/R10m/B04.jp2')
    expect(await place('./a//b.tif')).toBe('one/a/b.tif')
  })

  it('{local_path} is the name in the URL where there is no file:local_path', async () => {
    expect((await named({ data: { href: 'x/B04.tif' } }, { template })).names).toEqual(['one/B04.tif'])
  })

  it('{local_path} is not used by any other template', async () => {
    expect((await named(asset('a/b.tif'))).names).toEqual(['one/B04.tif'])
  })

  it('{local_path} is that of the asset for an alternate that has none', async () => {
    const data = { href: 'B04.tif', 'file:local_path': 'a/b.tif', alternate: { s3: { href: 'other.tif' } } }
    expect((await named({ data }, { template, alternates: ['s3'] })).names).toEqual(['one/a/b.tif'])
  })

  it.each([
    '../x',
    '..',
    'a/..',
    'a/../../x',
    '/etc/x',
    '//host/share/x',
    'C:\\x',
    'C:x',
    'c:/x',
    '\\\\host\\share\\x',
    'a\\..\\x',
    'a/b\0.tif',
    'a\n/b.tif',
    'a/\u0085b',
    '',
    '.',
    './/.',
    'a/',
    Array(300).fill('a').join('/'),
    Array(17).fill('a').join('/'),
    'x'.repeat(1025),
    7,
    ['a', 'b'],
    { a: 1 },
  ])('ignores a path that is not one below the folder: %j', async (path) => {
    expect(await place(path)).toBe('one/B04.tif')
  })

  it.each([
    ['con/aux.tif', 'one/_con/_aux.tif'],
    ['a/NUL', 'one/a/_NUL'],
    ['.ssh/authorized_keys', 'one/ssh/authorized_keys'],
    ['.../x', 'one/asset/x'],
    ['.. /x', 'one/asset/x'],
    ['-rf/~x', 'one/rf/x'],
    ['a/b:stream', 'one/a/b_stream'],
    ['a.part/b.part', 'one/a.part_/b.part_'],
    ['%2e%2e/%2fx', 'one/%2e%2e/%2fx'],
    ['a/\u202egnp.exe', 'one/a/_gnp.exe'],
    ['{id}/$&', 'one/{id}/$&'],
    [`${'ä'.repeat(150)}/x`, `one/${'ä'.repeat(100)}/x`],
  ])('sanitizes each segment of %j', async (path, name) => {
    expect(await place(path)).toBe(name)
  })

  it('finds two assets of one place, also where only case differs', async () => {
    const assets = { a: { href: 'a', 'file:local_path': 'x/Y' }, b: { href: 'b', 'file:local_path': 'X/y' } }
    expect((await named(assets, { template })).codes).toEqual(['PATH_COLLISION'])
  })

  it.each(['{id}/a{local_path}', '{local_path}{ext}', '{local_path}{local_path}'])(
    '{local_path} is refused beside other text: %s',
    async (wrong) => {
      await expect(named(asset('a'), { template: wrong })).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    },
  )

  it('leads through no link, and replaces neither a folder nor a file on its way', async () => {
    const [folder, outside] = [await temporaryFolder(), await temporaryFolder()]
    await symlink(outside, join(folder, 'linked'))
    await symlink(join(outside, 'new'), join(folder, 'link'))
    await mkdir(join(folder, 'there'))
    await writeFile(join(folder, 'file'), 'old')
    const host = await startFileServer((path) => ({ bytes: Buffer.from(path) }))
    try {
      const paths = ['linked/x', 'linked/a/b', 'link', 'there', 'file/x', 'good/x']
      const assets = Object.fromEntries(paths.map((path, number) => [path, { href: `${number}`, 'file:local_path': path }]))
      const result = await run([itemOf(host, assets)], { folder, server: host, template: '{local_path}' })
      const failed = ofKind(result, 'failed').map(({ file, error }) => [file.name, error.code])
      expect(Object.fromEntries(failed)).toEqual({
        'linked/x': 'PATH_UNSAFE',
        'linked/a/b': 'PATH_UNSAFE',
        link: 'PATH_UNSAFE',
        there: 'PATH_UNSAFE',
        'file/x': 'PATH_UNSAFE',
      })
      expect([await readdir(outside), await readFile(join(folder, 'file'), 'utf8')]).toEqual([[], 'old'])
      expect(await readFile(join(folder, 'good/x'), 'utf8')).toBe('/5')
    } finally {
      await host.close()
    }
  })
})

/** Answers with bytes and, where there is one, a Content-Disposition for each path. */
async function proposing(
  fields: Readonly<Record<string, string | undefined>>,
  size = 100,
  faultOf?: Parameters<typeof startFileServer>[1],
) {
  const host = await startFileServer((path) => {
    const field = fields[path]
    return {
      bytes: noise(size, /\.[a-z]+$/i.test(path) ? path : path + plainSuffix(proposedName(field ?? null) ?? '')),
      ...(field !== undefined && { headers: { 'content-disposition': field } }),
    }
  }, faultOf)
  closing.push(host)
  return host
}

const closing: FileServer[] = []
afterAll(() => Promise.all(closing.map((started) => started.close())))

describe('a name that gets no extension from its document', () => {
  const asset = { data: { href: 'download?id=7' } }
  const template = '{id}/{name}'

  it.each([
    ['attachment; filename="S2A.SAFE.zip"', '.zip'],
    ['attachment; filename=scene.TIF', '.TIF'],
    ["attachment; filename=a.zip; filename*=UTF-8''na%C3%AFve%20file.tif", '.tif'],
    ["attachment; filename*=utf-8'de'x.nc; filename=a.zip", '.nc'],
    ["attachment; filename*=ISO-8859-1''x.tif; filename=a.zip", '.zip'],
    ["attachment; filename*=UTF-8''%FF.tif; filename=a.zip", '.zip'],
    ['attachment; filename="a; filename=b.exe.zip"', '.zip'],
    ['inline; size=3; FileName = "a\\"b.h5"', '.h5'],
    ['attachment; filename="data.tar.gz"', '.tar.gz'],
    ['attachment; filename="v1.2.gz"', '.gz'],
    ['attachment; filename="../../../etc/x.zip"', '.zip'],
    ['attachment; filename="C:\\\\Windows\\\\x.jp2"', '.jp2'],
    ['attachment; filename=a.zip; filename=b.tif', '.zip'],
  ])('takes that of %s', async (field, suffix) => {
    const host = await proposing({ '/download?id=7': field })
    const folder = await temporaryFolder()
    const result = await run([itemOf(host, asset)], { folder, server: host, template })
    expect(codesOf(result)).toEqual([])
    expect(ofKind(result, 'planned')[0]?.file.name).toBe('one/data')
    expect(ofKind(result, 'written')[0]?.file).toMatchObject({
      number: 1,
      name: `one/data${suffix}`,
      path: join(folder, `one/data${suffix}`),
    })
    expect(Object.keys(await filesIn(folder))).toEqual([`one/data${suffix}`])
  })

  it.each([
    'attachment',
    'attachment; filename=""',
    'attachment; filename="plain"',
    'attachment; filename=".zip"',
    'attachment; filename="..zip"',
    'attachment; filename="x."',
    'attachment; filename="x.zip "',
    'attachment; filename="x.zip."',
    'attachment; filename="x.part"',
    'attachment; filename="x.PART"',
    'attachment; filename="10.5281"',
    'attachment; filename="x.exe"',
    'attachment; filename="x.lnk"',
    'attachment; filename="x.zip/.."',
    'attachment; filename="x.z\u00efp"',
    'attachment; filename="x.z:p"',
    'attachment; filename="x.zip%00.a-b"',
    `attachment; filename="x.${'z'.repeat(16)}"`,
    `attachment; filename="${'x'.repeat(5000)}.zip"`,
    "attachment; filename*=UTF-8''x.%2e%2e%2fzip",
    'attachment; filename="x.zip', // no end
    'attachment filename=x.zip',
    'attachment; xfilename=x.zip',
  ])('stays without for %s', async (field) => {
    const host = await proposing({ '/download?id=7': field })
    const folder = await temporaryFolder()
    expect((await run([itemOf(host, asset)], { folder, server: host, template })).summary).toMatchObject({ written: 1, failed: 0 })
    expect(Object.keys(await filesIn(folder))).toEqual(['one/data'])
  })

  it('takes none where the URL, the media type, the template or file:local_path says what it is', async () => {
    const field = 'attachment; filename=x.zip'
    const host = await proposing({ '/a.tif': field, '/download': field, '/c': field })
    const folder = await temporaryFolder()
    const assets = { a: { href: 'a.tif' }, b: { href: 'download', type: 'text/csv' } }
    await run([itemOf(host, assets)], { folder, server: host, template })
    await run([itemOf(host, { c: { href: 'c' } })], { folder, server: host, template: '{key}' })
    await run([itemOf(host, { d: { href: 'c', 'file:local_path': 'd' } })], { folder, server: host, template: '{local_path}' })
    expect(Object.keys(await filesIn(folder)).sort()).toEqual(['c', 'd', 'one/a.tif', 'one/b.csv'])
  })

  it('a name without an extension is found again without a request, also by --verify and verifyFolder', async () => {
    const host = await proposing({ '/download?id=7': 'attachment; filename=x.zip' }, 3 * 2 ** 20)
    const folder = await temporaryFolder()
    const manifest = join(await temporaryFolder(), 'manifest')
    await run([itemOf(host, asset)], { folder, server: host, template, manifest })
    const before = host.asked.length
    const again = await run([itemOf(host, asset)], { folder, server: host, template })
    expect([again.summary.kept, codesOf(again), host.asked.length - before]).toEqual([1, [], 0])
    expect(ofKind(again, 'kept')[0]).toMatchObject({ file: { name: 'one/data.zip' }, verified: ['manifest'] })
    expect(
      (await readFile(manifest, 'utf8'))
        .trimEnd()
        .split('\n')
        .slice(1)
        .map((line) => JSON.parse(line)),
    ).toMatchObject([{ path: 'one/data.zip', suffix: '.zip', url: `${host.origin}/download` }])
    const events = []
    for await (const event of verifyFolder({ folder })) events.push(event)
    expect(events).toMatchObject([
      { kind: 'verified', path: 'one/data.zip' },
      { kind: 'summary', failed: 0 },
    ])
    expect((await run([itemOf(host, asset)], { folder, server: host, template, existing: 'replace' })).summary).toMatchObject({
      written: 1,
    })
    expect(codesOf(await run([itemOf(host, asset)], { folder, server: host, template, existing: 'refuse' }))).toEqual(['PATH_EXISTS'])
    await writeFile(join(folder, 'one/data.zip'), 'other')
    expect(codesOf(await run([itemOf(host, asset)], { folder, server: host, template }))).toEqual(['PATH_EXISTS'])
  })

  it('loses nothing when a run is killed before the file was noted', async () => {
    const host = await proposing({ '/download?id=7': 'attachment; filename=x.zip' })
    const folder = await temporaryFolder()
    await run([itemOf(host, asset)], { folder, server: host, template })
    await writeFile(join(folder, MANIFEST_NAME), '')
    const again = await run([itemOf(host, asset)], { folder, server: host, template })
    expect([again.summary.kept, codesOf(again), host.asked.length]).toEqual([1, [], 2])
    expect(Object.keys(await filesIn(folder))).toEqual(['one/data.zip'])
  })

  it('keeps no file that is there by chance and has another size', async () => {
    const host = await proposing({ '/download?id=7': 'attachment; filename=x.zip' })
    const folder = await temporaryFolder()
    await mkdir(join(folder, 'one'))
    await writeFile(join(folder, 'one/data.zip'), 'other')
    const result = await run([itemOf(host, asset)], { folder, server: host, template })
    expect(ofKind(result, 'failed').map(({ error }) => [error.code, error.message])).toEqual([
      ['PATH_EXISTS', '"one/data.zip" exists already and has 5 bytes; the server has 100'],
    ])
    expect(await readFile(join(folder, 'one/data.zip'), 'utf8')).toBe('other')
    expect(await readdir(join(folder, 'one'))).toEqual(['data.zip'])
  })

  it('a download resumes under its planned name, where the part says no name', async () => {
    const size = 6 * 2 ** 20
    const field = 'attachment; filename=x.zip'
    const bytes = noise(size, 'x.zip')
    const host = await startFileServer(
      (_, { range }) => ({ bytes, ...(range === undefined && { headers: { 'content-disposition': field } }) }),
      (_, n) => (n === 0 ? { resetAfter: 4 * 2 ** 20 } : undefined),
    )
    closing.push(host)
    const folder = await temporaryFolder()
    const first = await run([itemOf(host, asset)], { folder, server: host, template, retries: 0 })
    expect(first.summary).toMatchObject({ failed: 1 })
    expect((await readdir(join(folder, 'one'))).sort()).toEqual(['data.part', 'data.part.json'])
    const second = await run([itemOf(host, asset)], { folder, server: host, template })
    expect([second.summary.written, host.asked[1]?.range !== undefined]).toEqual([1, true])
    expect((await filesIn(folder))['one/data.zip']?.equals(bytes)).toBe(true)
    expect(host.violations).toEqual([])
  })

  it('keeps the name of a file that is there without', async () => {
    const host = await proposing({ '/download?id=7': 'attachment; filename=x.zip' })
    const folder = await temporaryFolder()
    await mkdir(join(folder, 'one'))
    await writeFile(join(folder, 'one/data'), 'old')
    expect((await run([itemOf(host, asset)], { folder, server: host, template })).summary).toMatchObject({ kept: 1 })
    expect(host.asked).toEqual([])
    expect((await run([itemOf(host, asset)], { folder, server: host, template, existing: 'replace' })).summary).toMatchObject({
      written: 1,
    })
    expect(await readdir(join(folder, 'one'))).toEqual(['data'])
  })

  it('leads copies of documents to the file', async () => {
    const host = await proposing({ '/download?id=7': 'attachment; filename=x.zip' })
    const folder = await temporaryFolder()
    await run([itemOf(host, asset)], { folder, server: host, template, documents: true })
    const copy = JSON.parse(await readFile(join(folder, 'one/one.json'), 'utf8'))
    expect(copy.assets.data.href).toBe('./data.zip')
  })

  it('a name that gets no extension from its document is fetched once where it is wanted twice', async () => {
    const host = await proposing({ '/download?id=7': 'attachment; filename=x.zip' })
    const folder = await temporaryFolder()
    const result = await run([itemOf(host, asset), itemOf(host, asset)], { folder, server: host, template })
    expect([result.summary.written, result.summary.kept, host.asked.length]).toEqual([1, 1, 1])
  })
})

describe('two files that would have one name by their suffix', () => {
  const field = 'attachment; filename=x.zip'
  const template = '{name}'
  const fields = { '/a/x': field, '/b/x.zip': undefined, '/c/X': field }

  it.each([
    ['before', { plain: { href: 'a/x' }, named: { href: 'b/x.zip' } }],
    ['behind', { named: { href: 'b/x.zip' }, plain: { href: 'a/x' } }],
    ['in another case', { plain: { href: 'a/x' }, named: { href: 'b/X.ZIP' } }],
  ])('of two files that would share a name, the one without suffix keeps it: it stands %s the other', async (_, assets) => {
    for (const slow of ['/a/x', '/b/x.zip']) {
      const host = await proposing(fields, 100, ({ path }) => (path === slow ? { drip: 5, drop: 10 } : undefined))
      const folder = await temporaryFolder()
      const result = await run([itemOf(host, assets)], { folder, server: host, template })
      expect([codesOf(result), Object.keys(await filesIn(folder)).sort()]).toEqual([
        [],
        [expect.stringMatching(/^x$|^X\.ZIP$/), expect.stringMatching(/^x$|^x\.zip$/)],
      ])
      expect((await filesIn(folder)).x?.equals(noise(100, '/a/x.zip'))).toBe(true)
      const again = await run([itemOf(host, assets)], { folder, server: host, template })
      expect([again.summary.kept, codesOf(again)]).toEqual([2, []])
    }
  })

  it.each([
    ['refuse', ['PATH_COLLISION'], ['x.zip']],
    ['rename', [], ['x.zip', 'x~2.zip']],
  ] as const)(
    'two files that would share a name are distinguished in the order of their documents: %s',
    async (collisions, codes, names) => {
      for (const drip of [undefined, { drip: 10, drop: 10 }]) {
        const host = await proposing(fields, 100, ({ path }) => (path === '/a/x' ? drip : undefined))
        const folder = await temporaryFolder()
        const items = [itemOf(host, { data: { href: 'a/x' } }), itemOf(host, { data: { href: 'b/x.zip' } }, { id: 'two' })]
        const result = await run(items, { folder, server: host, template, collisions })
        const files = await filesIn(folder)
        expect([codesOf(result), Object.keys(files).sort()]).toEqual([codes, names])
        expect(files['x.zip']?.equals(noise(100, '/a/x.zip'))).toBe(true)
      }
    },
  )

  it('two files that would share a name are distinguished in a later run that requires only the other', async () => {
    const host = await proposing(fields)
    const folder = await temporaryFolder()
    await run([itemOf(host, { data: { href: 'a/x' } })], { folder, server: host, template })
    const other = itemOf(host, { data: { href: 'b/x.zip' } })
    expect(
      ofKind(await run([other], { folder, server: host, template }), 'failed').map(({ error }) => [error.code, error.message]),
    ).toEqual([['PATH_EXISTS', '"x.zip" exists already and is another file, which was planned as "x"']])
    expect((await run([other], { folder, server: host, template, existing: 'replace' })).summary).toMatchObject({ written: 1 })
    expect((await run([other], { folder, server: host, template })).summary).toMatchObject({ kept: 1, failed: 0 })
    expect((await filesIn(folder))['x.zip']?.equals(noise(100, '/b/x.zip'))).toBe(true)
  })

  it('two files that would have one name by their suffix end with an abort, not with waiting', async () => {
    const host = await proposing(fields, 100, ({ path }) => (path === '/a/x' ? { drip: 1000, drop: 1 } : undefined))
    const items = [itemOf(host, { data: { href: 'a/x' } }), itemOf(host, { data: { href: 'b/x.zip' } }, { id: 'two' })]
    const controller = new AbortController()
    const running = run(items, { folder: await temporaryFolder(), server: host, template, signal: controller.signal })
    setTimeout(() => controller.abort(), 200)
    await expect(running).rejects.toMatchObject({ code: 'ABORTED' })
  })
})

describe('a manifest of another party', () => {
  it.each(['/../../x.zip', '.part', '', '.exe', '.a/b', '.zip\0', `.${'z'.repeat(16)}`, 7, null, ['.zip']])(
    'proposes no suffix that a server could not: %j',
    async (suffix) => {
      const host = await proposing({})
      const folder = await temporaryFolder()
      const entry = { url: `${host.origin}/download`, size: 6, sha256: '0'.repeat(64), time: '2026-01-01T00:00:00Z' }
      await mkdir(join(folder, 'one'))
      const lines = [
        { format: 'stac-auth/manifest', version: 1 },
        { ...entry, path: `one/data${suffix}`, suffix },
        { ...entry, path: '__proto__.zip', suffix: '.zip' },
      ]
      await writeFile(join(folder, MANIFEST_NAME), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
      if (typeof suffix === 'string' && suffix === '.exe') await writeFile(join(folder, `one/data${suffix}`), 'theirs')
      const result = await run([itemOf(host, { data: { href: 'download?id=7' } })], { folder, server: host, template: '{id}/{name}' })
      expect([codesOf(result), ofKind(result, 'written').map(({ file }) => file.name)]).toEqual([[], ['one/data']])
    },
  )
})
