/**
 * Jobs of downloads: files with their targets and known facts, and the results. Anyone with access to the queue can write
 * both, so both are validated. They contain no credential.
 */

import { AuthError, type ErrorCode } from '../../errors.ts'
import { isObject, type JsonObject, own, type StacDocument } from '../../stac/document.ts'
import type { Target } from '../../stac/target.ts'
import type { Destination } from '../download/destination/destination.ts'
import type { DownloadFile, DownloadOptions, Verification } from '../download/download.ts'
import type { PlannedFile } from '../download/file-plan.ts'
import { isManifestLine, isSuffix, type ManifestEntry } from '../download/manifest.ts'
import { type SelectedFile, WEEK } from '../download/selected-files.ts'
import { nameOfSegment } from '../download/store-folder.ts'
import {
  between,
  type Check,
  type Checks,
  FLAG,
  fits,
  listOf,
  OBJECT,
  oneOf,
  optional,
  shapeOf,
  textOf,
  WHOLE,
  wholeTo,
} from './job-shape.ts'

/** The beginning of the reason why a worker refuses a job. */
const NOT_A_JOB = 'not a job of stac-auth'

/** Limit of files in a job. */
export const FILES = 32

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

const TEXT = textOf(10_000)
const LONG_URL = textOf(100_000)

/** The least and the largest number of each setting. */
const BOUNDS = {
  wait: [0, WEEK],
  retries: [0, 10_000],
  ranges: [1, 64],
  stallTimeout: [1, WEEK],
  perHost: [1, 256],
  rate: [1 / 86_400, 1_000_000],
} as const

const bounded = (name: keyof typeof BOUNDS) => optional(between(BOUNDS[name][0], BOUNDS[name][1]))

const SETTINGS: Checks<JobSettings> = {
  existing: oneOf(undefined, 'keep', 'refuse', 'replace'),
  resume: FLAG,
  strict: FLAG,
  acceptHtml: FLAG,
  trustServer: FLAG,
  verify: FLAG,
  wait: bounded('wait'),
  retries: bounded('retries'),
  ranges: bounded('ranges'),
  stallTimeout: bounded('stallTimeout'),
  perHost: bounded('perHost'),
  rate: bounded('rate'),
}

/** Returns the options that workers need, within their bounds. */
export function settingsIn(options: Partial<DownloadOptions>): JobSettings {
  const chosen = Object.entries(options).filter(([name, value]) => Object.hasOwn(SETTINGS, name) && value !== undefined)
  return Object.fromEntries(
    chosen.map(([name, value]) => {
      const [least, most] = Object.hasOwn(BOUNDS, name) ? BOUNDS[name as keyof typeof BOUNDS] : []
      return [name, least === undefined ? value : Math.min(Math.max(Number(value), least), most as number)]
    }),
  )
}

/**
 * Returns a job that is well-formed. Its texts are as trustworthy as those of a catalog. Throws a `TypeError` that names the first wrong
 * member for any other value.
 */
export function readJob(value: unknown): DownloadJob {
  const documents = own(value, 'documents')
  const inJob = shapeOf<DownloadJob>({
    run: textOf(100),
    settings: (settings) =>
      shapeOf(SETTINGS)(settings) ?? (Object.keys(Object(settings)).every((name) => Object.hasOwn(SETTINGS, name)) ? undefined : ''),
    lists: oneOf(true, false),
    documents: listOf(OBJECT),
    files: listOf(fileCheck(Array.isArray(documents) ? documents.length : 0), FILES),
  })
  const fault = inJob(value)
  if (fault === undefined) return value as unknown as DownloadJob
  throw new TypeError(`${NOT_A_JOB} download${fault && `: ${fault.slice(1)} is missing or out of bounds`}`)
}

/** A time in milliseconds of a file, in the range of `Date`. */
const MODIFIED = optional(between(-8.64e15, 8.64e15))

/** @param documents number of documents to which targets may refer */
function fileCheck(documents: number): Check {
  const isIndex = wholeTo(documents - 1)
  const isPlace = shapeOf<NonNullable<JobTarget['refsOf']>>({ object: OBJECT, pointer: LONG_URL })
  const isTarget = shapeOf<JobTarget>({
    kind: oneOf('asset', 'alternate', 'item_asset', 'link'),
    href: LONG_URL,
    refs: listOf(LONG_URL),
    malformedRefs: optional(listOf((ref) => (isObject(ref) ? LONG_URL(own(ref, 'pointer')) : ''))),
    pointer: LONG_URL,
    object: OBJECT,
    refsOf: optional(isPlace),
    document: isIndex,
    url: optional(LONG_URL),
    at: LONG_URL,
    parents: listOf(shapeOf<JobTarget['parents'][number]>({ document: isIndex, url: optional(LONG_URL) })),
  })
  return shapeOf<JobFile>({
    name: fits(isFileName),
    url: TEXT,
    key: TEXT,
    document: optional(TEXT),
    targets: (targets) => listOf(isTarget)(targets) ?? (Object(targets).length > 0 ? undefined : ''),
    size: optional(WHOLE),
    checksum: optional(TEXT),
    type: optional(TEXT),
    sizeLimits: optional(shapeOf<NonNullable<SelectedFile['sizeLimits']>>({ minSize: optional(WHOLE), maxSize: optional(WHOLE) })),
    repeats: oneOf(undefined, true),
    refused: optional(listOf(textOf(20))),
    suffix: optional(fits(isSuffix)),
    owner: optional(TEXT),
    known: optional(fits((entry) => isManifestLine(entry) && MODIFIED(entry.modified) === undefined)),
  })
}

