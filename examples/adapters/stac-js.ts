import type { Auth } from 'stac-auth'
import { targetOf } from 'stac-auth/adapters/stac-js'
import { Item } from 'stac-js'

/** A file of an Item, by way of stac-js. */
export async function readAsset(auth: Auth, document: object, url: string, key: string) {
  const item = new Item(document, url)
  const response = await auth.fetch(targetOf(item.getAsset(key)))
  return response.text()
}
