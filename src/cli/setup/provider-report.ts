/** The report of `setup` about known providers: of a document, or named by the user. */
import type { CredentialObject } from '../../auth/credential.ts'
import type { Provider, Way } from '../../providers/provider.ts'
import { quoted } from '../credentials/question.ts'
import { EXIT } from '../exit-code.ts'
import type { Style } from '../io.ts'
import type { DocumentNeeds } from './needed-providers.ts'
import { waysOf } from './provider-setup.ts'
import { waysSetUp } from './provider-state.ts'
import { changesText, exampleOf, needsAccount, needsText } from './provider-text.ts'

/** A known provider of a document, or one that was named, for programs. */
export interface ReportedProvider {
  /** Path or URL of the document, as it was given; absent for a provider that was named. */
  readonly document?: string
  /** Id of the provider. */
  readonly provider: string
  /** Id of the way in. */
  readonly way?: string
  /** `ready`: a credential opens its files; `changed`: the registry has other values since. */
  readonly state: 'ready' | 'changed' | 'login required' | 'missing'
  /** Ids of its credentials. */
  readonly credentials: readonly string[]
  /** Pointers of the files; absent for a provider that was named. */
  readonly targets?: readonly string[]
  /** The credentials to add, as in a [credential file](credentials.md). */
  readonly proposal?: readonly CredentialObject[]
}

/** Returns the providers of a document for programs. */
export function reportOfProviders({ providers, occasion }: DocumentNeeds): readonly ReportedProvider[] {
  const document = occasion.title ?? '-'
  return [
    ...providers.answered.map(({ provider: { id }, credential, loginRequired, targets }): ReportedProvider => {
      return { document, provider: id, state: loginRequired ? 'login required' : 'ready', credentials: [credential], targets }
    }),
    ...providers.needed.map(({ provider, ways: [way], targets }): ReportedProvider => ({ document, ...missing(provider, way), targets })),
  ]
}

function missing(provider: Provider, way: Way | undefined): Omit<ReportedProvider, 'document' | 'targets'> {
  const proposal = way ? { way: way.id, proposal: exampleOf(provider, way) } : {}
  return { provider: provider.id, state: 'missing', credentials: [], ...proposal }
}

/** Returns the state of a provider that was named, for programs; of one way in, or of all that are set up. */
export function reportOfProvider(
  provider: Provider,
  credentials: readonly CredentialObject[],
  way?: string,
): readonly [ReportedProvider, ...ReportedProvider[]] {
  const [first, ...others] = waysSetUp(provider, credentials)
    .filter((one) => way === undefined || one.way.id === way)
    .map((one): ReportedProvider => {
      const ids = one.credentials.map(({ id }) => String(id))
      return { provider: provider.id, way: one.way.id, state: one.changes.length > 0 ? 'changed' : 'ready', credentials: ids }
    })
  if (first) return [first, ...others]
  return [missing(provider, provider.ways.find(({ id }) => id === way) ?? waysOf(provider)[0])]
}

/** Returns the exit code of a provider that was named. */
export function exitOfReport([{ state }]: readonly [ReportedProvider, ...ReportedProvider[]]): number {
  return state === 'missing' ? EXIT.credentials : EXIT.done
}

/** Formats the state of a provider that was named. */
export function providerText(provider: Provider, credentials: readonly CredentialObject[], style: Style): string {
  const known = waysSetUp(provider, credentials)
  if (known.length === 0)
    return `  ${style.red(style.cross)} ${provider.title} is not set up; needs ${needsText(waysOf(provider)[0] as Way)}\n`
  const lines = known.map(({ way, credentials: mine, changes, own }) => {
    const ids = mine.map(({ id }) => quoted(String(id))).join(', ')
    const more = changes.length > 0 ? `  what is known of it has changed since:\n${changesText(changes, own)}` : ''
    return `  ${style.green(style.tick)} ${provider.title} is set up: ${ids} (${way.id})\n${more}`
  })
  return lines.join('')
}

/** Formats the providers of a document; `usesOf` names files by their pointers. */
export function providersText({ providers }: DocumentNeeds, usesOf: (pointers: readonly string[]) => string, style: Style): string {
  const answered = providers.answered.map(({ provider, credential, loginRequired, targets }) => {
    const state = `credential ${quoted(credential)}${loginRequired ? ', not logged in' : ''}`
    return `  ${style.green(style.tick)} files of ${provider.title}: ${state}, ${usesOf(targets)}\n`
  })
  const needed = providers.needed.map(({ provider, ways, targets }) => {
    const what = ways.every(needsAccount) ? 'it needs your account' : 'it needs no account, only your yes'
    return `these files belong to ${provider.title}; ${what}: ${usesOf(targets)}\n`
  })
  return [...answered, ...needed].join('')
}