/** True for a path below the folder that a plan may have made: each segment is a safe name. */
function isFileName(name: unknown): boolean {
  const segments = TEXT(name) === undefined ? String(name).split('/') : ['']
  return segments.every((segment, index) => segment !== '' && nameOfSegment(segment, index, segments) === segment)
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

/** Returns a file of a job as the plan of its download had it. */
export function plannedIn(job: DownloadJob, index: number, folder: Pick<Destination, 'pathOf'>, number = index + 1): PlannedFile {
  const file = job.files[index] as JobFile
  const { name, url, key, document, size, checksum, type, sizeLimits, repeats, refused } = file
  const targets = targetsIn(file, job.documents)
  return {
    file: {
      number,
      name,
      path: folder.pathOf(name.split('/')),
      url,
      pointer: targets[0].pointer,
      ...(document !== undefined && { document }),
      ...(key !== '' && { key }),
      ...(size !== undefined && { size }),
    },
    selected: {
      key,
      targets,
      ...(size !== undefined && { size }),
      ...(checksum !== undefined && { checksum }),
      ...(type !== undefined && { type }),
      ...(sizeLimits && { sizeLimits }),
    },
    ...(repeats && { repeats: 0 }),
    ...(refused && { lacksSuffix: true as const }),
  }
}

/** The result of one file. */
export interface FileResult {
  /** `aborted` if the worker was stopped: another one continues. */
  readonly kind: 'written' | 'kept' | 'skipped' | 'failed' | 'aborted'
  /** The suffix that was added to the planned name. */
  readonly suffix?: string
  /** Size of the file in bytes. */
  readonly bytes: number
  /** Bytes that this attempt has received. */
  readonly received: number
  /** Identifies the attempt: another worker runs a job again whose worker has died. */
  readonly attempt: string
  /** True if a worker has run the job before. */
  readonly isRepeated?: boolean
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

const isCode = (value: unknown) => typeof value === 'string' && /^[A-Z][A-Z0-9_]{1,63}$/.test(value)
const isText = (value: unknown) => TEXT(value) === undefined

const inResult = shapeOf<FileResult>({
  kind: oneOf('written', 'kept', 'skipped', 'failed', 'aborted'),
  suffix: optional(fits(isSuffix)),
  bytes: WHOLE,
  received: WHOLE,
  resumable: WHOLE,
  attempt: textOf(100),
  verified: listOf(oneOf('checksum', 'digest', 'size', 'length', 'manifest', 'server')),
  retries: WHOLE,
  isRepeated: FLAG,
  warnings: listOf(shapeOf<FileResult['warnings'][number]>({ code: fits(isCode), message: TEXT }), WARNINGS),
  entry: optional(fits(isManifestLine)),
  // Read below.
  error: () => undefined,
})

/** Validates the results of a job; undefined if they are malformed. */
export function readFileResults(value: unknown, files: readonly Pick<DownloadFile, 'name' | 'url'>[]): readonly FileResult[] | undefined {
  if (!Array.isArray(value) || value.length !== files.length) return undefined
  const results = value.map((one, index) => readFileResult(one, files[index] as DownloadFile))
  return results.every((result) => result !== undefined) ? results : undefined
}

function readFileResult(value: unknown, { name, url }: Pick<DownloadFile, 'name' | 'url'>): FileResult | undefined {
  if (inResult(value) !== undefined) return undefined
  const result = value as FileResult
  const { kind, entry, suffix = '' } = result
  if (entry && (entry.path !== name + suffix || entry.url !== url)) return undefined
  if (kind !== 'failed') return result
  const error = readError(own(value, 'error'))
  return error && { ...result, error }
}

const ERROR_TEXTS = ['hint', 'pointer', 'url', 'ref', 'credential', 'expected', 'actual'] as const

/** Reads the JSON of an error. */
function readError(value: unknown): AuthError | undefined {
  const [code, message, status] = ['code', 'message', 'status'].map((name) => own(value, name))
  if (!isCode(code) || !isText(message)) return undefined
  const texts = ERROR_TEXTS.map((name) => [name, own(value, name)] as const).filter(([, text]) => isText(text))
  const fields = {
    ...Object.fromEntries(texts),
    retryable: own(value, 'retryable') === true,
    ...(WHOLE(status) === undefined && { status: Number(status) }),
  }
  return new AuthError(code as ErrorCode, String(message), fields)
}

/** The progress of a file, by its index in the job. */
export interface FileProgress {
  readonly file: number
  readonly attempt: string
  /** Bytes that this attempt has received so far. */
  readonly received: number
  readonly bytes: number
  readonly size?: number
  /** For the beginning of a response: the bytes that were there already. */
  readonly resumed?: number
}

/** Returns the well-formed elements of a progress report. */
export function readProgress(value: unknown, files: number): readonly FileProgress[] {
  const inProgress = shapeOf<FileProgress>({
    file: wholeTo(files - 1),
    attempt: textOf(100),
    received: WHOLE,
    bytes: WHOLE,
    size: optional(WHOLE),
    resumed: optional(WHOLE),
  })
  return Array.isArray(value) ? value.filter((one): one is FileProgress => inProgress(one) === undefined) : []
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
    return typeof run === 'string' && isManifestLine(entry) && entry.url === url && entry.path === name + suffix
      ? { run, entry }
      : undefined
  } catch {
    return undefined
  }
}
