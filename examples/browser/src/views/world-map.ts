/** A map of the world in degrees, with footprints and files drawn on it. */
import { defaults as defaultControls } from 'ol/control/defaults.js'
import { createEmpty, extend, getCenter, getHeight, getWidth, isEmpty } from 'ol/extent.js'
import Feature from 'ol/Feature.js'
import GeoJSON from 'ol/format/GeoJSON.js'
import Point from 'ol/geom/Point.js'
import { fromExtent } from 'ol/geom/Polygon.js'
import { defaults as defaultInteractions } from 'ol/interaction/defaults.js'
import ImageLayer from 'ol/layer/Image.js'
import VectorLayer from 'ol/layer/Vector.js'
import OlMap from 'ol/Map.js'
import ImageStatic from 'ol/source/ImageStatic.js'
import VectorSource from 'ol/source/Vector.js'
import { Circle, Fill, Stroke, Style } from 'ol/style.js'
import View from 'ol/View.js'
import type { Raster } from '../data/raster.ts'
import type { Box } from '../fields.ts'
import type { Footprint } from '../footprints.ts'
import { baseLayers, type Colours } from './base-map.ts'

export interface WorldMap {
  /** Replaces the footprints; `fit` goes to them, or to that part of the world. */
  show(footprints: readonly Footprint[], fit: boolean | Box): void
  /** Marks one of the footprints, or none. */
  mark(index: number | undefined): void
  draw(raster: Raster): Promise<void>
  /** Calls the listener with the index of the footprint that somebody presses. */
  onPick(listener: (index: number) => void): void
  /** The part of the world that can be seen; undefined for all of it. */
  visible(): Box | undefined
  close(): void
}

const DEGREES = 'EPSG:4326'
const PADDING = [24, 24, 24, 24]
const WORLD: Box = [-180, -90, 180, 90]
/** Degrees per pixel: at first so much of the surroundings is shown that places have names. */
const FIRST_RESOLUTION = 0.025
/** Pixels: footprints that are smaller get a ring. */
const SMALL = 9

/** Draws it into an element; colours are those of the page's style. */
export function drawWorldMap(target: HTMLElement): WorldMap {
  const colour: Colours = (name) => getComputedStyle(target).getPropertyValue(name).trim() || 'grey'
  const source = new VectorSource<Feature>()
  const outlines = new VectorLayer({ source })
  const view = new View({ projection: DEGREES, center: [0, 0], zoom: 1, extent: [...WORLD], showFullExtent: true, enableRotation: false })
  const map = new OlMap({
    target,
    view,
    layers: [...baseLayers(colour), outlines],
    controls: defaultControls({ attribution: false, rotate: false }),
    // Who scrolls past it does not move it.
    interactions: defaultInteractions({ onFocusOnly: true, altShiftDragRotate: false, pinchRotate: false }),
  })
  const baseCount = map.getLayers().getLength() - 1
  let filled = true
  let marked: number | undefined
  const restyle = () =>
    outlines.setStyle((feature, resolution) =>
      footprintStyles(feature as Feature, resolution, colour, filled, feature.get('index') === marked),
    )
  const recolour = () => {
    const layers = map.getLayers()
    for (const [at, layer] of baseLayers(colour).entries()) layers.setAt(at, layer)
    restyle()
  }
  const dark = matchMedia('(prefers-color-scheme: dark)')
  dark.addEventListener('change', recolour)
  restyle()
  view.fit([...WORLD])
  const free: (() => void)[] = []
  return {
    show(footprints, fit) {
      marked = undefined
      source.clear()
      source.addFeatures(footprints.flatMap(featuresOf))
      if (fit === false) return
      const extent = extend(createEmpty(), fit === true ? (source.getExtent() ?? createEmpty()) : [...fit])
      if (fit !== true) view.fit(extent)
      else if (isEmpty(extent)) view.fit([...WORLD])
      else view.fit(extent, { padding: PADDING, minResolution: FIRST_RESOLUTION })
    },
    mark(index) {
      if (index === marked) return
      marked = index
      restyle()
    },
    async draw({ canvas, extent }) {
      const url = await blobUrlOf(canvas)
      free.push(() => URL.revokeObjectURL(url))
      // A veil would change the colours of what is below.
      filled = false
      restyle()
      const image = new ImageStatic({ url, imageExtent: [...extent], projection: DEGREES, interpolate: false })
      const layers = map.getLayers()
      layers.insertAt(Math.max(baseCount, layers.getLength() - 1), new ImageLayer({ source: image }))
      view.fit([...extent], { padding: PADDING })
      await new Promise<void>((resolve) => map.once('rendercomplete', () => resolve()))
    },
    onPick(listener) {
      const options = { layerFilter: (layer: unknown) => layer === outlines, hitTolerance: 4 }
      const at = (pixel: number[]) => map.forEachFeatureAtPixel(pixel, (feature) => feature, options)?.get('index') as unknown
      map.on('click', ({ pixel }) => {
        const index = at(pixel)
        if (typeof index === 'number') listener(index)
      })
      map.on('pointermove', ({ pixel, dragging }) => {
        if (!dragging) target.style.cursor = at(pixel) === undefined ? '' : 'pointer'
      })
    },
    visible() {
      const [west = -180, south = -90, east = 180, north = 90] = view.calculateExtent(map.getSize())
      if (west <= -179 && east >= 179) return undefined
      return [Math.max(west, -180), Math.max(south, -90), Math.min(east, 180), Math.min(north, 90)]
    },
    close() {
      dark.removeEventListener('change', recolour)
      for (const one of free) one()
      map.setTarget(undefined)
    },
  }
}

function featuresOf({ geometry, box }: Footprint, index: number): Feature[] {
  const features = shapesOf(geometry, box)
  for (const feature of features) feature.set('index', index)
  return features
}

function shapesOf(geometry: unknown, box: Box | undefined): Feature[] {
  try {
    const shape = geometry ? new GeoJSON().readGeometry(geometry) : null
    if (shape) return [new Feature(shape)]
  } catch {
    // Strangers call many things a geometry.
  }
  return box ? partsOf(box).map((part) => new Feature(fromExtent(part))) : []
}

/** Two parts where the box goes over the antimeridian (RFC 7946 §5.2), none where it is no box. */
function partsOf([west, south, east, north]: Box): readonly number[][] {
  const parts =
    west <= east
      ? [[west, east]]
      : [
          [west, 180],
          [-180, east],
        ]
  return parts.flatMap(([from = 0, to = 0]) => (from <= to && south <= north ? [[from, south, to, north]] : []))
}

function footprintStyles(feature: Feature, resolution: number, colour: Colours, filled: boolean, marked: boolean): Style[] {
  const color = colour('--accent')
  const stroke = new Stroke({ color, width: marked ? 4 : 2 })
  const extent = feature.getGeometry()?.getExtent()
  const fill = filled && new Fill({ color: colour(marked ? '--accent-veil-strong' : '--accent-veil') })
  const shape = new Style({ stroke, ...(fill && { fill }), zIndex: marked ? 1 : 0 })
  if (!extent || Math.max(getWidth(extent), getHeight(extent)) / resolution >= SMALL) return [shape]
  const ring = new Circle({ radius: marked ? SMALL : SMALL - 3, stroke, fill: new Fill({ color: colour('--accent-veil-strong') }) })
  return [new Style({ geometry: new Point(getCenter(extent)), image: ring, zIndex: marked ? 1 : 0 })]
}

async function blobUrlOf(canvas: HTMLCanvasElement): Promise<string> {
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve))
  if (!blob) throw new Error('the browser has no memory for this picture')
  return URL.createObjectURL(blob)
}
