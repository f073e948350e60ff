import type { Auth } from 'stac-auth'
import { injectionResolver } from 'stac-auth/adapters/stac-browser'
import type { targetOf } from 'stac-auth/adapters/stac-js'

/** Sends as a program does that has such a hook. */
export async function browse(auth: Auth, link: Parameters<typeof targetOf>[0], url: string) {
  const { headers, query } = await injectionResolver(auth)(link, url)
  const address = new URL(url)
  for (const [name, value] of Object.entries(query)) address.searchParams.append(name, value)
  return fetch(address, { headers })
}
