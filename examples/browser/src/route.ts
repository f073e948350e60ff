/** The URL of the open document is behind the `#`, so that links, history and bookmarks work. */

const PREFIX = '#url='

/** What a link to a document has in `href`. */
export function routeTo(url: string): string {
  return PREFIX + encodeURIComponent(url)
}

/** The URL in the route; undefined on the start page, and for what is no URL of the web. */
export function routed(hash: string): string | undefined {
  if (!hash.startsWith(PREFIX)) return undefined
  try {
    const url = new URL(decodeURIComponent(hash.slice(PREFIX.length)))
    return /^https?:$/.test(url.protocol) ? url.href : undefined
  } catch {
    return undefined
  }
}
