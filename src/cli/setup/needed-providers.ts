/** Finds the known providers that the files of a document belong to, and which of their ways in would open these files. */
import type { Auth } from '../../auth/auth.ts'
import { createAuth } from '../../auth/create-auth.ts'
import type { UncheckedCredential } from '../../auth/credential.ts'
import { credentialsFrom, type Provider, type Way } from '../../providers/provider.ts'
import { createRecognizer } from '../../providers/recognize.ts'
import { isProtected, type Target } from '../../stac/target.ts'
import type { Context } from '../context.ts'
import type { MissingCredential, Needs } from '../credentials/missing-credentials.ts'
import type { NeededBy } from '../credentials/needed-credentials.ts'
import { inOrder, requiredHoles } from './provider-state.ts'

/** A provider with files that no credential of the user opens. */
export interface NeededProvider {
  readonly provider: Provider
  /** The ways in that open some of them, the best first; a way that opens nothing more than one before it is left out. */
  readonly ways: readonly Way[]
  /** Pointers of the files. */
  readonly targets: readonly string[]
}

/** A provider with a file that a credential opens by its URL alone. */
export interface AnsweredProvider {
  readonly provider: Provider
  readonly credential: string
  readonly loginRequired: boolean
  /** The first such file. */
  readonly target: Target
  readonly targets: readonly string[]
}

/** The providers of a document. */
export interface DocumentProviders {
  readonly needed: readonly NeededProvider[]
  readonly answered: readonly AnsweredProvider[]
  /** The schemes without a credential that are not asked about, because a way in of a provider answers them; by pointer. */
  readonly schemes: ReadonlyMap<string, Provider>
}

/** What a document needs, with its providers. */
export interface DocumentNeeds extends NeededBy {
  readonly providers: DocumentProviders
}

interface Lacking {
  readonly target: Target
  readonly provider: Provider
  /** Ids of the ways in that open it. */
  readonly ways: ReadonlySet<string>
}

/**
 * Explains the files of known providers, without network access. Nothing is created: the ways in are tried with placeholders.
 *
 * @param env ways in whose values are all in variables come first
 * @param all also for files of which another address can be opened already
 */
export async function providersOf(
  { read, needs, auth }: Pick<NeededBy, 'read' | 'needs' | 'auth'>,
  env: Context['io']['env'],
  all = false,
): Promise<DocumentProviders> {
  const { files } = createRecognizer().document(read.document, read.url === undefined ? {} : { url: read.url })
  const trial = new Trial()
  const lacking: Lacking[] = []
  const answered = new Map<string, AnsweredProvider & { readonly targets: string[] }>()
  const opened = new Set<string>()
  for (const { target, providers } of files) {
    if (!isFile(target)) continue
    const [provider] = providers
    if (!provider) continue
    const state = await stateOf(target, auth)
    if (state !== 'lacking') {
      if (state !== undefined) opened.add(fileOf(target))
      if (state === undefined || isProtected(target)) continue
      const key = `${provider.id} ${state.credential}`
      const known = answered.get(key) ?? { provider, target, ...state, targets: [] }
      known.targets.push(target.pointer)
      answered.set(key, known)
      continue
    }
    for (const one of providers) {
      const ways = await trial.opening(one, target)
      if (ways.size === 0) continue
      lacking.push({ target, provider: one, ways })
      break
    }
  }
  return {
    needed: neededOf(
      lacking.filter(({ target }) => all || !opened.has(fileOf(target))),
      env,
    ),
    answered: [...answered.values()],
    schemes: schemesOf(lacking, needs.wanted),
  }
}

/** Links without references are pages and other documents. */
function isFile(target: Target): boolean {
  return target.kind === 'asset' || target.kind === 'alternate' || (target.kind === 'link' && isProtected(target))
}

/** The asset of an alternate: each of its addresses leads to the same file. */
function fileOf({ pointer }: Target): string {
  return pointer.replace(/\/alternate\/[^/]*$/, '')
}

