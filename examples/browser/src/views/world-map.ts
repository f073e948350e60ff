/** A map of degrees with a footprint and files drawn on it; there are no tiles of others. */
import { createEmpty, extend, isEmpty } from 'ol/extent.js'
import Feature from 'ol/Feature.js'
import GeoJSON from 'ol/format/GeoJSON.js'
import { fromExtent } from 'ol/geom/Polygon.js'
import Graticule from 'ol/layer/Graticule.js'
import ImageLayer from 'ol/layer/Image.js'
import VectorLayer from 'ol/layer/Vector.js'
import OlMap from 'ol/Map.js'
import ImageStatic from 'ol/source/ImageStatic.js'
import VectorSource from 'ol/source/Vector.js'
import { Fill, Stroke, Style, Text } from 'ol/style.js'
import View from 'ol/View.js'
import type { Raster } from '../data/raster.ts'

export interface WorldMap {
  draw(raster: Raster): Promise<void>
  close(): void
}

const DEGREES = 'EPSG:4326'
const PADDING = [24, 24, 24, 24]
const WORLD = [-180, -90, 180, 90]

/** Draws it into an element; colours are those of the page's style. */
export function drawWorldMap(target: HTMLElement, geometry: unknown, box: readonly number[] | undefined): WorldMap {
  const footprint = new VectorSource({ features: featuresOf(geometry, box) })
  const outline = new VectorLayer({ source: footprint })
  const view = new View({ projection: DEGREES, center: [0, 0], zoom: 1, extent: WORLD, showFullExtent: true, enableRotation: false })
  const map = new OlMap({ target, view, layers: [graticule(target), outline] })
  let filled = true
  const restyle = () => outline.setStyle(footprintStyle(target, filled))
  const recolour = () => {
    restyle()
    map.getLayers().setAt(0, graticule(target))
  }
  const dark = matchMedia('(prefers-color-scheme: dark)')
  dark.addEventListener('change', recolour)
  restyle()
  const extent = extend(createEmpty(), footprint.getExtent() ?? createEmpty())
  view.fit(isEmpty(extent) ? WORLD : extent, { padding: PADDING, maxZoom: 12 })
  const free: (() => void)[] = []
  return {
    async draw({ canvas, extent }) {
      const url = await blobUrlOf(canvas)
      free.push(() => URL.revokeObjectURL(url))
      // A veil would change the colours of what is below.
      filled = false
      restyle()
      const source = new ImageStatic({ url, imageExtent: [...extent], projection: DEGREES, interpolate: false })
      map.getLayers().insertAt(map.getLayers().getLength() - 1, new ImageLayer({ source }))
      view.fit([...extent], { padding: PADDING })
      await new Promise<void>((resolve) => map.once('rendercomplete', () => resolve()))
    },
    close() {
      dark.removeEventListener('change', recolour)
      for (const one of free) one()
      map.setTarget(undefined)
    },
  }
}

function featuresOf(geometry: unknown, box: readonly number[] | undefined): Feature[] {
  try {
    const shape = geometry ? new GeoJSON().readGeometry(geometry) : null
    if (shape) return [new Feature(shape)]
  } catch {
    // Strangers call many things a geometry.
  }
  return box ? partsOf(box).map((part) => new Feature(fromExtent(part))) : []
}

/** Two parts where the box goes over the antimeridian (RFC 7946 §5.2), none where it is no box. */
function partsOf([west = 0, south = 0, east = 0, north = 0]: readonly number[]): readonly number[][] {
  const parts =
    west <= east
      ? [[west, east]]
      : [
          [west, 180],
          [-180, east],
        ]
  return parts.flatMap(([from = 0, to = 0]) => (from <= to && south <= north ? [[from, south, to, north]] : []))
}

function footprintStyle(element: HTMLElement, filled: boolean): Style {
  const stroke = new Stroke({ color: colour(element, '--accent'), width: 2 })
  return new Style({ stroke, ...(filled && { fill: new Fill({ color: colour(element, '--accent-veil') }) }) })
}

function graticule(element: HTMLElement): Graticule {
  const text = (align: CanvasTextAlign) =>
    new Text({
      font: '11px system-ui, sans-serif',
      textAlign: align,
      textBaseline: 'bottom',
      offsetX: align === 'end' ? -6 : 4,
      fill: new Fill({ color: colour(element, '--muted') }),
    })
  return new Graticule({
    strokeStyle: new Stroke({ color: colour(element, '--map-line'), width: 1 }),
    showLabels: true,
    wrapX: false,
    lonLabelStyle: text('center'),
    latLabelStyle: text('end'),
  })
}

function colour(element: HTMLElement, name: string): string {
  return getComputedStyle(element).getPropertyValue(name).trim() || 'grey'
}

async function blobUrlOf(canvas: HTMLCanvasElement): Promise<string> {
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve))
  if (!blob) throw new Error('the browser has no memory for this picture')
  return URL.createObjectURL(blob)
}
