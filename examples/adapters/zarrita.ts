import type { Auth } from 'stac-auth'
import type { Given } from 'stac-auth/adapters/requests'
import { zarrStore } from 'stac-auth/adapters/zarrita'
import { FetchStore, get, open, root } from 'zarrita'

/** All values of an array in a Zarr store. */
export async function readZarr(auth: Auth, zarr: Given | undefined, name: string) {
  const store = new FetchStore(...zarrStore(auth, zarr))
  const array = await open.v3(root(store).resolve(name), { kind: 'array' })
  const { data } = await get(array)
  return data
}
