/**
 * Writes `land.json` from the land polygons of Natural Earth at 1:50 million, as the npm package `world-atlas` contains them:
 * `npx tsx examples/browser/map/extract.ts node_modules/world-atlas/land-50m.json > examples/browser/map/land.json`.
 */
import { readFileSync } from 'node:fs'

type Position = readonly [longitude: number, latitude: number]

/** The members of a TopoJSON topology that are read here. */
interface Topology {
  readonly transform: { readonly scale: Position; readonly translate: Position }
  readonly arcs: readonly (readonly Position[])[]
  readonly objects: { readonly land: { readonly geometries: readonly { readonly arcs: readonly (readonly (readonly number[])[])[] }[] } }
}

/** Square degrees: points whose triangle with their neighbours is smaller are left out, and islands that are smaller. */
const MIN_TRIANGLE = 0.009
const MIN_ISLAND = 0.04
/** Coordinates are multiples of this many degrees. */
const STEP = 0.02
const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

const topology = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as Topology
const arcs = topology.arcs.map((arc) => positionsOf(arc, topology.transform))
const rings = topology.objects.land.geometries
  .flatMap(({ arcs: arc }) => arc.flat())
  .map((indexes) => indexes.flatMap((index, at) => arcAt(index).slice(at === 0 ? 0 : 1)))
  .flatMap(withinWorld)
  .filter((ring) => Math.abs(areaOf(ring)) >= MIN_ISLAND)
  .map(simplified)
process.stdout.write(`${JSON.stringify({ step: STEP, rings: rings.map(encoded) }, null, 2)}\n`)

/** Positions of TopoJSON are differences of quantized numbers. */
function positionsOf(arc: readonly Position[], { scale, translate }: Topology['transform']): readonly Position[] {
  let [x, y] = [0, 0]
  return arc.map(([dx, dy]) => {
    x += dx
    y += dy
    return [x * scale[0] + translate[0], y * scale[1] + translate[1]]
  })
}

/** A negative index is the arc in the other direction. */
function arcAt(index: number): readonly Position[] {
  const arc = arcs[index < 0 ? ~index : index] ?? []
  return index < 0 ? arc.toReversed() : arc
}

/** Parts of a ring that goes over the antimeridian: each is on one side of it. A ring around the pole is closed along the edge of the map. */
function withinWorld(ring: readonly Position[]): readonly (readonly Position[])[] {
  let turns = 0
  const unrolled = ring.map(([x, y], at): Position => {
    const before = ring[at - 1]
    if (before && Math.abs(x - before[0]) > 180) turns += x < before[0] ? 1 : -1
    return [x + turns * 360, y]
  })
  const [first = [0, 0], last = [0, 0]]: readonly Position[] = [unrolled.at(0), unrolled.at(-1)].filter((one) => one !== undefined)
  const closed: readonly Position[] = turns === 0 ? unrolled : [...unrolled, [last[0], -90], [first[0], -90], first]
  return [-360, 0, 360]
    .map((shift) => closed.map(([x, y]): Position => [x + shift, y]))
    .map((moved) => clipped(clipped(moved, -180, 1), 180, -1))
    .filter((part) => part.length > 3)
}

/** The part of the ring on one side of a meridian (Sutherland and Hodgman). */
function clipped(ring: readonly Position[], meridian: number, side: 1 | -1): readonly Position[] {
  const isInside = ([x]: Position) => (x - meridian) * side >= 0
  const points = ring.flatMap((point, at): readonly Position[] => {
    const before = ring[at - 1]
    if (!before || isInside(before) === isInside(point)) return isInside(point) ? [point] : []
    const share = (meridian - before[0]) / (point[0] - before[0])
    const crossing: Position = [meridian, before[1] + share * (point[1] - before[1])]
    return isInside(point) ? [crossing, point] : [crossing]
  })
  const [first] = points
  return first ? [...points, first] : []
}

function areaOf(ring: readonly Position[]): number {
  return ring.reduce((sum, [x, y], at) => {
    const [nextX, nextY] = ring[(at + 1) % ring.length] ?? [x, y]
    return sum + (x * nextY - nextX * y) / 2
  }, 0)
}

/** Leaves out the point that matters least until all matter (Visvalingam and Whyatt). */
function simplified(ring: readonly Position[]): readonly Position[] {
  const points = ring.slice(0, -1)
  while (points.length > 4) {
    let [least, smallest] = [-1, MIN_TRIANGLE]
    for (const [at, point] of points.entries()) {
      const [before, after] = [points.at(at - 1) ?? point, points[(at + 1) % points.length] ?? point]
      const area = Math.abs(areaOf([before, point, after])) * Math.cos((point[1] * Math.PI) / 180)
      if (area < smallest && Math.abs(point[0]) < 179.9) [least, smallest] = [at, area]
    }
    if (least < 0) break
    points.splice(least, 1)
  }
  return points
}

/** Differences of steps as in the encoded polylines of maps: five bits to a character. */
function encoded(ring: readonly Position[]): string {
  let [x, y] = [0, 0]
  return ring
    .map(([longitude, latitude]) => {
      const [nextX, nextY] = [Math.round(longitude / STEP), Math.round(latitude / STEP)]
      const text = digits(nextX - x) + digits(nextY - y)
      ;[x, y] = [nextX, nextY]
      return text
    })
    .join('')
}

/** The sign is the lowest bit; all digits but the last have the bit of 32. */
function digits(difference: number): string {
  let rest = difference < 0 ? -difference * 2 - 1 : difference * 2
  let text = ''
  for (; rest >= 32; rest = Math.floor(rest / 32)) text += DIGITS[(rest % 32) + 32]
  return text + DIGITS[rest]
}
