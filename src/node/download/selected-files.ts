/** Checks the options of a download and selects the files of its inputs, each with the URLs that it can be requested from. */
import type { Auth } from '../../auth/auth.ts'
import { givenTarget, isTarget } from '../../auth/resource.ts'
import { ConfigurationError } from '../../errors.ts'
import { mediaType } from '../../http/headers.ts'
import { httpsForm } from '../../http/url.ts'
import { isObject, own, ownObject, ownString } from '../../stac/document.ts'
import { findAlternate, type Target, targetsOf } from '../../stac/target.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import { nameInAddress } from '../../text/file-name.ts'
import { checkNamed, FUNCTION, SIGNAL, withMethods } from '../base/check-options.ts'
import type { AssetChoice, DownloadInput, DownloadOptions, SourceDocument } from './download.ts'
import { pathTemplate } from './path-template.ts'

/** A file with its targets in the order of preference, and what the document says about it. */
export interface SelectedFile {
  readonly key: string
  /** At least one. */
  readonly targets: readonly [Target, ...Target[]]
  /** `file:size`. */
  readonly size?: number
  /** `file:checksum`: a multihash in hex. */
  readonly checksum?: string
  /** `file:local_path`, unchanged from the document. */
  readonly localPath?: string
  /** Media type without parameters, in lower case. */
  readonly type?: string
  /** Size limits, for a file without `file:size`. */
  readonly sizeLimits?: SizeLimits
  /** For an object of an asset that is a folder: the URL of the folder, and the path of the object below it. */
  readonly folder?: { readonly path: string; readonly segments: readonly string[] }
  /** True for a file that a server need not have: the `skipped` event follows on 404. */
  readonly mayBeMissing?: true
}

export type SizeLimits = Pick<AssetChoice, 'minSize' | 'maxSize'>

export interface SelectionOptions {
  /** Default: all assets. */
  readonly isChosen?: ChooseAsset
  readonly alternates?: readonly string[]
  readonly sizeLimits?: SizeLimits
}

/** Parses the options that select files. Errors: `CONFIG_INVALID` for impossible sizes. */
export async function selectionOptionsOf({
  assets = {},
  alternates,
}: Pick<DownloadOptions, 'assets' | 'alternates'>): Promise<SelectionOptions> {
  return { isChosen: await assetFilterOf(assets), sizeLimits: sizeLimitsIn(assets), ...(alternates && { alternates }) }
}

/** Returns true for a size between the limits, both included. */
export function isWithin(size: number, { minSize = 0, maxSize = Number.POSITIVE_INFINITY }: SizeLimits): boolean {
  return size >= minSize && size <= maxSize
}

function sizeLimitsIn({ minSize, maxSize }: AssetChoice): SizeLimits {
  for (const [name, size] of Object.entries({ minSize, maxSize })) {
    if (size === undefined || (Number.isSafeInteger(size) && size >= 0)) continue
    throw new ConfigurationError('CONFIG_INVALID', `assets.${name} is not a number of bytes`, { hint: 'use a whole number of 0 or more' })
  }
  if (minSize !== undefined && maxSize !== undefined && minSize > maxSize)
    throw new ConfigurationError('CONFIG_INVALID', `the smallest size of ${minSize} bytes exceeds the largest one of ${maxSize} bytes`, {
      hint: 'lower the minimum or raise the maximum',
    })
  return { ...(minSize !== undefined && { minSize }), ...(maxSize !== undefined && { maxSize }) }
}

/** Returns true for an asset to download. */
export type ChooseAsset = (asset: Target) => boolean

/** Parses a choice; loads the glob library only if one of the patterns is a glob. */
async function assetFilterOf({ keys, include, exclude = [], roles, types }: AssetChoice): Promise<ChooseAsset> {
  const [isWantedKey, isWanted, isLeftOut] = [
    keys && (await matcherOf(keys)),
    include && (await matcherOf(include)),
    await matcherOf(exclude),
  ]
  return ({ object, pointer, href }) => {
    const stated = own(object, 'roles')
    const type = mediaType(ownString(object, 'type'))
    const key = lastName(pointer)
    if (isWantedKey && !isWantedKey(key)) return false
    if (isWanted && !isWanted(key) && !namesOf(href, object).some(isWanted)) return false
    if (isLeftOut(key) || isLeftOut(nameInAddress(href))) return false
    if (roles && !(Array.isArray(stated) && stated.some((role) => roles.includes(role)))) return false
    return !types || types.some((wish) => isOfType(type, mediaType(wish)))
  }
}

/** Returns the file names in the URLs of an asset and of its alternates. */
function namesOf(href: string, asset: object): readonly string[] {
  const alternates = Object.values(ownObject(asset, 'alternate') ?? {}).flatMap((alternate) => ownString(alternate, 'href') ?? [])
  return [href, ...alternates].map(nameInAddress)
}

