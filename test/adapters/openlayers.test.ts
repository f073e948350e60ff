import type GeoTIFF from 'ol/source/GeoTIFF.js'
import { vi } from 'vitest'
import { cogSource } from '../../examples/adapters/openlayers.ts'
import { geotiff, pattern } from '../harness/geotiff.ts'
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
