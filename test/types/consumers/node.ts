/** A program for Node without the types of pages. */
import { type AuthError, assetOf, bearer, createAuth, isAuthError, type Transport } from 'stac-auth'
import { crawl, sendWith } from 'stac-auth/crawl'
import { lint, type Problem } from 'stac-auth/lint'
import { type DownloadEvent, download, undiciTransport } from 'stac-auth/node'
import { curl } from 'stac-auth/outputs'
import { TranslationClient } from 'stac-auth/translation'

const item = { type: 'Feature', id: 'a', assets: { data: { href: 'https://data.example/a.tif' } } }
const auth = createAuth({
  credentials: bearer(() => 'token', 'https://data.example/'),
  transport: undiciTransport(),
})

export const sizeOf = async (): Promise<number> => {
  const response: Response = await auth.fetch(assetOf(item, 'data'))
  return (await response.arrayBuffer()).byteLength
}
/** With a client of the caller's, whose types know the buffer of an array. */
export const throughFetch: Transport = async ({ method, url, headers, body }, { signal } = {}) => {
  const response = await fetch(url, { method, headers, redirect: 'manual', ...(body && { body }), ...(signal && { signal }) })
  return {
    status: response.status,
    url,
    headers: response.headers,
    bytes: async () => new Uint8Array(await response.arrayBuffer()),
    text: () => response.text(),
    discard: async () => response.body?.cancel(),
    toResponse: () => response,
  }
}
export const events: AsyncIterable<DownloadEvent> = download([{ document: item, url: 'https://data.example/item.json' }], {
  folder: 'data',
  auth,
})
export const command = async (): Promise<string> => curl(await auth.authorize(assetOf(item, 'data')))
export const problems: readonly Problem[] = lint(item)
export const visits = crawl({ start: ['https://data.example/catalog.json'], send: sendWith(auth.fetch) })
export const client = new TranslationClient({ apiKey: 'key' })
export const codeOf = (error: unknown): AuthError['code'] | undefined => (isAuthError(error) ? error.code : undefined)

// @ts-expect-error a token without an address would go anywhere
bearer('token')
// @ts-expect-error a folder is needed
download([], { auth })
