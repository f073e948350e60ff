/** Zarr arrays: their shape, and one level of them. */
import { type Auth, ProtocolError, type Target } from 'stac-auth'
import { zarrStore } from 'stac-auth/adapters/zarrita'
import { FetchStore, get, NotFoundError, open, root, slice } from 'zarrita'
import { textIn } from '../fields.ts'
import type { Values } from './ramp.ts'

export interface Grid {
  readonly shape: readonly number[]
  readonly chunks: readonly number[]
  readonly type: string
  readonly names: readonly string[]
  readonly title?: string
  readonly units?: string
  /** The last two dimensions, at the beginning of all others. */
  readonly level: Values
}

/** Cells on each side that are read; larger arrays are read at their beginning. */
const MOST = 1024

/**
 * Reads the array at the URL of the asset (version 3, else 2).
 * Errors: those of `fetch`, `MEDIA_TYPE_UNSUPPORTED` for what is no array of numbers in two dimensions or more.
 */
export async function readGrid(auth: Auth, target: Target | undefined): Promise<Grid> {
  const place = root(new FetchStore(...zarrStore(auth, target)))
  const array = await open.v3(place, { kind: 'array' }).catch((error: unknown) => {
    if (error instanceof NotFoundError) return open.v2(place, { kind: 'array' })
    throw error
  })
  const { shape, chunks, dtype, attrs } = array
  if (shape.length < 2 || !/^(?:u?int(?:8|16|32)|float(?:16|32|64))$/.test(dtype)) {
    throw new ProtocolError('MEDIA_TYPE_UNSUPPORTED', `an array of ${dtype} with ${shape.length} dimensions cannot be shown as a picture`)
  }
  const selection = shape.map((length, at) => (at < shape.length - 2 ? 0 : slice(0, Math.min(length, MOST))))
  const { data, shape: read } = (await get(array, selection)) as { readonly data: ArrayLike<number>; readonly shape: readonly number[] }
  const [height = 0, width = 0] = read
  const [title, units] = [textIn(attrs, 'long_name'), textIn(attrs, 'units')]
  return {
    shape,
    chunks,
    type: dtype,
    names: array.dimensionNames ?? [],
    ...(title !== undefined && { title }),
    ...(units !== undefined && { units }),
    level: { width, height, numbers: data },
  }
}
