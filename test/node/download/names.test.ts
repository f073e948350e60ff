import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../cli/folder.ts'
import { startFileServer } from '../../servers/file-server.ts'
import { codesOf, itemOf, ofKind, run } from './fixture.ts'

const server = { origin: 'https://data.example' }

/** The names that a download would give. */
async function named(assets: object, options = {}, ids = ['one']) {
  const items = ids.map((id) => itemOf(server, assets, { id }))
  const result = await run(items, { folder: await temporaryFolder(), dryRun: true, template: '{id}/{name}', ...options })
  return { names: ofKind(result, 'planned').map(({ file }) => file.name), codes: codesOf(result) }
}

const product = (number: number) => ({ href: `https://odata.example/Products(${number})/$value`, type: 'application/zip' })

describe('a URL whose last segment says nothing', () => {
  it('gives the key of the asset, so that two of them are two files', async () => {
    const assets = { product: product(1), quicklook: { href: 'https://odata.example/Assets(2)/$value', type: 'image/jpeg' } }
    expect(await named(assets)).toEqual({ names: ['one/product.zip', 'one/quicklook.jpg'], codes: [] })
  })

  it('gives the id as well where the template does not keep items apart', async () => {
    const items = [1, 2].map((number) => itemOf(server, { product: product(number) }, { id: `item-${number}` }))
    const result = await run(items, { folder: await temporaryFolder(), dryRun: true, template: '{name}' })
    expect([ofKind(result, 'planned').map(({ file }) => file.name), codesOf(result)]).toEqual([
      ['item-1_product.zip', 'item-2_product.zip'],
      [],
    ])
  })

  it.each(['download?id=1', 'x/file', 'x/', 'x/Content'])('is recognised: %s', async (href) => {
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

  it('leaves out keys and names that match', async () => {
    expect(await chosen({ exclude: ['*.xml', 'B0?', 'meta/*'] })).toEqual(['B8A', 'B[1]'])
    expect(await chosen({ keys: ['B*'], exclude: ['B01', 'b*'] })).toEqual(['B02', 'B8A', 'B[1]'])
  })
})

describe('{local_path}', () => {
  const template = '{id}/{local_path}'
  const asset = (path: unknown) => ({ data: { href: 'B04.tif', 'file:local_path': path } })
  const place = async (path: unknown) => (await named(asset(path), { template })).names[0]

  it('is the file:local_path of the asset, with its folders', async () => {
    expect(await place('GRANULE/IMG_DATA/R10m/B04.jp2')).toBe('one/GRANULE/IMG_DATA/R10m/B04.jp2')
    expect(await place('./a//b.tif')).toBe('one/a/b.tif')
  })

  it('is the name in the URL where there is no file:local_path', async () => {
    expect((await named({ data: { href: 'x/B04.tif' } }, { template })).names).toEqual(['one/B04.tif'])
  })

  it('is not used by any other template', async () => {
    expect((await named(asset('a/b.tif'))).names).toEqual(['one/B04.tif'])
  })

  it('is that of the asset for an alternate that has none', async () => {
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

  it.each(['{id}/a{local_path}', '{local_path}{ext}', '{local_path}{local_path}'])('is refused beside other text: %s', async (wrong) => {
    await expect(named(asset('a'), { template: wrong })).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  })

  it('leads through no link, and replaces neither a folder nor a file on its way', async () => {
    const [folder, outside] = [await temporaryFolder(), await temporaryFolder()]
    await symlink(outside, join(folder, 'linked'))
    await symlink(join(outside, 'new'), join(folder, 'link'))
    await mkdir(join(folder, 'there'))
    await writeFile(join(folder, 'file'), 'old')
    const server = await startFileServer((path) => ({ bytes: Buffer.from(path) }))
    try {
      const paths = ['linked/x', 'linked/a/b', 'link', 'there', 'file/x', 'good/x']
      const assets = Object.fromEntries(paths.map((path, number) => [path, { href: `${number}`, 'file:local_path': path }]))
      const result = await run([itemOf(server, assets)], { folder, server, template: '{local_path}' })
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
      await server.close()
    }
  })
})
