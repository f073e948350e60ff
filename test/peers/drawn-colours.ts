/** Compares what a map shows with the file that it should show. */
import type { Page } from 'playwright-core'
import type { Image, Placement } from '../harness/geotiff.ts'

/** Points on each side, and the space that the map leaves around a file, in pixels of the screen. */
const POINTS = 9
const PADDING = 24
/** Pixels of the file in which a point of the screen may lie: several of them share one. */
const NEAR = 2

/** Reads points of the map's canvas all over the file; each must have the colour of the pixel that lies there. */
export async function drawnColours(page: Page, image: Image, { pixel }: Placement): Promise<{ compared: number; different: number }> {
  const canvas = await page.evaluate(() => {
    const found = document.querySelector<HTMLCanvasElement>('.map .ol-layer canvas')
    const data = found?.getContext('2d')?.getImageData(0, 0, found.width, found.height).data
    return { width: found?.width ?? 0, height: found?.height ?? 0, data: [...(data ?? [])] }
  })
  const side = image.width * pixel
  const resolution = Math.max(side / (canvas.width - 2 * PADDING), side / (canvas.height - 2 * PADDING))
  const points = Array.from({ length: POINTS * POINTS }, (_, at) =>
    [at % POINTS, Math.trunc(at / POINTS)].map((step) => (step + 1) / (POINTS + 1)),
  )
  const different = points.filter(([x = 0, y = 0]) => {
    const column = Math.floor(canvas.width / 2 + ((x - 0.5) * side) / resolution)
    const row = Math.floor(canvas.height / 2 + ((y - 0.5) * side) / resolution)
    const at = (row * canvas.width + column) * 4
    return !isNear(image, x, y, canvas.data.slice(at, at + 3))
  })
  return { compared: points.length, different: different.length }
}

function isNear({ width, height, pixels }: Image, x: number, y: number, colour: readonly number[]): boolean {
  for (let row = Math.floor(y * height) - NEAR; row <= y * height + NEAR; row++) {
    for (let column = Math.floor(x * width) - NEAR; column <= x * width + NEAR; column++) {
      const at = (row * width + column) * 3
      if (colour.length === 3 && colour.every((value, band) => value === pixels[at + band])) return true
    }
  }
  return false
}
