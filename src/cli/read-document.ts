/** Reads the DOC argument: a path, a URL or `-`. */

import { createReadStream, existsSync } from 'node:fs'
import { addAbortSignal, type Readable } from 'node:stream'
import type { Auth } from '../auth/auth.ts'
import { AbortedError, type AuthError, IntegrityError, isAuthError, NetworkError } from '../errors.ts'
import type { HttpResponse } from '../http/message.ts'
import { bareAddress, isAddress } from '../http/url.ts'
import { readFailure } from '../node/base/index.ts'
import { DOCUMENT_LIMITS, ownString, type StacDocument } from '../stac/document.ts'
import { parseDocument, tooLarge } from '../stac/parse-document.ts'
import { linkOf, type Target } from '../stac/target.ts'
import { canParseUrl } from '../text/can-parse-url.ts'
import type { Io } from './io.ts'

/** A document and its base URL. */
export interface ReadDocument {
  readonly document: StacDocument
  /** The URL after redirects; for a file its `self` link, if it has one. */
  readonly url?: string
}

/** Returns true for a URL, `-`, a path, and the name of a file that exists; false for the id of a credential. */
export function isDocumentName(name: string): boolean {
  return isAddress(name) || name === '-' || /[/\\]|\.json$/i.test(name) || existsSync(name)
}

/**
 * Reads DOC; a URL is fetched with the credential that allows it.
 *
 * Errors: `FILE_ACCESS`, `DOC_NOT_UTF8`, `DOC_NOT_JSON`, `DOC_TOO_LARGE`, `DOC_TOO_DEEP`, `DOC_TOO_MANY`, `ABORTED`; for a
 * URL also those of `auth.fetch`, `AUTH_REJECTED` and `HTTP_<status>`.
 */
export async function readDocument(name: string, io: Io, auth: () => Promise<Auth>): Promise<ReadDocument> {
  if (isAddress(name)) {
    const { body, url } = await fetchBytes(name, io.signal, await auth())
    return { document: parsed(body, name, { url }), url }
  }
  const document = parsed(await readInput(name, io), name)
  const self = ownString(linkOf(document, 'self')?.object, 'href')
  return self !== undefined && isAddress(self) && canParseUrl(self) ? { document, url: self } : { document }
}

/** Reads several documents, one after the other. Errors: those of {@link readDocument}. */
export async function readDocuments(names: readonly string[], io: Io, auth: () => Promise<Auth>): Promise<readonly ReadDocument[]> {
  const documents: ReadDocument[] = []
  for (const name of names) documents.push(await readDocument(name, io, auth))
  return documents
}

/** Returns the text of DOC with its byte order mark, JSON or not. Errors: those of {@link readDocument} except `DOC_NOT_JSON`. */
export async function readText(name: string, io: Io, auth: () => Promise<Auth>): Promise<string> {
  const bytes = isAddress(name) ? (await fetchBytes(name, io.signal, await auth())).body : await readInput(name, io)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new IntegrityError('DOC_NOT_UTF8', `"${name}" is not UTF-8 text`)
  }
}

/** Parses JSON, without a byte order mark; returns undefined for other text. The message of the parser would quote the text. */
export function jsonIn(text: string | Uint8Array): unknown {
  try {
    return JSON.parse(typeof text === 'string' ? text.replace(/^\ufeff/, '') : new TextDecoder().decode(text))
  } catch {
    return undefined
  }
}

/** Parses a document; the errors of other files say what DOC is. */
function parsed(bytes: Uint8Array, name: string, where: { readonly url?: string } = {}): StacDocument {
  try {
    return parseDocument(bytes, where)
  } catch (error) {
    if (!isAuthError(error) || !/^DOC_NOT_/.test(error.code) || error.hint !== undefined) throw error
    const file = isAddress(name) ? '. A file is sent by stac-auth fetch URL' : ''
    const hint = `${name === '-' ? 'standard input' : `"${isAddress(name) ? bareAddress(name) : name}"`} must be a STAC document in JSON: an Item, Collection, Catalog or FeatureCollection${file}`
    throw new IntegrityError(error.code, error.message, { ...error, hint })
  }
}

