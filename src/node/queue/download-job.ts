/**
 * Jobs of downloads: files with their targets and known facts, and the results. Anyone with access to the queue can write
 * both, so both are validated. They contain no credential.
 */

import { AuthError, type ErrorCode } from '../../errors.ts'
import { isObject, type JsonObject, own, type StacDocument } from '../../stac/document.ts'
import type { Target } from '../../stac/target.ts'
import type { DownloadFile, DownloadOptions, Verification } from '../download/download.ts'
import type { PlannedFile } from '../download/file-plan.ts'
import { isManifestLine, isSuffix, type ManifestEntry } from '../download/manifest.ts'
import type { SelectedFile } from '../download/selected-files.ts'
import { nameOfSegment } from '../download/store-folder.ts'

/** Limit of files in a job. */
export const FILES = 32

/** Name of the queue of a destination, with the version of the payload. */
export function queueNameOf(destination: string): string {
  return `download-v1-${destination}`
}

/** The options of a download that its workers need. */
export type JobSettings = Pick<
  DownloadOptions,
  | 'existing'
  | 'resume'
  | 'strict'
  | 'acceptHtml'
  | 'trustServer'
  | 'wait'
  | 'verify'
  | 'ranges'
  | 'retries'
  | 'stallTimeout'
  | 'perHost'
  | 'rate'
>

export interface DownloadJob {
  /** Identifies the download. */
  readonly run: string
  readonly settings: JobSettings
  /** True if files that exist already are listed in a manifest. */
  readonly lists: boolean
  /** Documents of the targets, without their assets; targets refer to them by index. */
  readonly documents: readonly StacDocument[]
  readonly files: readonly JobFile[]
}

/** One file. */
export interface JobFile {
  readonly name: string
  readonly url: string
  readonly key: string
  readonly document?: string
  readonly targets: readonly JobTarget[]
  readonly size?: number
  readonly checksum?: string
  readonly type?: string
  readonly sizeLimits?: SelectedFile['sizeLimits']
  /** True if an earlier file of the download has the same URL and name. */
  readonly repeats?: boolean
  /** For a name without an extension: the suffixes that it cannot have. */
  readonly refused?: readonly string[]
  /** The suffix of an earlier run. */
  readonly suffix?: string
  /** The planned name of another file that has this name now. */
  readonly owner?: string
  /** The entry of an earlier run. */
  readonly known?: ManifestEntry
}

interface JobTarget {
  readonly kind: Target['kind']
  readonly href: string
  readonly refs: readonly string[]
  readonly malformedRefs?: Target['malformedRefs']
  readonly pointer: string
  readonly object: JsonObject
  /** Absent if the object itself has the references. */
  readonly refsOf?: Target['refsOf']
  readonly document: number
  readonly url?: string
  readonly at: string
  readonly parents: readonly { readonly document: number; readonly url?: string }[]
}

/** The known facts about a file before its job is added. */
export type Known = Pick<JobFile, 'refused' | 'suffix' | 'owner' | 'known'>

/** Returns the job of these files. */
export function packedJob(
  job: Pick<DownloadJob, 'run' | 'settings' | 'lists'>,
  files: readonly { readonly planned: PlannedFile; readonly known: Known }[],
): DownloadJob {
  const documents = new Map<object, number>()
  const indexOf = (document: StacDocument) => {
    const index = documents.get(document) ?? documents.size
    documents.set(document, index)
    return index
  }
  const packed = files.map(({ planned, known }) => packedFile(planned, known, indexOf))
  return { ...job, files: packed, documents: [...documents.keys()].map((document) => withoutContent(document as StacDocument)) }
}

