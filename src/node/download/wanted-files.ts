/** Which files an input stands for. */
import { isTarget } from '../../auth/given-target.ts'
import { mediaType } from '../../http/media-type.ts'
import { own, ownString } from '../../stac/json.ts'
import { type Target, targetsOf } from '../../stac/target.ts'
import type { AssetChoice, DownloadInput } from './options.ts'

/** A file, the targets that give it in the order in which they are tried, and what is promised about it. */
export interface WantedFile {
  readonly key: string
  /** At least one. */
  readonly targets: readonly [Target, ...Target[]]
  /** `file:size`. */
  readonly size?: number
  /** `file:checksum`: a multihash in hex. */
  readonly checksum?: string
  /** Media type without parameters, in lower case. */
  readonly type?: string
}

export interface WantedOptions {
  readonly assets?: AssetChoice
  readonly alternates?: readonly string[]
}

/** The files of an input in the order of its documents and assets. An asset or link given by itself is taken without any choice. */
export function* wantedFiles(input: DownloadInput, options: WantedOptions): Generator<WantedFile> {
  if (isTarget(input)) {
    yield wanted(keyOf(input), input, [])
    return
  }
  const { document, url, parents = [] } = input
  let asset: Target | undefined
  let alternates: Target[] = []
  const flush = function* (): Generator<WantedFile> {
    if (asset && isChosen(asset, options.assets)) yield wanted(keyOf(asset), asset, ordered(asset, alternates, options.alternates))
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

function wanted(key: string, asset: Target, targets: readonly Target[]): WantedFile {
  const [first = asset, ...others] = targets
  const size = own(first.object, 'file:size') ?? own(asset.object, 'file:size')
  const checksum = ownString(first.object, 'file:checksum') ?? ownString(asset.object, 'file:checksum')
  const type = mediaType(ownString(first.object, 'type') ?? ownString(asset.object, 'type'))
  return {
    key,
    targets: [first, ...others],
    ...(typeof size === 'number' && Number.isSafeInteger(size) && size >= 0 && { size }),
    ...(checksum !== undefined && { checksum }),
    ...(type !== '' && { type }),
  }
}

function isChosen({ object, pointer }: Target, { keys, roles, types }: AssetChoice = {}): boolean {
  const stated = own(object, 'roles')
  const type = mediaType(ownString(object, 'type'))
  if (keys && !keys.includes(lastName(pointer))) return false
  if (roles && !(Array.isArray(stated) && stated.some((role) => roles.includes(role)))) return false
  return !types || types.some((wish) => isOfType(type, mediaType(wish)))
}

function isOfType(type: string, wish: string): boolean {
  return wish.endsWith('/*') ? type.startsWith(wish.slice(0, -1)) : type === wish
}

/** Those that were asked for by name and then the asset; without names the asset and then all that it has. */
function ordered(asset: Target, alternates: readonly Target[], names: readonly string[] | undefined): readonly Target[] {
  if (!names) return [asset, ...alternates]
  return [...names.flatMap((name) => alternates.filter(({ pointer }) => lastName(pointer) === name)), asset]
}

/** The key of an asset, also for its alternates; the relation of a link. */
function keyOf({ kind, pointer, object }: Target): string {
  if (kind === 'link') return ownString(object, 'rel') ?? ''
  return lastName(kind === 'alternate' ? pointer.split('/').slice(0, -2).join('/') : pointer)
}

function lastName(pointer: string): string {
  return pointer
    .slice(pointer.lastIndexOf('/') + 1)
    .replaceAll('~1', '/')
    .replaceAll('~0', '~')
}
