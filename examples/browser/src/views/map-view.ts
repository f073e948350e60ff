/** Where a document lies. The map itself is loaded when there is something to show. */
import type { Raster } from '../data/raster.ts'
import { button, element, outwardLink, pace } from '../dom.ts'
import type { Box } from '../fields.ts'
import type { Footprint } from '../footprints.ts'
import type { WorldMap } from './world-map.ts'

export interface MapView {
  readonly root: HTMLElement
  /** Puts it on the map and goes there. */
  draw(raster: Raster): Promise<void>
  /** Replaces the footprints; `fit` goes to them, or to that part of the world. */
  show(footprints: readonly Footprint[], fit: boolean | Box): Promise<void>
  /** Marks the footprint with that index, or none. */
  mark(index: number | undefined): void
  /** Calls the listener with the index of the footprint that somebody presses. */
  onPick(listener: (index: number) => void): void
  /** The part of the world that can be seen; undefined for all of it, and until the map is loaded. */
  visible(): Box | undefined
  /** Brings the map into view where it is not beside the document, with a way back to that place. */
  reveal(back: HTMLElement): void
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
    map.show(footprints, true)
    return map
  })
  const credit = element('p', { class: 'credit' }, 'Coasts: ', outwardLink('https://www.naturalearthdata.com/', 'Natural Earth'))
  const card = mapCard(place, credit)
  return {
    root: card.root,
    draw: async (raster) => (await loading)?.draw(raster),
    show: async (others, fit) => (await loading)?.show(others, fit),
    mark: (index) => map?.mark(index),
    onPick: (listener) => void loading.then((opened) => opened?.onPick(listener)),
    visible: () => map?.visible(),
    reveal: (back) => card.reveal(back),
    close: () => {
      closed = true
      card.close()
      void loading.then((opened) => opened?.close())
    },
  }
}

interface MapCard {
  readonly root: HTMLElement
  reveal(back: HTMLElement): void
  close(): void
}

/** The card, and on narrow screens a button that stays at the foot of the page: to the map, and back to where one came from. */
function mapCard(place: HTMLElement, credit: HTMLElement): MapCard {
  const heading = element('h2', { id: 'map', tabindex: '-1' }, 'Map')
  let back: HTMLElement | number = 0
  let isSeen = false
  const travel = button('Map', () => (isSeen ? leave() : reveal(scrollY)), { class: 'travel' })
  const root = element('section', { class: 'card map-card', 'aria-labelledby': 'map' }, heading, place, credit, travel)
  const observer = new IntersectionObserver(
    ([entry]) => {
      isSeen = entry?.isIntersecting === true
      travel.textContent = isSeen ? 'Back' : 'Map'
    },
    { threshold: 0.5 },
  )
  observer.observe(place)

  function reveal(from: HTMLElement | number): void {
    if (isBeside()) return
    back = from
    heading.focus({ preventScroll: true })
    root.scrollIntoView({ block: 'start', behavior: pace() })
  }

  function leave(): void {
    if (typeof back === 'number') scrollTo({ top: back, behavior: pace() })
    else {
      back.focus({ preventScroll: true })
      back.scrollIntoView({ block: 'center', behavior: pace() })
    }
  }

  return { root, reveal, close: () => observer.disconnect() }
}

/** True where the style sheet puts the map beside the document. */
function isBeside(): boolean {
  return matchMedia('(min-width: 62rem)').matches
}
