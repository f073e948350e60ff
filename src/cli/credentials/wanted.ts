/** The schemes of a document for which its reader has no entry, and where their material would go. */

import type { Command } from 'commander'
import type { Auth } from '../../auth/auth.ts'
import { type Need, needOf, patternFor } from '../../auth/need.ts'
import { loadStrategies } from '../../auth/registry.ts'
import { type ErrorCode, isAuthError } from '../../errors.ts'
import { isProtected, type Target, targetsOf } from '../../stac/target.ts'
import { defaultStrategies } from '../../strategies/index.ts'
import type { ReadDocument } from '../read-document.ts'
import type { Wishes } from './proposal.ts'

/** A pattern, and how many targets of each kind it is for. */
export interface Place {
  readonly pattern: string
  readonly counts: Readonly<Record<string, number>>
}

/** A scheme without an entry that can be used; `target` is the first of it. */
export interface Wanted extends Need {
  /** Why not: `NO_CREDENTIAL` when there is none, else what is wrong with the one that comes nearest. */
  readonly code: ErrorCode
  readonly places: readonly Place[]
  /** How many hosts are left out, because nobody reads a list that long. */
  readonly more: number
  /** Pointers of its targets. */
  readonly targets: readonly string[]
}

/** What a document needs of its reader. */
export interface Needs {
  /** Schemes that are in order, as they occur first. */
  readonly wanted: readonly Wanted[]
  /** Entries that fit already. */
  readonly entries: ReadonlySet<string>
  /** The first target of which no reference can be used. */
  readonly refused?: Target
}

const MAX_PLACES = 12

/** The scheme is in order then, and nothing but an entry of the user's is missing. */
const MISSES: readonly ErrorCode[] = ['NO_CREDENTIAL', 'CREDENTIAL_ENDPOINT_UNTRUSTED', 'SCHEME_MISMATCH']

type Found = Omit<Wanted, 'places' | 'more' | 'targets'>

/** Looks at every asset and link that has references; no network. */
export async function needsOf({ document, url }: ReadDocument, auth: Auth): Promise<Needs> {
  const strategies = await loadStrategies(defaultStrategies)
  const found = new Map<string, { readonly wanted: Found; readonly targets: Target[] }>()
  const entries = new Set<string>()
  let refused: Target | undefined
  for (const target of targetsOf(document, url === undefined ? {} : { url })) {
    if (target.kind === 'item_asset' || !isProtected(target)) continue
    const { refs } = await auth.explain(target)
    const usable = refs.find(({ code }) => code === undefined)
    if (usable?.credential !== undefined) entries.add(usable.credential)
    if (usable) continue
    if (refs.some(({ code }) => code === 'LOGIN_REQUIRED')) {
      for (const id of await waiting(target, auth)) entries.add(id)
      continue
    }
    refused ??= target
    for (const { ref, code } of refs) {
      if (code === undefined || !MISSES.includes(code)) continue
      const need = needOf(target, ref, strategies)
      if (!need) continue
      const wanted = { code, ...need }
      const known = found.get(wanted.pointer) ?? { wanted, targets: [] }
      known.targets.push(target)
      found.set(wanted.pointer, known)
    }
  }
  const wanted = [...found.values()].map(({ wanted, targets }) => ({ ...wanted, ...placesOf(targets) }))
  return { wanted, entries, ...(refused && { refused }) }
}

/** The entry that waits for a login; asking for its request says so and sends nothing. */
async function waiting(target: Target, auth: Auth): Promise<readonly string[]> {
  try {
    await auth.authorize(target)
  } catch (error) {
    if (isAuthError(error) && error.code === 'LOGIN_REQUIRED' && error.credential !== undefined) return [error.credential]
    throw error
  }
  return []
}

/** The patterns in the order in which they first occur. */
function placesOf(targets: readonly Target[]): Pick<Wanted, 'places' | 'more' | 'targets'> {
  const counts = new Map<string, Record<string, number>>()
  for (const { href, scope, kind } of targets) {
    const pattern = patternFor(new URL(href, scope.url))
    if (pattern === undefined) continue
    const known = counts.get(pattern) ?? {}
    known[kind] = (known[kind] ?? 0) + 1
    counts.set(pattern, known)
  }
  const places = [...counts].map(([pattern, counts]) => ({ pattern, counts }))
  return { places: places.slice(0, MAX_PLACES), more: Math.max(0, places.length - MAX_PLACES), targets: targets.map((one) => one.pointer) }
}

export interface WishOptions {
  readonly id?: string
  readonly scope?: readonly string[]
}

/** Adds `--id` and `--scope`. */
export function withWishOptions(command: Command): Command {
  return command
    .option('--id <id>', 'the id of a new entry')
    .option(
      '--scope <scope>',
      'a scope that a new entry asks for; those of the catalog are never taken over (repeatable)',
      (scope, scopes: readonly string[] = []) => [...scopes, scope],
    )
}

export function wishesOf({ id, scope = [] }: WishOptions): Wishes {
  return { ...(id !== undefined && { id }), scopes: scope }
}
