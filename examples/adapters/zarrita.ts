import type { Auth, Target } from 'stac-auth'
import { zarrStore } from 'stac-auth/adapters/zarrita'
import { FetchStore, get, open, root } from 'zarrita'

/** All values of an array in a Zarr store. */
export async function readZarr(auth: Auth, zarr: Target | undefined, name: string) {
  const store = new FetchStore(...zarrStore(auth, zarr))
  const array = await open.v3(root(store).resolve(name), { kind: 'array' })
  const { data } = await get(array)
  return data
}
