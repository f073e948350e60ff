/** Documents without their pictures, sound and video for the translation, so that large ones stay below the limit of the service. */

import { ProtocolError, UnsupportedError } from '../../errors.ts'
import type { Zip } from '../../platform/platform.ts'
import { ValidationError } from '../client/errors.ts'
import { type DocumentParams, type DocumentSource, readSource } from './document-upload.ts'

/** A document that is uploaded in the place of a larger one. */
export interface MinifiedDocument {
  /** The document with placeholders for its media. */
  readonly bytes: Uint8Array
  /** The name of the source, if it has one. */
  readonly filename?: string
  /** Returns the translated document with its media; absent if there are none. Errors: `RESPONSE_INVALID`. */
  readonly restore?: (translated: Uint8Array) => Uint8Array
}

/** Formats that are archives with media; others are uploaded as they are. */
const FORMATS = /\.(?:docx|pptx)$/i

/** Extensions of pictures, sound and video in such documents. */
const MEDIA = new RegExp(
  `\\.(?:${['bmp|emf|gif|jpe?g|png|svg|tiff|wdp', 'aiff|au|m4a|midi?|mp3|wav|wma', 'asf|avi|m4v|mov|mp4|mpe?g|wmv'].join('|')})$`,
  'i',
)

/** Limits of an archive: entries, and bytes of all of them. */
const [ENTRIES, BYTES] = [10_000, 2 ** 30]

/** Names of parts (ECMA-376 Part 2 §6.2.2): segments of visible ASCII characters. */
const NAME = /^(?!$)(?!.*(?:^|\/)\.{1,2}(?:\/|$))(?:[\w.~!$&'()*+,;=@%[\] -]+\/)*[\w.~!$&'()*+,;=@%[\] -]*$/

const PLACEHOLDER = new TextEncoder().encode('media')

interface Entry {
  readonly bytes: Uint8Array
  /** Compressed pictures are stored as they are. */
  readonly isStored: boolean
}

/**
 * Reads a source and returns the document to upload: without its media if its format has any. Errors: `SCHEME_UNSUPPORTED` without the package;
 * `REQUEST_INVALID` for another format of the translation, and those of {@link minified}.
 */
export async function withoutMedia(
  source: DocumentSource,
  { filename, output_format: format }: DocumentParams,
  minify: true | Zip,
): Promise<MinifiedDocument> {
  const zip = await zipOf(minify)
  const { name = '', bytes } = await readSource(source)
  const called = filename ?? name
  const own = called === '' ? {} : { filename: called }
  if (!FORMATS.test(called)) return { bytes, ...own }
  if (format === undefined || called.toLowerCase().endsWith(`.${format.toLowerCase()}`)) return { ...minified(bytes, zip), ...own }
  const message = `media cannot be put back into another format (${format}); nothing was sent`
  throw new ValidationError('REQUEST_INVALID', message, { field: 'output_format' })
}

/** Reads a source that was uploaded without its media before. Errors: as above. */
export async function minifiedSource(source: DocumentSource, minify: true | Zip): Promise<MinifiedDocument> {
  const { name, bytes } = await readSource(source)
  return name === undefined || FORMATS.test(name) ? minified(bytes, await zipOf(minify)) : { bytes }
}

/**
 * Returns a document without its media. Errors: `REQUEST_INVALID` for bytes that are not such a document, `REQUEST_TOO_LARGE` for more than
 * 1 GiB or 10 000 parts.
 */
export function minified(document: Uint8Array, zip: Zip): MinifiedDocument {
  const entries = entriesOf(document, zip, (why, limit) => {
    const code = limit === undefined ? 'REQUEST_INVALID' : 'REQUEST_TOO_LARGE'
    return new ValidationError(code, `the document ${why}; nothing was sent`, { field: 'source', ...(limit !== undefined && { limit }) })
  })
  const media = new Map([...entries].filter(([name]) => MEDIA.test(name)))
  if (media.size === 0) return { bytes: document }
  const small = new Map(entries)
  for (const name of media.keys()) small.set(name, { bytes: PLACEHOLDER, isStored: true })
  const invalid = (why: string) => new ProtocolError('RESPONSE_INVALID', `the translated document ${why}, so its media cannot be put back`)
  return {
    bytes: archived(small, zip),
    restore: (translated) => archived(new Map([...entriesOf(translated, zip, invalid), ...media]), zip),
  }
}

/** Returns the package for archives. Errors: `SCHEME_UNSUPPORTED`. */
async function zipOf(minify: true | Zip): Promise<Zip> {
  if (minify !== true) return minify
  const { optionalPackages } = (await import('#platform')).platform
  try {
    if (optionalPackages) return await optionalPackages.zip()
  } catch {
    // Not installed.
  }
  const hint = optionalPackages ? 'npm install fflate' : "pass minify: await import('fflate')"
  throw new UnsupportedError('SCHEME_UNSUPPORTED', 'to take media out of documents needs the optional package fflate', { hint })
}

/** Returns the parts of an archive in their order. Sizes are checked before anything is expanded. */
function entriesOf(archive: Uint8Array, zip: Zip, refused: (why: string, limit?: number) => Error): ReadonlyMap<string, Entry> {
  const stored = new Map<string, boolean>()
  const names = new Set<string>()
  let bytes = 0
  let refusal: Error | undefined
  const check = ({ name, originalSize, size, compression }: Parameters<NonNullable<Parameters<Zip['unzipSync']>[1]>['filter']>[0]) => {
    bytes += Math.max(size, originalSize)
    const isTwice = names.has(name.toLowerCase())
    names.add(name.toLowerCase())
    stored.set(name, compression === 0)
    if (bytes > BYTES) refusal = refused(`expands to more than ${BYTES} bytes`, BYTES)
    else if (names.size > ENTRIES) refusal = refused(`has more than ${ENTRIES} parts`, ENTRIES)
    else if (isTwice || !NAME.test(name)) refusal = refused('has a part whose name is not allowed in documents')
    if (refusal) throw refusal
    return !name.endsWith('/')
  }
  try {
    const files = zip.unzipSync(archive, { filter: check })
    return new Map(Object.entries(files).map(([name, content]) => [name, { bytes: content, isStored: stored.get(name) ?? false }]))
  } catch {
    throw refusal ?? refused('is not a readable archive')
  }
}

function archived(entries: ReadonlyMap<string, Entry>, zip: Zip): Uint8Array {
  const files: Parameters<Zip['zipSync']>[0] = {}
  for (const [name, { bytes, isStored }] of entries) files[name] = [bytes, { level: isStored ? 0 : 6 }]
  return zip.zipSync(files)
}
