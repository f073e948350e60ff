/**
 * Reads the location of an object from the storage extension (v1 fields, v2 `storage:schemes` and `storage:refs`), as
 * data. Nothing here is trusted: an endpoint is used only where the user's allowed URLs include it.
 */
import { isObject, own, ownObject, ownString } from './document.ts'
import type { Target } from './target.ts'

/** One storage that may contain the target. */
export interface Storage {
  /** Key in `storage:schemes`; absent for v1. */
  readonly key?: string
  /** `aws-s3`, `custom-s3`, `ms-azure`, …; for v1 the platform's name. */
  readonly type?: string
  /** URI template of the endpoint with `{bucket}` and `{region}`, or a concrete URL (v2 only). */
  readonly platform?: string
  /** The region, as the document names it. */
  readonly region?: string
  /** The bucket, as the document names it. */
  readonly bucket?: string
  /** The provider bills the reader. Only the user may agree to that. */
  readonly requesterPays: boolean
}

/** The resolved location of an object: everything that an object store client needs besides keys. */
export interface ObjectLocation {
  /** Name of the bucket. */
  readonly bucket: string
  /** Decoded, without leading slash. */
  readonly key: string
  /** Scheme, host and port of the service, without the bucket. */
  readonly endpoint: string
  /** The region that requests are signed for. */
  readonly region: string
  /** True when the bucket is part of the host name. */
  readonly virtualHost: boolean
  /** True when requests say that the reader pays (`x-amz-request-payer`). */
  readonly requesterPays: boolean
}

/** Maximum number of storages that are read. */
const MAX_STORAGES = 100

/**
 * Returns the storages of a target in the order of its `storage:refs`, where a single string counts as a list of one; one storage for v1,
 * none without storage fields.
 */
export function storagesOf(target: Target): readonly Storage[] {
  const refs = own(target.object, 'storage:refs')
  if (typeof refs === 'string') return [schemeNamed(target, refs) ?? []].flat()
  if (Array.isArray(refs)) {
    const names = new Set(refs.filter((ref) => typeof ref === 'string'))
    return [...names].slice(0, MAX_STORAGES).flatMap((name) => schemeNamed(target, name) ?? [])
  }
  const { document } = target.scope
  const first = (name: string) => own(target.object, name) ?? own(own(document, 'properties'), name) ?? own(document, name)
  const platform = first('storage:platform')
  const region = first('storage:region')
  const requesterPays = first('storage:requester_pays')
  if (platform === undefined && region === undefined && requesterPays === undefined) return []
  return [
    {
      ...(typeof platform === 'string' && { type: platform }),
      ...(typeof region === 'string' && { region }),
      requesterPays: requesterPays === true,
    },
  ]
}

function schemeNamed({ scope }: Target, key: string): Storage | undefined {
  for (const document of [scope.document, ...scope.parents.map((parent) => parent.document)]) {
    const schemes = ownObject(own(document, 'properties'), 'storage:schemes') ?? ownObject(document, 'storage:schemes')
    const scheme = own(schemes, key)
    if (!isObject(scheme)) continue
    const text = (name: string) => ownString(scheme, name)
    return {
      key,
      ...(text('type') !== undefined && { type: text('type') }),
      ...(text('platform') !== undefined && { platform: text('platform') }),
      ...(text('region') !== undefined && { region: text('region') }),
      ...(text('bucket') !== undefined && { bucket: text('bucket') }),
      requesterPays: own(scheme, 'requester_pays') === true,
    }
  }
  return undefined
}