function packedFile({ file, selected, repeats }: PlannedFile, known: Known, indexOf: (document: StacDocument) => number): JobFile {
  const { key, size, checksum, type, sizeLimits, targets } = selected
  return {
    name: file.name,
    url: file.url,
    key,
    ...(file.document !== undefined && { document: file.document }),
    targets: targets.map((target) => packedTarget(target, indexOf)),
    ...(size !== undefined && { size }),
    ...(checksum !== undefined && { checksum }),
    ...(type !== undefined && { type }),
    ...(sizeLimits && { sizeLimits }),
    ...(repeats !== undefined && { repeats: true }),
    ...known,
  }
}

function packedTarget(target: Target, indexOf: (document: StacDocument) => number): JobTarget {
  const { kind, href, refs, malformedRefs, pointer, object, refsOf, scope } = target
  return {
    kind,
    href,
    refs,
    ...(malformedRefs && { malformedRefs }),
    pointer,
    object,
    ...(!(refsOf.object === object && refsOf.pointer === pointer) && { refsOf }),
    document: indexOf(scope.document),
    ...baseIn(scope.url),
    at: scope.at,
    parents: scope.parents.map(({ document, url }) => ({ document: indexOf(document), ...baseIn(url) })),
  }
}

/** Returns a base URL without its query, which may contain a secret. */
function baseIn(url: string | undefined): { readonly url?: string } {
  return url === undefined ? {} : { url: url.replace(/[?#].*$/s, '') }
}

/** Members that authorization does not need, and that make documents large. */
const CONTENT: Readonly<Record<string, unknown>> = {
  assets: {},
  item_assets: {},
  features: [],
  collections: [],
  geometry: null,
}

function withoutContent(document: StacDocument): StacDocument {
  const emptied = Object.entries(CONTENT).filter(([name]) => Object.hasOwn(document, name))
  return emptied.length === 0 ? document : { ...document, ...Object.fromEntries(emptied) }
}

/** Returns a job that is well-formed; undefined for any other value. Its texts are as trustworthy as those of a catalog. */
export function readJob(value: unknown): DownloadJob | undefined {
  const [run, settings, lists, documents, files] = ['run', 'settings', 'lists', 'documents', 'files'].map((name) => own(value, name))
  if (!isText(run, 100) || typeof lists !== 'boolean' || !isSettings(settings)) return undefined
  if (!Array.isArray(documents) || !documents.every(isObject)) return undefined
  if (!Array.isArray(files) || files.length > FILES || !files.every((file) => isFile(file, documents.length))) return undefined
  return value as unknown as DownloadJob
}

const SWITCHES = ['resume', 'strict', 'acceptHtml', 'trustServer', 'verify'] as const
const NUMBERS = ['ranges', 'stallTimeout', 'perHost', 'rate'] as const

function isSettings(value: unknown): value is JobSettings {
  if (!isObject(value)) return false
  const names: readonly string[] = ['existing', 'retries', 'wait', ...SWITCHES, ...NUMBERS]
  return (
    Object.keys(value).every((name) => names.includes(name)) &&
    [undefined, 'keep', 'refuse', 'replace'].some((known) => known === own(value, 'existing')) &&
    SWITCHES.every((name) => [undefined, true, false].some((known) => known === own(value, name))) &&
    ['retries', 'wait'].every((name) => isSizeOrAbsent(own(value, name))) &&
    NUMBERS.every((name) => own(value, name) === undefined || isPositive(own(value, name)))
  )
}

function isFile(value: unknown, documents: number): boolean {
  if (!isObject(value)) return false
  const { name, url, key, document, targets, size, checksum, type, sizeLimits, repeats, refused, suffix, owner, known } = value
  return (
    isFileName(name) &&
    isText(url, LONGEST) &&
    isText(key, LONGEST) &&
    [document, checksum, type, owner].every((text) => text === undefined || isText(text, LONGEST)) &&
    Array.isArray(targets) &&
    targets.length > 0 &&
    targets.every((target) => isTargetIn(target, documents)) &&
    isSizeOrAbsent(size) &&
    (sizeLimits === undefined || (isObject(sizeLimits) && Object.values(sizeLimits).every(isSizeOrAbsent))) &&
    (repeats === undefined || repeats === true) &&
    (refused === undefined || (Array.isArray(refused) && refused.every((text) => isText(text, 20)))) &&
    (suffix === undefined || isSuffix(suffix)) &&
    (known === undefined || isManifestLine(known))
  )
}

/** True for a path below the folder that a plan may have made: each segment is a safe name. */
function isFileName(name: unknown): name is string {
  if (!isText(name, LONGEST)) return false
  const segments = name.split('/')
  return segments.every((segment, index) => segment !== '' && nameOfSegment(segment, index, segments) === segment)
}

const KINDS: readonly unknown[] = ['asset', 'alternate', 'item_asset', 'link']

function isTargetIn(value: unknown, documents: number): boolean {
  if (!isObject(value)) return false
  const { kind, href, refs, malformedRefs, pointer, object, refsOf, url, at, parents } = value
  const isIndex = (index: unknown) => Number.isInteger(index) && Number(index) >= 0 && Number(index) < documents
  return (
    KINDS.includes(kind) &&
    [href, pointer, at].every((text) => isText(text, LONGEST_URL)) &&
    (url === undefined || isText(url, LONGEST_URL)) &&
    Array.isArray(refs) &&
    refs.every((ref) => typeof ref === 'string') &&
    (malformedRefs === undefined || (Array.isArray(malformedRefs) && malformedRefs.every(isMalformedRef))) &&
    isObject(object) &&
    (refsOf === undefined || (isObject(own(refsOf, 'object')) && isText(own(refsOf, 'pointer'), LONGEST_URL))) &&
    isIndex(value.document) &&
    Array.isArray(parents) &&
    parents.every(
      (parent) => isIndex(own(parent, 'document')) && (own(parent, 'url') === undefined || isText(own(parent, 'url'), LONGEST_URL)),
    )
  )
}

function isMalformedRef(value: unknown): boolean {
  return isText(own(value, 'pointer'), LONGEST_URL)
}

const LONGEST = 10_000

const LONGEST_URL = 100_000

function isText(value: unknown, longest: number): value is string {
  return typeof value === 'string' && value.length <= longest
}

function isPositive(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0
}

function isSizeOrAbsent(value: unknown): boolean {
  return value === undefined || isSize(value)
}

function isSize(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

/** Returns the targets of a file. */
export function targetsIn({ targets }: JobFile, documents: readonly StacDocument[]): SelectedFile['targets'] {
  const documentAt = (index: number) => documents[index] as StacDocument
  const made = targets.map(({ document, url, at, parents, refsOf, object, pointer, ...target }): Target => {
    const outer = parents.map((parent) => ({ url: undefined, ...parent, document: documentAt(parent.document) }))
    const scope = { document: documentAt(document), url, at, parents: outer }
    return { ...target, object, pointer, refsOf: refsOf ?? { object, pointer }, scope } as Target
  })
  return made as unknown as SelectedFile['targets']
}

/** The result of one file. */
export interface FileResult {
  /** `aborted` if the worker was stopped: another one continues. */
  readonly kind: 'written' | 'kept' | 'skipped' | 'failed' | 'aborted'
  /** The suffix that was added to the planned name. */
  readonly suffix?: string
  /** Size of the file in bytes. */
  readonly bytes: number
  readonly received: number
  readonly resumable: number
  readonly verified: readonly Verification[]
  readonly retries: number
  readonly warnings: readonly { readonly code: ErrorCode; readonly message: string }[]
  /** For the manifest. */
  readonly entry?: ManifestEntry
  readonly error?: AuthError
}

/** Limit of warnings in a result. */
export const WARNINGS = 20

const RESULTS: readonly unknown[] = ['written', 'kept', 'skipped', 'failed', 'aborted']

const VERIFICATIONS: readonly unknown[] = ['checksum', 'digest', 'size', 'length', 'manifest', 'server']

/** Validates the results of a job; undefined if they are malformed. */
export function readFileResults(value: unknown, files: readonly Pick<DownloadFile, 'name' | 'url'>[]): readonly FileResult[] | undefined {
  if (!Array.isArray(value) || value.length !== files.length) return undefined
  const results = value.map((one, index) => readFileResult(one, files[index] as DownloadFile))
  return results.every((result) => result !== undefined) ? results : undefined
}

function readFileResult(value: unknown, file: Pick<DownloadFile, 'name' | 'url'>): FileResult | undefined {
  if (!isObject(value)) return undefined
  const { kind, suffix, bytes, received, resumable, verified, retries, warnings, entry, error } = value
  const name = file.name + (typeof suffix === 'string' ? suffix : '')
  const isFine =
    RESULTS.includes(kind) &&
    (suffix === undefined || isSuffix(suffix)) &&
    [bytes, received, resumable, retries].every(isSize) &&
    Array.isArray(verified) &&
    verified.every((way) => VERIFICATIONS.includes(way)) &&
    Array.isArray(warnings) &&
    warnings.length <= WARNINGS &&
    warnings.every((warning) => isCode(own(warning, 'code')) && isText(own(warning, 'message'), LONGEST)) &&
    (entry === undefined || (isManifestLine(entry) && entry.path === name && entry.url === file.url))
  if (!isFine) return undefined
  const failure = kind === 'failed' ? readError(error) : undefined
  if (kind === 'failed' && !failure) return undefined
  return { ...(value as unknown as FileResult), ...(failure && { error: failure }) }
}

function isCode(value: unknown): value is ErrorCode {
  return typeof value === 'string' && /^[A-Z][A-Z0-9_]{1,63}$/.test(value)
}

const ERROR_TEXTS = ['hint', 'pointer', 'url', 'ref', 'credential', 'expected', 'actual'] as const

/** Reads the JSON of an error. */
function readError(value: unknown): AuthError | undefined {
  const [code, message, status] = ['code', 'message', 'status'].map((name) => own(value, name))
  if (!isCode(code) || !isText(message, LONGEST)) return undefined
  const texts = ERROR_TEXTS.map((name) => [name, own(value, name)] as const).filter(([, text]) => isText(text, LONGEST))
  const fields = { ...Object.fromEntries(texts), retryable: own(value, 'retryable') === true, ...(isSize(status) && { status }) }
  return new AuthError(code, message, fields)
}

/** The progress of a file, by its index in the job. */
export interface FileProgress {
  readonly file: number
  readonly bytes: number
  readonly size?: number
  /** For the beginning of a response: the bytes that were there already. */
  readonly resumed?: number
}

/** Returns the well-formed elements of a progress report. */
export function readProgress(value: unknown, files: number): readonly FileProgress[] {
  if (!Array.isArray(value)) return []
  return value.filter((one): one is FileProgress => {
    const [file, bytes, size, resumed] = ['file', 'bytes', 'size', 'resumed'].map((name) => own(one, name))
    return isSize(file) && file < files && isSize(bytes) && isSizeOrAbsent(size) && isSizeOrAbsent(resumed)
  })
}

/** A complete file whose result may be lost: its entry, and the download that wrote it. */
export interface DoneFile {
  readonly run: string
  readonly entry: ManifestEntry
}

/** Parses a value of {@link DoneFile}; undefined if it is not of this file. */
export function readDone(text: string | null | undefined, { name, url }: Pick<JobFile, 'name' | 'url'>): DoneFile | undefined {
  try {
    const value: unknown = JSON.parse(text ?? 'null')
    const [run, entry] = [own(value, 'run'), own(value, 'entry')]
    const { suffix = '' } = (isManifestLine(entry) && entry) || {}
    return isText(run, 100) && isManifestLine(entry) && entry.url === url && entry.path === name + suffix ? { run, entry } : undefined
  } catch {
    return undefined
  }
}
