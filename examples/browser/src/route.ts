/** The URL of the open document is behind the `#`, so that links, history and bookmarks work. */

const PREFIX = '#url='
const SEARCH = '&search='

/** What a link to a document has in `href`; `search` is a question that is asked there. */
export function routeTo(url: string, search = ''): string {
  return PREFIX + encodeURIComponent(url) + (search && SEARCH + encodeURIComponent(search))
}

/** The URL in the route; undefined on the start page, and for what is no URL of the web. */
export function routed(hash: string): string | undefined {
  if (!hash.startsWith(PREFIX)) return undefined
  try {
    const url = new URL(decodeURIComponent(hash.slice(PREFIX.length).split(SEARCH)[0] ?? ''))
    return /^https?:$/.test(url.protocol) ? url.href : undefined
  } catch {
    return undefined
  }
}

/** The question in the route; undefined where there is none. */
export function searchIn(hash: string): string | undefined {
  const [, search] = hash.split(SEARCH)
  try {
    return search && decodeURIComponent(search)
  } catch {
    return undefined
  }
}
