import type { Auth, Target } from 'stac-auth'
import { readRaster } from '../data/raster.ts'
import { element } from '../dom.ts'
import type { MapView } from './map-view.ts'

/** Draws the file on the map, and says what it is. */
export async function rasterView(auth: Auth, target: Target, map: MapView): Promise<HTMLElement> {
  const raster = await readRaster(auth, target)
  await map.draw(raster)
  const { width, height, bands } = raster
  return element('p', { class: 'note' }, `On the map: ${width} by ${height} pixels, ${bands === 1 ? 'one band' : `${bands} bands`}.`)
}