/** Returns the body at a URL, up to the size limit of a document, and the final URL. Errors: see {@link readDocument}. */
async function fetchBytes(address: string, signal: AbortSignal, auth: Auth): Promise<{ body: Uint8Array; url: string }> {
  const { chunks, url } = await fetchBody(address, signal, auth)
  return { body: await readAtMost(chunks, DOCUMENT_LIMITS.other), url }
}

/** Returns the body at a URL as a stream, and the final URL. Errors: see {@link readDocument}. */
export async function fetchBody(
  address: string,
  signal: AbortSignal,
  auth: Auth,
): Promise<{ chunks: AsyncIterable<Uint8Array>; url: string }> {
  // Without a credential that cannot be used now, because the document may be public.
  const response = await auth.send({ method: 'GET', url: address, headers: { accept: ACCEPT } }, { signal, anonymous: 'allow' })
  await requireSuccess(response)
  return { chunks: bodyOf(response, response.url, signal), url: response.url }
}

const ACCEPT = 'application/geo+json, application/json;q=0.9, */*;q=0.1'

async function* bodyOf(response: HttpResponse, url: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    if (response.chunks) yield* response.chunks()
  } catch (error) {
    throw failedBody(error, url, signal)
  }
}

/** Reads a file, or stdin for `-`. Errors: `FILE_ACCESS`, `DOC_TOO_LARGE` (reading stops there), `ABORTED`. */
export async function readInput(name: string, { stdin, signal }: Pick<Io, 'stdin' | 'signal'>): Promise<Uint8Array> {
  const stream = name === '-' ? stdin : createReadStream(name, { highWaterMark: 256 * 1024 })
  try {
    return await readAtMost(addAbortSignal(signal, stream), DOCUMENT_LIMITS.other)
  } catch (error) {
    if (signal.aborted) throw new AbortedError(signal.reason)
    throw isAuthError(error) ? error : readFailure(error, name)
  } finally {
    stream.destroy()
  }
}

/** Reads all bytes of a stream. Errors: `DOC_TOO_LARGE` as soon as there are more than `limit`, else those of the stream. */
export async function readAtMost(stream: Readable | AsyncIterable<Uint8Array>, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of stream) {
    const bytes = typeof chunk === 'string' ? new TextEncoder().encode(chunk) : (chunk as Uint8Array)
    size += bytes.byteLength
    if (size > limit) throw tooLarge(limit)
    chunks.push(bytes)
  }
  return Buffer.concat(chunks)
}

/**
 * Accepts a 2xx response; the body of any other is read for its error. Errors: those of `answerFailure`.
 *
 * @param target the requested target, unless the user gave the URL
 */
export async function requireSuccess(response: HttpResponse, target?: Target): Promise<void> {
  if (response.status >= 200 && response.status < 300) return
  try {
    const { answerFailure } = await import('../node/transport/index.ts')
    throw await answerFailure(response, target)
  } finally {
    await response.discard()
  }
}

/** Returns the error of a failure while reading a body: an interruption, a truncated body, or the error of the transport. */
export function failedBody(error: unknown, url: string, signal: AbortSignal): AuthError {
  if (signal.aborted) return new AbortedError(signal.reason)
  if (isAuthError(error) && !/^(?:NETWORK_\w+|RESPONSE_TRUNCATED)$/.test(error.code)) return error
  return incomplete(url, 'the connection ended before the whole body was received')
}

/** Returns the error `FILE_INCOMPLETE`. */
export function incomplete(url: string, problem: string): NetworkError {
  return new NetworkError('FILE_INCOMPLETE', `${bareAddress(url)}: ${problem}`, { url, retryable: true })
}