type State = Pick<AnsweredProvider, 'credential' | 'loginRequired'> | 'lacking' | undefined

/** Returns the credential of a target; undefined for one that needs none, or that no credential can open. */
async function stateOf(target: Target, auth: Auth): Promise<State> {
  const { refs, byAddress, signature, code } = await auth.explain(target)
  if (signature || code !== undefined) return undefined
  const usable = [...refs, ...(byAddress?.used ? [byAddress] : [])].find(isUsable)
  if (usable) return { credential: usable.credential ?? '', loginRequired: usable.code !== undefined }
  // An empty list says that the file is public.
  return isProtected(target) || !Object.hasOwn(target.refsOf.object, 'auth:refs') ? 'lacking' : undefined
}

function isUsable({ code }: { readonly code?: string }): boolean {
  return code === undefined || code === 'LOGIN_REQUIRED'
}

/** Tries ways in with placeholders in place of secrets. */
class Trial {
  readonly #engines = new Map<Way, Auth>()

  /** Returns the ids of the ways in that open a target. */
  async opening(provider: Provider, target: Target): Promise<ReadonlySet<string>> {
    const found = new Set<string>()
    for (const way of provider.ways) {
      if (typeof (await stateOf(target, this.#engine(provider, way))) === 'object') found.add(way.id)
    }
    return found
  }

  #engine(provider: Provider, way: Way): Auth {
    const known = this.#engines.get(way)
    if (known) return known
    const values = Object.fromEntries(requiredHoles(way).map(([name]) => [name, 'x']))
    const credentials = credentialsFrom(provider, way.id, values) as readonly UncheckedCredential[]
    const engine = createAuth({ credentials, transport: () => Promise.reject(new Error('explained only')) })
    this.#engines.set(way, engine)
    return engine
  }
}

function neededOf(lacking: readonly Lacking[], env: Context['io']['env']): readonly NeededProvider[] {
  const providers = [...new Set(lacking.map(({ provider }) => provider))]
  return providers.map((provider) => {
    const files = lacking.filter((one) => one.provider === provider)
    return { provider, ways: distinctWays(inOrder(provider.ways, env), files), targets: files.map(({ target }) => target.pointer) }
  })
}

/** Returns the ways in of which each opens a file that none before it opens, by any of its addresses. */
function distinctWays(ways: readonly Way[], files: readonly Lacking[]): readonly Way[] {
  const openedBy = ({ id }: Way) => new Set(files.filter((file) => file.ways.has(id)).map(({ target }) => fileOf(target)))
  const kept: Way[] = []
  for (const way of ways) {
    const mine = openedBy(way)
    const isCovered = kept.some((other) => isWithin(mine, openedBy(other)))
    if (mine.size > 0 && !isCovered) kept.push(way)
  }
  return kept
}

function isWithin(some: ReadonlySet<string>, all: ReadonlySet<string>): boolean {
  return [...some].every((one) => all.has(one))
}

/** Returns the schemes of which all targets are files that a way in opens, and those that only such schemes need. */
function schemesOf(lacking: readonly Lacking[], wanted: Needs['wanted']): ReadonlyMap<string, Provider> {
  const providers = new Map(lacking.map(({ target, provider }) => [target.pointer, provider]))
  const found = new Map<string, Provider>()
  const providerOf = (pointer: string) => providers.get(pointer) ?? found.get(pointer)
  // From the end: a scheme comes after those in its `auth:refs`.
  for (const { pointer, targets } of [...wanted].reverse()) {
    const [first] = targets.map(providerOf)
    if (first && targets.every((target) => providerOf(target) !== undefined)) found.set(pointer, first)
  }
  return found
}

/** Returns the schemes that are asked about. */
export function askedSchemes(wanted: readonly MissingCredential[], { schemes }: DocumentProviders): readonly MissingCredential[] {
  return wanted.filter(({ pointer }) => !schemes.has(pointer))
}
