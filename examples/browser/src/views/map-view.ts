/** Where a document lies. The map itself is loaded when there is something to show. */
import type { Raster } from '../data/raster.ts'
import { element, outwardLink } from '../dom.ts'
import type { Box } from '../fields.ts'
import type { Footprint } from '../footprints.ts'
import type { WorldMap } from './world-map.ts'

export interface MapView {
  readonly root: HTMLElement
  /** Puts it on the map and goes there. */
  draw(raster: Raster): Promise<void>
  /** Replaces the footprints and goes to them. */
  show(footprints: readonly Footprint[]): Promise<void>
  /** Marks the footprint with that index, or none. */
  mark(index: number | undefined): void
  /** The part of the world that can be seen; undefined until the map is loaded. */
  visible(): Box | undefined
  close(): void
}

/** A card with a map of these footprints. */
export function createMapView(footprints: readonly Footprint[]): MapView {
  const place = element('div', {
    class: 'map',
    role: 'application',
    'aria-label': 'Map of the footprints; arrow keys move it, plus and minus zoom',
    tabindex: '0',
  })
  let closed = false
  let map: WorldMap | undefined
  const loading = import('./world-map.ts').then(({ drawWorldMap }): WorldMap | undefined => {
    if (closed) return undefined
    map = drawWorldMap(place)
    map.show(footprints)
    return map
  })
  const credit = element('p', { class: 'credit' }, 'Coasts: ', outwardLink('https://www.naturalearthdata.com/', 'Natural Earth'))
  return {
    root: element(
      'section',
      { class: 'card', id: 'map-card', 'aria-labelledby': 'map' },
      element('h2', { id: 'map' }, 'Map'),
      place,
      credit,
    ),
    draw: async (raster) => (await loading)?.draw(raster),
    show: async (others) => (await loading)?.show(others),
    mark: (index) => map?.mark(index),
    visible: () => map?.visible(),
    close: () => {
      closed = true
      void loading.then((map) => map?.close())
    },
  }
}