/** Returns a matcher of texts and globs; a slash in a key is an ordinary character. */
async function matcherOf(patterns: readonly string[]): Promise<(text: string) => boolean> {
  const exact = new Set(patterns)
  const globs = patterns.filter((pattern) => /[*?[\]{}]|[!@+]\(/.test(pattern))
  if (globs.length === 0) return (text) => exact.has(text)
  const { default: picomatch } = await import('picomatch')
  const matches = picomatch(globs, { bash: true, dot: true })
  return (text) => exact.has(text) || matches(text)
}

/**
 * Yields the files of an input in the order of its documents and assets. A single asset or link is not filtered.
 *
 * Errors: `CONFIG_INVALID`, `TARGET_NOT_FOUND` for an input that is neither a document nor a target.
 */
export function* selectFiles(input: DownloadInput, options: SelectionOptions): Generator<SelectedFile> {
  if (isTarget(input)) {
    yield selected(keyOf(input), input, [])
    return
  }
  const { document, url, parents = [] } = givenDocument(input)
  let asset: Target | undefined
  let alternates: Target[] = []
  const flush = function* (): Generator<SelectedFile> {
    if (asset && (options.isChosen?.(asset) ?? true)) {
      const file = selected(keyOf(asset), asset, inRequestOrder(asset, alternates, options.alternates))
      const { sizeLimits = {} } = options
      if (file.size === undefined) yield { ...file, sizeLimits }
      else if (isWithin(file.size, sizeLimits)) yield file
    }
    asset = undefined
    alternates = []
  }
  for (const target of targetsOf(document, { parents, ...(url !== undefined && { url }) })) {
    if (target.kind === 'alternate') alternates.push(target)
    else {
      yield* flush()
      if (target.kind === 'asset') asset = target
    }
  }
  yield* flush()
}

function selected(key: string, asset: Target, targets: readonly Target[]): SelectedFile {
  const [first = asset, ...others] = targets
  const size = own(first.object, 'file:size') ?? own(asset.object, 'file:size')
  const checksum = ownString(first.object, 'file:checksum') ?? ownString(asset.object, 'file:checksum')
  const localPath = ownString(first.object, 'file:local_path') ?? ownString(asset.object, 'file:local_path')
  const type = mediaType(ownString(first.object, 'type') ?? ownString(asset.object, 'type'))
  return {
    key,
    targets: [first, ...others],
    ...(typeof size === 'number' && Number.isSafeInteger(size) && size >= 0 && { size }),
    ...(checksum !== undefined && { checksum }),
    ...(localPath !== undefined && { localPath }),
    ...(type !== '' && { type }),
  }
}

function isOfType(type: string, wish: string): boolean {
  return wish.endsWith('/*') ? type.startsWith(wish.slice(0, -1)) : type === wish
}

/** Returns the key of an asset, also for its alternates; the relation of a link. */
export function keyOf({ kind, pointer, object }: Target): string {
  if (kind === 'link') return ownString(object, 'rel') ?? ''
  return lastName(kind === 'alternate' ? pointer.split('/').slice(0, -2).join('/') : pointer)
}

/** Milliseconds of the longest time: a timer of more than 24 days would end at once. */
export const WEEK = 604_800_000

/** The least value of each number, and the largest one of a time. */
const NUMBERS = {
  concurrency: [1],
  perHost: [1],
  ranges: [1],
  maxObjects: [1],
  retries: [0],
  stallTimeout: [1, WEEK],
  wait: [0, WEEK],
  progressInterval: [0, WEEK],
} as const

const CHOICES = { existing: ['keep', 'refuse', 'replace'], collisions: ['refuse', 'rename'] } as const

const LISTS = ['keys', 'include', 'exclude', 'roles', 'types'] as const

const INPUTS_HINT = 'pass a list: [{ document: item, url }] or [assetOf(item, key)]'

/** Refuses what would end in an empty or an endless run. Errors: `CONFIG_INVALID`. */
export function checkOptions(inputs: unknown, options: DownloadOptions): void {
  const given = Object(inputs) as object
  if (!(Symbol.iterator in given || Symbol.asyncIterator in given))
    throw wrong('the first argument is not a list of documents', INPUTS_HINT)
  const { auth, folder, assets = {}, alternates = [], template, signal, clock, random, reread } = Object(options) as DownloadOptions
  if (typeof Object(auth).send !== 'function') throw wrong('auth is not an engine', 'auth: createAuth({ credentials })')
  if (typeof folder !== 'string' || folder === '') throw wrong('folder is missing', "folder: 'data'")
  if (template !== undefined) {
    if (typeof template !== 'string') throw wrong('template is not text')
    pathTemplate(template)
  }
  if (!isObject(assets)) throw wrong('assets is not an object', "assets: { keys: ['B04'] }")
  for (const name of Object.keys(NUMBERS) as (keyof typeof NUMBERS)[]) {
    const value = options[name]
    const [least, most] = NUMBERS[name]
    const range = most === undefined ? `of ${least} or more` : `from ${least} to ${most}`
    if (value !== undefined && !(typeof value === 'number' && value >= least && value <= (most ?? Number.POSITIVE_INFINITY)))
      throw wrong(`${name} is not a number ${range}: ${String(value)}`)
  }
  for (const name of ['rate', 'bytesPerSecond'] as const) {
    const value = options[name]
    if (value !== undefined && !(typeof value === 'number' && value > 0)) throw wrong(`${name} is not a number above 0: ${String(value)}`)
  }
  for (const name of Object.keys(CHOICES) as (keyof typeof CHOICES)[]) {
    const value: string | undefined = options[name]
    const choices: readonly string[] = CHOICES[name]
    if (value !== undefined && !choices.includes(value)) throw wrong(`${name} is not one of ${choices.join(', ')}: ${String(value)}`)
  }
  for (const name of LISTS) checkList(`assets.${name}`, assets[name])
  checkList('alternates', alternates)
  const known = { signal: SIGNAL, clock: withMethods('an object', 'now'), random: FUNCTION, reread: FUNCTION }
  checkNamed('download', { signal, clock, random, reread }, known)
}

function checkList(name: string, value: unknown = []): void {
  if (!Array.isArray(value) || !value.every((one) => typeof one === 'string')) throw wrong(`${name} is not a list of strings`)
}

/** Returns an input that is not a target. Errors: `CONFIG_INVALID`; `TARGET_NOT_FOUND` for the result of a search without success. */
function givenDocument(input: SourceDocument): SourceDocument {
  if (input === undefined) givenTarget(undefined)
  const { document } = Object(input) as SourceDocument
  if (typeof Object(document).then === 'function') throw wrong('a document is a promise', 'await it first')
  if (typeof document !== 'object' || document === null) throw wrong('an input is neither a document nor a target', INPUTS_HINT)
  return input
}

function wrong(message: string, hint?: string): ConfigurationError {
  return new ConfigurationError('CONFIG_INVALID', message, hint === undefined ? {} : { hint })
}

/** The target that a request would go to. */
export interface UsableTarget {
  readonly target: Target
  /** Ids of the credentials of which one would be sent; empty for none. */
  readonly credentials: readonly string[]
}

/** Returns the alternates of the given names and then the asset; without names, the asset and then all of its alternates. */
function inRequestOrder(asset: Target, alternates: readonly Target[], names: readonly string[] | undefined): readonly Target[] {
  if (!names) return [asset, ...alternates]
  return [...names.flatMap((name) => alternates.filter(({ pointer }) => lastName(pointer) === name)), asset]
}

/** Returns an asset of a single document with its alternates, in the order of {@link inRequestOrder}; any other target alone. */
export function alternativesOf(target: Target, names?: readonly string[]): readonly Target[] {
  if (target.kind !== 'asset') return [target]
  const { document, url, parents } = target.scope
  const options = { parents: parents.map((parent) => parent.document), ...(url !== undefined && { url }) }
  const alternates = Object.keys(own(target.object, 'alternate') ?? {}).flatMap(
    (name) => findAlternate(document, lastName(target.pointer), name, options) ?? [],
  )
  return inRequestOrder(target, alternates, names)
}

/** Returns the first target that needs no credential or has one: `download` requests it first. Sends nothing; undefined if there is none. */
export async function firstUsable(targets: readonly Target[], auth: Pick<Auth, 'explain'>): Promise<UsableTarget | undefined> {
  for (const target of targets) {
    const { refs, code, byAddress } = await auth.explain(target)
    const usable = refs.filter((ref) => ref.code === undefined)
    if (usable.length > 0) return { target, credentials: usable.flatMap(({ credential }) => credential ?? []) }
    if (code !== undefined || refs.length > 0 || byAddress?.code !== undefined) continue
    return { target, credentials: byAddress?.used && byAddress.credential !== undefined ? [byAddress.credential] : [] }
  }
  return undefined
}

/** Returns the last name of a JSON pointer. */
export function lastName(pointer: string): string {
  return pointer
    .slice(pointer.lastIndexOf('/') + 1)
    .replaceAll('~1', '/')
    .replaceAll('~0', '~')
}

/** Returns the origin of the first request for a target, and its origin and path; the latter is the href itself if that is not a URL. */
export function originAndPath({ href: stated, scope: { url } }: Target): { readonly origin: string; readonly bare: string } {
  const href = httpsForm(stated) ?? stated
  if (!canParseUrl(href, url)) return { origin: '', bare: bareOf(href) }
  const { origin, protocol, host, href: address } = new URL(href, url)
  return { origin: origin === 'null' ? `${protocol}//${host}` : origin, bare: bareOf(address) }
}

/** Returns a URL without query, fragment and user info, which may be secret. */
export function bareOf(address: string): string {
  return address.replace(/[?#].*$/s, '').replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/@]*@/i, '$1')
}
