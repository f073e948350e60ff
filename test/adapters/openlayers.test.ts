import type GeoTIFF from 'ol/source/GeoTIFF.js'
import { expect, it, vi } from 'vitest'
import { cogSource } from '../../examples/adapters/openlayers.ts'
import { pictureLoader } from '../../src/adapters/openlayers.ts'
import { geotiff, pattern } from '../harness/geotiff.ts'
import { startArchive } from './archive.ts'
import { keepsTheGrant } from './grant.ts'

/** The source tells the console that a request failed, and the example why. */
vi.spyOn(console, 'error').mockImplementation(() => {})

keepsTheGrant({
  files: { 'a.tif': geotiff(pattern(300, 200)) },
  name: 'a.tif',
  read: async (auth, target) => {
    const source = cogSource(auth, target)
    const { extent, projection } = await Promise.race([source.getView(), failed(source)])
    return { extent, projection: String((projection as { getCode?: () => string } | undefined)?.getCode?.()) }
  },
  expected: { extent: [10, 48, 13, 50], projection: 'EPSG:4326' },
})

/** Its promise of a view never comes when a request fails. */
function failed(source: GeoTIFF): Promise<never> {
  return new Promise((_, reject) => {
    source.on('change', () => {
      if (source.getState() === 'error') reject(source.getError())
    })
  })
}

it('a picture that is not there is shown as missing, with the status in the error', async () => {
  const archive = await startArchive({})
  const image = new EventTarget()
  const told = vi.fn()
  const states: number[] = []
  image.addEventListener('error', () => states.push(-1))
  const load = pictureLoader(archive.engine(), archive.target('/files/a.png'), told)
  load({ getImage: () => image, setState: (state: number) => states.push(state) }, `${archive.origin}/files/a.png`)
  load({ getImage: () => image }, 'b.png')
  await expect.poll(() => told.mock.calls.length).toBe(2)
  const message = `${new URL(archive.origin).host} answered 404`
  for (const [error] of told.mock.calls) expect(error).toMatchObject({ name: 'ProtocolError', code: 'HTTP_404', status: 404, message })
  expect(states.sort()).toEqual([-1, 3])
  await archive.close()
})

it('an answer that is no picture, such as an exception of a WMS, is an error that names the host', async () => {
  const archive = await startArchive({ 'map.xml': Buffer.from('<ServiceExceptionReport/>') })
  const image = new EventTarget()
  const told = vi.fn()
  const address = `${archive.origin}/files/map.xml`
  pictureLoader(archive.engine(), archive.target('/files/map.xml'), told)({ getImage: () => image, setState: () => {} }, address)
  // The browser decodes what it gets, and finds no picture.
  await expect.poll(() => String((image as { src?: string }).src)).toMatch(/^blob:/)
  expect(told).not.toHaveBeenCalled()
  image.dispatchEvent(new Event('error'))
  const message = `the response of ${new URL(archive.origin).host} is not a picture`
  expect(told.mock.calls).toEqual([[expect.objectContaining({ code: 'RESPONSE_INVALID', message, url: address })]])
  await archive.close()
})
