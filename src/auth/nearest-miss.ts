/** The entry that was probably meant, and where it differs. */
import { agrees } from './match.ts'
import type { Identity, IdentityMember } from './strategy.ts'

/** How an entry misses a scheme. */
export interface Miss<Entry> {
  readonly entry: Entry
  /** Of the scheme; a URL if one differs. */
  readonly member: IdentityMember
  /** What the entry has in its place. */
  readonly expected: string | undefined
  readonly sharesUrl: boolean
}

/** The miss of the entry that shares most with the scheme, among those that `matters` (told whether a URL is shared). */
export function nearestMiss<Entry>(
  tuples: readonly Identity[],
  entries: readonly { readonly entry: Entry; readonly identity: Identity }[],
  matters: (entry: Entry, sharesUrl: boolean) => boolean,
): Miss<Entry> | undefined {
  let best: (Miss<Entry> & { readonly shared: number }) | undefined
  for (const { entry, identity } of entries) {
    for (const tuple of tuples) {
      const agreeing = tuple.filter((member) => agrees(member, identity))
      const sharesUrl = agreeing.some(({ url }) => url !== undefined)
      const member = firstDifference(tuple, identity)
      if (!member || agreeing.length <= (best?.shared ?? -1) || !matters(entry, sharesUrl)) continue
      best = { entry, member, sharesUrl, shared: agreeing.length, expected: identity.find(({ name }) => name === member.name)?.value }
    }
  }
  return best
}

/** URLs are compared before other members. */
function firstDifference(tuple: Identity, entry: Identity): IdentityMember | undefined {
  const different = tuple.filter((member) => !agrees(member, entry))
  return different.find(({ url }) => url !== undefined) ?? different[0]
}
