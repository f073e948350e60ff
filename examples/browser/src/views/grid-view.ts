import type { Auth, Target } from 'stac-auth'
import { readGrid } from '../data/grid.ts'
import { coloured, rangeOf } from '../data/ramp.ts'
import { element } from '../dom.ts'

/** Shape and type of a Zarr array, and its first level in false colours. */
export async function gridView(auth: Auth, target: Target): Promise<HTMLElement> {
  const { shape, chunks, type, names, title, units, level } = await readGrid(auth, target)
  const canvas = coloured(level)
  const [least, most] = rangeOf(level.numbers).map((number) => `${Math.round(number * 10) / 10}${units ? ` ${units}` : ''}`)
  const about = `${title ?? 'First level'}, from ${least} to ${most}`
  canvas.setAttribute('role', 'img')
  canvas.setAttribute('aria-label', about)
  const shapeText = shape.map((length, at) => (names[at] ? `${names[at]} ${length}` : String(length))).join(' × ')
  return element(
    'figure',
    { class: 'grid' },
    canvas,
    element(
      'figcaption',
      {},
      element('strong', {}, about),
      element('span', {}, `Shape ${shapeText}; ${type}; chunks ${chunks.join(' × ')}`),
    ),
  )
}
