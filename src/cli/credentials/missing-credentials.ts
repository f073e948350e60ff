/** Finds the schemes of a document without a usable credential, and the URLs their credentials need. */
import type { Command } from 'commander'
import type { Auth } from '../../auth/auth.ts'
import { patternFor, type Requirement, requirementOf } from '../../auth/requirement.ts'
import { loadStrategies } from '../../auth/strategy.ts'
import { type ErrorCode, isAuthError } from '../../errors.ts'
import { isProtected, type Target, targetsOf } from '../../stac/target.ts'
import { defaultStrategies } from '../../strategies/index.ts'
import { inOptionGroup } from '../options.ts'
import type { ReadDocument } from '../read-document.ts'
import type { NewCredentialSettings } from './proposal.ts'

/** A URL pattern, and the number of its targets by kind. */
export interface Place {
  readonly pattern: string
  readonly counts: Readonly<Record<string, number>>
}

/** A scheme without a usable credential; `target` is its first target. */
export interface MissingCredential extends Requirement {
  /** `NO_CREDENTIAL` if there is no credential, else the reason why the best match is rejected. */
  readonly code: ErrorCode
  readonly places: readonly Place[]
  /** Number of hosts beyond the limit of the prompt. */
  readonly more: number
  /** Pointers of its targets. */
  readonly targets: readonly string[]
}

/** The credentials that a document needs. */
export interface Needs {
  /** Valid schemes without a credential, in the order of the document. */
  readonly wanted: readonly MissingCredential[]
  /** Ids of existing credentials that match. */
  readonly entries: ReadonlySet<string>
  /** The first target without a usable reference. */
  readonly refused?: Target
}

const MAX_PLACES = 12

/** Error codes of a valid scheme that only lacks a credential. */
const MISSES: readonly ErrorCode[] = ['NO_CREDENTIAL', 'CREDENTIAL_ENDPOINT_UNTRUSTED', 'SCHEME_MISMATCH']

type Found = Omit<MissingCredential, 'places' | 'more' | 'targets'>

/** Explains every asset and link with references, without network access. */
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
      const need = requirementOf(target, ref, strategies)
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

/** Returns the id of the credential that must log in; `authorize` throws it without sending anything. */
async function waiting(target: Target, auth: Auth): Promise<readonly string[]> {
  try {
    await auth.authorize(target)
  } catch (error) {
    if (isAuthError(error) && error.code === 'LOGIN_REQUIRED' && error.credential !== undefined) return [error.credential]
    throw error
  }
  return []
}

/** Returns the URL patterns of targets in the order of their first use. */
function placesOf(targets: readonly Target[]): Pick<MissingCredential, 'places' | 'more' | 'targets'> {
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

export interface NewCredentialOptions {
  readonly id?: string
  readonly scope?: readonly string[]
}

/** Adds `--id` and `--scope`. */
export function withNewCredentialOptions(command: Command): Command {
  return inOptionGroup(command, 'New credentials:', (group) =>
    group
      .option('--id <id>', 'set the id of a new credential')
      .option('--scope <scope>', 'request this scope with a new credential (repeatable)', (scope, scopes: readonly string[] = []) => [
        ...scopes,
        scope,
      ]),
  )
}

export function newCredentialSettingsOf({ id, scope = [] }: NewCredentialOptions): NewCredentialSettings {
  return { ...(id !== undefined && { id }), scopes: scope }
}
