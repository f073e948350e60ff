/** The report of `setup`: the schemes and providers of documents with their credentials, missing ones, and the commands to try next. */

import { dirname, join } from 'node:path'
import type { CredentialObject } from '../../auth/credential.ts'
import type { Requirement } from '../../auth/requirement.ts'
import { isAddress } from '../../http/url.ts'
import { namesOf } from '../../lint/pointer.ts'
import type { Provider, Way } from '../../providers/provider.ts'
import { isObject, own, ownString, type StacDocument } from '../../stac/document.ts'
import { linkOf, type Target } from '../../stac/target.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import { nameInAddress } from '../../text/file-name.ts'
import { forLine, headline } from '../../text/sanitize.ts'
import { commandWord } from '../../text/shell-word.ts'
import type { AnsweredScheme, MissingCredential } from '../credentials/missing-credentials.ts'
import type { NeededBy } from '../credentials/needed-credentials.ts'
import { proposalFor } from '../credentials/proposal.ts'
import { kindOf, plain, quoted, urlText } from '../credentials/question.ts'
import { EXIT, exitCodeOf, worstExit } from '../exit-code.ts'
import type { Style } from '../io.ts'
import { askedSchemes, type DocumentNeeds } from './needed-providers.ts'
import { waysOf } from './provider-setup.ts'
import { changesText, exampleOf, needsAccount, needsText, waysSetUp } from './provider-state.ts'

const MAX_UNUSABLE = 5

/** Formats the schemes that a document uses, one per line, with the credential of each. */
export function inventoryText(found: DocumentNeeds, style: Style): string {
  const { read, needs, occasion } = found
  const usesOf = (targets: readonly string[]) => usesText(targets, read.document)
  const known = providersText(found, usesOf, style)
  const { answered, wanted, unusable } = needs
  const title = urlText(occasion.title ?? 'standard input')
  const count = answered.length + wanted.length
  if (count + unusable.length === 0 && known !== '') return `${title} names no scheme for its assets and links\n${known}`
  if (count + unusable.length === 0)
    return `${title} names no scheme for its assets and links: they need no credential\n${itemText(read)}${byAddressText(read, occasion)}`
  const rows = [
    ...answered.map((one) => [style.green(style.tick), schemeText(one), `${answeredText(one)}, ${usesOf(one.targets)}`]),
    ...wanted.map((one) => [style.red(style.cross), schemeText(one), `${missingText(one)}, ${usesOf(one.targets)}`]),
  ]
  const width = Math.max(0, ...rows.map(([, scheme = '']) => scheme.length))
  const lines = rows.map(([mark, scheme = '', state]) => `  ${mark} ${scheme.padEnd(width)}   ${state}\n`)
  return `${title} uses ${count} ${count === 1 ? 'scheme' : 'schemes'}\n${lines.join('')}${unusableText(unusable, style)}${known}`
}

function schemeText({ name, strategy, scheme, url, target }: Requirement): string {
  const { credential } = strategy.describe(scheme, { url, target })
  return `${quoted(name)} (${kindOf(credential as CredentialObject)})`
}

function answeredText({ credential, loginRequired }: AnsweredScheme): string {
  return `credential ${quoted(credential)}${loginRequired ? ', not logged in' : ''}`
}

function missingText({ unsent, places, url }: MissingCredential): string {
  const { protocol, host } = new URL(url)
  // A host that no pattern can have is named as it is.
  const patterns = places.length === 0 ? [`${protocol}//${host}/`] : places.map(({ pattern }) => pattern)
  const hosts = patterns.map(urlText).join(' ')
  return unsent === undefined ? 'no credential' : `credential ${quoted(unsent)} may not be sent to ${hosts}`
}

const MAX_USES = 3

