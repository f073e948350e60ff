/** The addresses that a challenge is for: `domain` of Digest (RFC 7616 §3.3), `path` of Mutual (RFC 8120 §4.3). */

/**
 * The roots that a list separated by blanks names; the whole origin when there is no list. A challenge may narrow where its
 * answer is sent unasked; it never adds an origin.
 *
 * @param url where the challenge came from
 */
export function rootsOf(list: string | undefined, url: string): readonly string[] {
  const { origin } = new URL(url)
  if (list === undefined || list.trim() === '') return [`${origin}/`]
  return list
    .trim()
    .split(/[\t ]+/)
    .flatMap((address) => (URL.canParse(address, url) ? [new URL(address, url)] : []))
    .flatMap((root) => (root.origin === origin ? [root.origin + root.pathname] : []))
}

/** Length of the longest root that an address is below; -1 when it is below none. */
export function closeness(roots: readonly string[], url: string): number {
  const { origin, pathname } = new URL(url)
  const place = origin + pathname
  const covering = roots.filter((root) => place === root || place.startsWith(root.endsWith('/') ? root : `${root}/`))
  return Math.max(-1, ...covering.map((root) => root.length))
}
