/** What lies below the footprints: land, names of places and waters, and a grid of degrees. Nothing is loaded from other sites. */
import Feature from 'ol/Feature.js'
import Point from 'ol/geom/Point.js'
import Polygon from 'ol/geom/Polygon.js'
import Graticule from 'ol/layer/Graticule.js'
import type Layer from 'ol/layer/Layer.js'
import VectorLayer from 'ol/layer/Vector.js'
import { textHeights } from 'ol/render/canvas.js'
import VectorSource from 'ol/source/Vector.js'
import { Circle, Fill, Stroke, Style, Text } from 'ol/style.js'
import land from '../../map/land.json' with { type: 'json' }
import names from '../../map/places.json' with { type: 'json' }

/** Returns a colour of the page's style sheet. */
export type Colours = (name: string) => string

/** The cities at the start of the list are shown on a map of the world. */
const WORLD_CITIES = 38
/** Degrees per pixel from which on only those are shown, and no grid. */
const WORLD_RESOLUTION = 0.2
/** Degrees per pixel up to which names of waters have room. */
const WATER_RESOLUTION = 0.6
const FONT = '11px "Inter", "Segoe UI", system-ui, "DejaVu Sans", sans-serif'
const ITALIC = `italic ${FONT}`
/** OpenLayers would measure the height of a line with `innerHTML`, which a policy with trusted types blocks. */
for (const font of [FONT, ITALIC]) textHeights[font] = 14

/** Returns the layers, lowest first. */
export function baseLayers(colour: Colours): Layer[] {
  const rings = new VectorSource({ features: land.rings.map((ring) => new Feature(new Polygon([decoded(ring, land.step)]))) })
  const outline = new Style({
    fill: new Fill({ color: colour('--map-land') }),
    stroke: new Stroke({ color: colour('--map-coast'), width: 1 }),
  })
  return [new VectorLayer({ source: rings, style: outline }), graticule(colour), cities(colour), waters(colour)]
}

function graticule(colour: Colours): Graticule {
  return new Graticule({
    strokeStyle: new Stroke({ color: colour('--map-line'), width: 1 }),
    showLabels: false,
    wrapX: false,
    targetSize: 120,
  })
}

function cities(colour: Colours): Layer {
  const dot = new Circle({
    radius: 2.5,
    fill: new Fill({ color: colour('--map-name') }),
    stroke: new Stroke({ color: colour('--map-land'), width: 1.5 }),
  })
  const text = (name: string) =>
    new Text({
      text: name,
      font: FONT,
      textAlign: 'left',
      offsetX: 6,
      fill: new Fill({ color: colour('--map-name') }),
      stroke: new Stroke({ color: colour('--map-land'), width: 3 }),
      padding: [2, 3, 2, 3],
    })
  return named(names.places, (name, at, resolution) =>
    at >= WORLD_CITIES && resolution > WORLD_RESOLUTION ? undefined : new Style({ image: dot, text: text(name), zIndex: -at }),
  )
}

function waters(colour: Colours): Layer {
  return named(names.waters, (name, at, resolution) =>
    resolution > WATER_RESOLUTION
      ? undefined
      : new Style({
          text: new Text({
            text: name,
            font: ITALIC,
            fill: new Fill({ color: colour('--map-water-name') }),
            padding: [4, 8, 4, 8],
          }),
          zIndex: -names.places.length - at,
        }),
  )
}

/** A layer of names that leaves out those without room; earlier ones have priority. */
function named(entries: readonly string[], style: (name: string, at: number, resolution: number) => Style | undefined): Layer {
  const features = entries.map((entry, at) => {
    const [, name = '', longitude, latitude] = /^(.*) (\S+) (\S+)$/.exec(entry) ?? []
    const feature = new Feature(new Point([Number(longitude), Number(latitude)]))
    feature.setStyle((_, resolution) => style(name, at, resolution))
    return feature
  })
  return new VectorLayer({ source: new VectorSource({ features }), declutter: 'names' })
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** The positions of a ring: `map/extract.ts` writes them. */
function decoded(ring: string, step: number): number[][] {
  const numbers: number[] = []
  let [value, shift] = [0, 1]
  for (const character of ring) {
    const digit = DIGITS.indexOf(character)
    value += (digit % 32) * shift
    shift *= 32
    if (digit >= 32) continue
    numbers.push(value % 2 === 1 ? -(value + 1) / 2 : value / 2)
    ;[value, shift] = [0, 1]
  }
  const positions: number[][] = []
  let [x, y] = [0, 0]
  for (let at = 0; at < numbers.length; at += 2) {
    x += numbers[at] ?? 0
    y += numbers[at + 1] ?? 0
    positions.push([x * step, y * step])
  }
  const [first] = positions
  return first ? [...positions, first] : positions
}