/** Names the assets, links and schemes that need a scheme. */
function usesText(pointers: readonly string[], document: StacDocument): string {
  const names = [...new Set(pointers)].map((pointer) => {
    const [list = '', key = '', , alternate] = namesOf(pointer)
    if (list === 'assets') return plain(alternate === undefined ? key : `${key}/${alternate}`, 40)
    if (list === 'links') return `link ${quoted(relOf(document, key) ?? key)}`
    return /\/auth:schemes\/[^/]+$/.test(pointer) ? `the requests of ${quoted(namesOf(pointer).at(-1) ?? '')}` : plain(pointer, 60)
  })
  const more = names.length - MAX_USES
  return `for ${names.slice(0, MAX_USES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

function unusableText(unusable: NeededBy['needs']['unusable'], style: Style): string {
  const lines = unusable.slice(0, MAX_UNUSABLE).map(({ pointer, code, message = '' }) => {
    return `  ${style.red(style.cross)} ${headline({ code, pointer, message })}\n`
  })
  const more = unusable.length - lines.length
  return `${lines.join('')}${more > 0 ? `  … and ${more} more that no credential can open\n` : ''}`
}

/** Names a document that may need credentials where this one needs none. */
function itemText({ document, url }: NeededBy['read']): string {
  const href = hrefBelow(document)
  if (href === undefined) return ''
  const address = url !== undefined && canParseUrl(href, url) ? new URL(href, url).href : href
  return `the documents that it links to may need one: stac-auth setup ${commandWord(forLine(address))}\n`
}

/** Catalogs without the extension protect files, too; `explain` shows which credential may be sent where. */
function byAddressText({ document }: NeededBy['read'], { credentials }: NeededBy['occasion']): string {
  if (credentials.length === 0 || !isObject(own(document, 'assets'))) return ''
  return 'if a server requires one nevertheless: --by-address sends the credential whose sendTo allows the URL\n'
}

function hrefBelow(document: StacDocument): string | undefined {
  return ['item', 'items', 'child'].map((rel) => linkOf(document, rel)?.href).find(Boolean)
}

/** Returns the name of the first document that a document links to, on the same origin or as a relative path; else undefined. */
export function documentBelow(name: string, { document, url }: NeededBy['read']): string | undefined {
  const href = hrefBelow(document)
  if (href === undefined) return undefined
  if (!isAddress(name)) return name === '-' || /^[a-z][a-z0-9+.-]*:|^[/\\]/i.test(href) ? undefined : join(dirname(name), href)
  if (url === undefined || !canParseUrl(href, url)) return undefined
  const below = new URL(href, url)
  return below.origin === new URL(url).origin && below.origin === new URL(name).origin ? below.href : undefined
}

/** One scheme of a document, for programs. */
interface ReportedScheme {
  /** Path or URL of the document, as it was given. */
  readonly document: string
  /** Name of the scheme. */
  readonly scheme: string
  /** Type of the scheme. */
  readonly type: string
  /** JSON Pointer of the scheme. */
  readonly pointer: string
  /** `ready`: a credential answers it. */
  readonly state: 'ready' | 'login required' | 'missing'
  /** Id of the credential. */
  readonly credential?: string
  /** Why there is none, for `missing`. */
  readonly code?: string
  /** Pointers of the assets and links that need it. */
  readonly targets: readonly string[]
  /** The credential to add, as in a [credential file](credentials.md). */
  readonly proposal?: CredentialObject
  /** Id of the known provider whose credentials answer the scheme; they are in an object of their own. */
  readonly provider?: string
}

/** Returns the schemes and providers of a document for programs. */
export function reportOf(found: DocumentNeeds): readonly (ReportedScheme | ReportedProvider)[] {
  const { needs, occasion, providers } = found
  const { title: document = '-', credentials, settings } = occasion
  const proposed = (one: MissingCredential) => {
    const provider = providers.schemes.get(one.pointer)
    return provider ? { provider: provider.id } : { proposal: proposalFor(one, credentials, settings).credential }
  }
  const common = ({ name, scheme, pointer }: Requirement) => ({ document, scheme: name, type: scheme.type, pointer })
  return [
    ...needs.answered.map(
      (one): ReportedScheme => ({
        ...common(one),
        state: one.loginRequired ? 'login required' : 'ready',
        credential: one.credential,
        targets: one.targets,
      }),
    ),
    ...needs.wanted.map(
      (one): ReportedScheme => ({
        ...common(one),
        state: 'missing',
        code: one.code,
        targets: one.targets,
        ...proposed(one),
      }),
    ),
    ...reportOfProviders(found),
  ]
}

/** Returns the exit code of what a document lacks. */
export function exitOfNeeds({ needs, providers }: DocumentNeeds): number {
  const { wanted, answered, unusable } = needs
  const isWaiting = [...answered, ...providers.answered].some(({ loginRequired }) => loginRequired)
  const isLacking = isWaiting || providers.needed.length > 0 || askedSchemes(wanted, providers).length > 0
  return worstExit([isLacking ? EXIT.credentials : EXIT.done, ...unusable.map(({ code }) => exitCodeOf(code))])
}

/** Formats commands to try with a document and one of its targets that can be requested. */
export function nextText(name: string, target: Target | undefined): string {
  const document = commandWord(forLine(name))
  const all = `  stac-auth download ${document} -d data\n`
  const choice = target && choiceOf(target)
  if (!target || choice === undefined) return all
  const file = nameInAddress(target.href)
  const key = assetKeyOf(target)
  const run =
    key !== undefined && /^[\w.-]+$/.test(key) && isForGdal(target, file) ? `  stac-auth run ${document} -- gdalinfo {${key}}\n` : ''
  return `  stac-auth fetch ${document} ${choice} -o ${commandWord(file)}\n${run}${all}`
}

/** Returns true for rasters and tables that GDAL reads. */
function isForGdal({ object }: Target, file: string): boolean {
  return /\.(?:tiff?|jp2|nc|h5|hdf|vrt|gpkg|parquet|geojson)$/i.test(file) || /geotiff|jp2/i.test(String(object.type))
}

function relOf({ links }: StacDocument, index: string): string | undefined {
  const link: unknown = Array.isArray(links) ? links[Number(index)] : undefined
  return ownString(link, 'rel')
}

/** Returns the key of an asset; undefined for one of a document in a list, and for other targets. */
function assetKeyOf(target: Target): string | undefined {
  const [list, key, more] = namesOf(target.pointer)
  return list === 'assets' && more === undefined ? key : undefined
}

/** Returns the option that selects a target; undefined for one of a document in a list. */
function choiceOf(target: Target): string | undefined {
  const parts = namesOf(target.pointer)
  const [list, key = '', alternate, name = ''] = parts
  const { object } = target
  const asset = assetKeyOf(target)
  if (asset !== undefined) return `--asset ${commandWord(forLine(asset))}`
  if (list === 'assets' && alternate === 'alternate') return `--alternate ${commandWord(forLine(`${key}/${name}`))}`
  if (list === 'links' && parts.length === 2 && typeof object.rel === 'string') return `--link ${commandWord(forLine(object.rel))}`
  return undefined
}

/** A known provider of a document, or one that was named, for programs. */
interface ReportedProvider {
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
function reportOfProviders({ providers, occasion }: DocumentNeeds): readonly ReportedProvider[] {
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
  const lines = known.map(({ way, credentials: mine, changes, own: kept }) => {
    const ids = mine.map(({ id }) => quoted(String(id))).join(', ')
    const more = changes.length > 0 ? `  what is known of it has changed since:\n${changesText(changes, kept)}` : ''
    return `  ${style.green(style.tick)} ${provider.title} is set up: ${ids} (${way.id})\n${more}`
  })
  return lines.join('')
}

/** Formats the providers of a document; `usesOf` names files by their pointers. */
function providersText({ providers }: DocumentNeeds, usesOf: (pointers: readonly string[]) => string, style: Style): string {
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
