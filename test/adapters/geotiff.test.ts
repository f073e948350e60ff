import { readCorner } from '../../examples/adapters/geotiff.ts'
import { geotiff, pattern } from '../harness/geotiff.ts'
import { keepsTheGrant } from './grant.ts'

const image = pattern(300, 200)
const corner = Array.from({ length: 64 }, (_, at) => image.pixels[(at >> 3) * 300 + (at & 7)] ?? -1)

keepsTheGrant({
  files: { 'a.tif': geotiff(image) },
  name: 'a.tif',
  read: async (auth, target) => Array.from((await readCorner(auth, target)) as Uint8Array),
  expected: corner,
})
