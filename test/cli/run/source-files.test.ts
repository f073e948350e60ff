import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fromGateway, toGateway, withSourcesServed } from '../../../src/cli/run/source-files.ts'
import { plainGatewayPath } from '../../../src/node/gateway/gateway-url.ts'
import { put, temporaryFolder } from '../folder.ts'

const base = 'http://127.0.0.1:4000/0123456789abcdef0123456789abcdef/'
const gateway = {
  base,
  urlFor: (url: string) => base + plainGatewayPath(url),
  allows: async (url: string) => /^(?:https:\/\/data\.example|s3:\/\/bucket)\//.test(url),
  isNamed: false,
}
const vrt = (...sources: string[]) =>
  `<VRTDataset>${sources.map((one) => `<SourceFilename relativeToVRT="0">${one}</SourceFilename>`).join('')}</VRTDataset>\n`
const KEPT = vrt(
  '/vsicurl/https://data.example/a.tif',
  '/vsicurl/https://data.example/e.tif',
  'local.tif',
  '/vsicurl/https://other.example/x.tif',
)

describe('sources in a file', () => {
  it('become URLs of the gateway where it would request them, and the original ones again', async () => {
    const served = await toGateway(KEPT, gateway)
    expect(served).toBe(
      vrt(
        `/vsicurl/${base}https/data.example/a.tif`,
        `/vsicurl/${base}https/data.example/e.tif`,
        'local.tif',
        '/vsicurl/https://other.example/x.tif',
      ),
    )
    expect(fromGateway(served, base)).toBe(KEPT)
  })

  it('are written as XML, and objects of stores as GDAL names them', async () => {
    const text = vrt('/vsicurl/https://data.example/a(1).tif?x=1&amp;y=2', '/vsis3/bucket/b.tif', 'url=https://data.example/o&apos;x.tif')
    const served = await toGateway(text, gateway)
    expect(served).toBe(
      vrt(
        `/vsicurl/${base}plain/qx__3D1__26y__3D2/https/data.example/a__281__29.tif`,
        `/vsicurl/${base}s3/bucket/b.tif`,
        `url=${base}plain/https/data.example/o__27x.tif`,
      ),
    )
    expect(fromGateway(served, base)).toBe(text)
  })
})

describe('a file that names its sources', () => {
  const written = async (name: string, text: string) => {
    const folder = await temporaryFolder()
    const path = await put(folder, name, text)
    const cleanups: (() => Promise<void>)[] = []
    const command = await withSourcesServed(['gdalinfo', '-checksum', path, join(folder, 'new.vrt')], gateway, cleanups)
    const restore = () => Promise.all(cleanups.map((cleanup) => cleanup()))
    return { folder, path, restore, used: command[2] as string }
  }

  it('is read from a copy beside it, which is removed', async () => {
    for (const name of ['kept.vrt', 'kept.QGS']) {
      const { folder, path, restore, used } = await written(name, KEPT)
      expect(used).not.toBe(path)
      expect(await readFile(used, 'utf8')).toBe(await toGateway(KEPT, gateway))
      await restore()
      expect([await readdir(folder), await readFile(path, 'utf8')]).toEqual([[name], KEPT])
    }
  })

  it('is passed as it is where the gateway serves none of its sources, and in other formats', async () => {
    for (const [name, text] of [
      ['local.vrt', vrt('local.tif')],
      ['list.txt', KEPT],
      ['latin.vrt', 'x'],
    ] as const) {
      const { folder, path, used, restore } = await written(name, text)
      expect(used).toBe(path)
      await restore()
      expect(await readdir(folder)).toEqual([name])
    }
  })

  it('has the original URLs when the program has written it, new or again', async () => {
    const { folder, path, restore, used } = await written('kept.vrt', KEPT)
    const output = vrt(`/vsicurl/${base}https/data.example/new.tif`)
    await writeFile(used, output)
    await writeFile(join(folder, 'new.vrt'), output)
    await restore()
    const original = vrt('/vsicurl/https://data.example/new.tif')
    expect([await readFile(path, 'utf8'), await readFile(join(folder, 'new.vrt'), 'utf8')]).toEqual([original, original])
    expect((await readdir(folder)).sort()).toEqual(['kept.vrt', 'new.vrt'])
  })

  it('keeps URLs of a gateway with a name, which stay valid', async () => {
    const path = join(await temporaryFolder(), 'new.vrt')
    const cleanups: (() => Promise<void>)[] = []
    await withSourcesServed(['gdalbuildvrt', path], { ...gateway, isNamed: true }, cleanups)
    const output = vrt(`/vsicurl/${base}https/data.example/new.tif`)
    await writeFile(path, output)
    await cleanups[0]?.()
    expect(await readFile(path, 'utf8')).toBe(output)
  })
})
