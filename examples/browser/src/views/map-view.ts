/** Where a document lies. The map itself is loaded when there is something to show. */
import type { StacDocument } from 'stac-auth'
import type { Raster } from '../data/raster.ts'
import { element } from '../dom.ts'
import { boxIn, memberOf } from '../fields.ts'
import type { WorldMap } from './world-map.ts'

export interface MapView {
  readonly root: HTMLElement
  /** Puts it on the map and goes there. */
  draw(raster: Raster): Promise<void>
  close(): void
}

/** A card with a map, or undefined for a document that lies nowhere. */
export function createMapView(document: StacDocument): MapView | undefined {
  const box = boxIn(document)
  const geometry = memberOf(document, 'geometry')
  if (!box && !geometry) return undefined
  const place = element('div', {
    class: 'map',
    role: 'application',
    'aria-label': 'Map of the footprint; arrow keys move it, plus and minus zoom',
    tabindex: '0',
  })
  let closed = false
  const loading = import('./world-map.ts').then(({ drawWorldMap }): WorldMap | undefined =>
    closed ? undefined : drawWorldMap(place, geometry ?? undefined, box),
  )
  return {
    root: element('section', { class: 'card', 'aria-labelledby': 'map' }, element('h2', { id: 'map' }, 'Map'), place),
    draw: async (raster) => (await loading)?.draw(raster),
    close: () => {
      closed = true
      void loading.then((map) => map?.close())
    },
  }
}
