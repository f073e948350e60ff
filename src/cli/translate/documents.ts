/** Documents that the service translates as a whole. Until one is fetched, a private resume file holds its id and key. */

import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConfigurationError, IntegrityError, isAuthError } from '../../errors.ts'
import { newPath } from '../../node/base/index.ts'
import type { DocumentHandle } from '../../services/translation/document-upload.ts'
import type { TranslatedDocument } from '../../services/translation/documents.ts'
import type { TranslateParams, TranslationClient } from '../../services/translation/index.ts'
import { ownString } from '../../stac/document.ts'
import { forLine } from '../../text/sanitize.ts'
import { commandWord } from '../../text/shell-word.ts'
import type { Context } from '../context.ts'
import { replacePrivateFile } from '../credentials/edit-credentials.ts'
import type { Io } from '../io.ts'
import { shortened } from '../live-block.ts'
import { LiveLine } from '../live-line.ts'
import { checkService } from './resume-record.ts'

/** Error codes after which the document cannot be fetched. */
const OVER = new Set(['DOCUMENT_FAILED', 'DOCUMENT_GONE'])

/** Translates a document into a new file, written atomically. Errors: those of `documents.translate`. */
export async function translateFile(
  client: TranslationClient,
  name: string,
  output: string,
  params: TranslateParams,
  context: Context,
): Promise<TranslatedDocument> {
  const { signal } = context.io
  await newPath(output)
  return withProgress(client, name, context.io, async () => {
    const { handle, kept } = await upload(client, name, output, params, context)
    const translation = client.documents.resume(handle, { path: output }, { signal })
    return await (kept === undefined ? translation : finish(kept, translation, context))
  })
}

/**
 * Fetches a document that an earlier command uploaded.
 *
 * @param kept the resume file of that command
 * @param record its content
 *
 * Errors: `CONFIG_INVALID` for a malformed resume file or one of another service, those of `documents.resume`.
 */
export async function resumeFile(
  client: TranslationClient,
  kept: string,
  record: unknown,
  output: string | undefined,
  context: Context,
): Promise<TranslatedDocument & { readonly output: string }> {
  const [service, place, document_id, document_key] = ['service', 'output', 'document_id', 'document_key'].map((name) =>
    ownString(record, name),
  )
  const path = output ?? place
  if (document_id === undefined || document_key === undefined || path === undefined)
    throw new ConfigurationError('CONFIG_INVALID', `"${kept}" is not a resume file of the translation service`)
  checkService(kept, service, client)
  return withProgress(client, path, context.io, async () => {
    const done = client.documents.resume({ document_id, document_key }, { path }, { signal: context.io.signal })
    return { ...(await finish(kept, done, context)), output: path }
  })
}

/** Creates the resume file before the upload, so that nothing is billed if the folder is not writable; uses a temporary folder if it is lost later. */
async function upload(
  client: TranslationClient,
  name: string,
  output: string,
  params: TranslateParams,
  { io, diagnostics }: Context,
): Promise<{ readonly handle: DocumentHandle; readonly kept?: string }> {
  const kept = handleFileOf(output)
  const handles: DocumentHandle[] = []
  const failure: unknown = await replacePrivateFile(kept, async () => {
    // Checked here, because the file is locked now.
    await checkHandleFile(output)
    const handle = await client.documents.upload({ path: name }, params, { signal: io.signal })
    handles.push(handle)
    return recordOf(client, output, handle)
  }).catch((error: unknown) => error)
  const [handle] = handles
  if (!handle) throw failure
  if (failure === undefined) return { handle, kept }
  const why = failure instanceof Error ? failure.message : kept
  const spare = join(tmpdir(), `stac-auth-${randomUUID()}.handle.json`)
  try {
    await replacePrivateFile(spare, async () => recordOf(client, output, handle))
  } catch {
    diagnostics.warn({ code: 'HANDLE_LOST', message: `${why}: the document is uploaded, but cannot be fetched after an interruption` })
    return { handle }
  }
  diagnostics.warn({ code: 'HANDLE_ELSEWHERE', message: `${why}: the resume file is ${spare} until the translation is complete` })
  return { handle, kept: spare }
}

/** Returns the content of the resume file. */
function recordOf(client: TranslationClient, output: string, handle: DocumentHandle): string {
  return `${JSON.stringify({ service: client.origin, output, ...handle.export() }, undefined, 2)}\n`
}

async function finish(kept: string, translation: Promise<TranslatedDocument>, { diagnostics }: Context): Promise<TranslatedDocument> {
  try {
    const document = await translation
    await rm(kept, { force: true })
    return document
  } catch (error) {
    const code = isAuthError(error) ? error.code : ''
    if (OVER.has(code)) await rm(kept, { force: true })
    else await diagnostics.note(nextStep(code, kept))
    throw error
  }
}

function nextStep(code: string, kept: string): string {
  // The service does not distinguish these cases.
  if (code === 'HTTP_404')
    return `the document was already fetched, has expired, or belongs to another account: remove ${kept} and translate it again`
  const why =
    code === 'RESPONSE_TRUNCATED'
      ? 'the service may still have it; try to fetch it again'
      : 'the service continues the translation; fetch it'
  return `${why} with: stac-auth translate --resume ${commandWord(kept)}`
}

/** Returns the name of the resume file beside an output. */
export function handleFileOf(output: string): string {
  return `${output}.handle.json`
}

/** Checks that there is no resume file yet. Errors: `PATH_EXISTS`, `PATH_UNSAFE`, `FILE_ACCESS`. */
export async function checkHandleFile(output: string): Promise<void> {
  const name = handleFileOf(output)
  await newPath(name).catch((error: unknown) => {
    if (!isAuthError(error) || error.code !== 'PATH_EXISTS') throw error
    const hint = `fetch the document with: stac-auth translate --resume ${commandWord(name)} (or remove the file to discard it)`
    const problem = 'it is the resume file of a document that was uploaded and not fetched'
    throw new IntegrityError('PATH_EXISTS', `"${name}" exists already: ${problem}`, { hint })
  })
}

/** Runs with a line on a terminal that says how far a document is. */
async function withProgress<T>(client: TranslationClient, name: string, io: Io, work: () => Promise<T>): Promise<T> {
  const line = new LiveLine(io)
  const close = client.on('progress', (event) => line.show((width) => shortened(forLine(`${name}: ${said(event)}`), width, '...')))
  return work().finally(() => {
    close()
    line.end()
  })
}

function said({ operation, ...detail }: Readonly<Record<string, unknown>>): string {
  if (operation === 'documents.upload') return `${detail.bytes}${detail.total === undefined ? '' : ` of ${detail.total}`} bytes sent`
  if (operation === 'documents.status') return `${detail.status}${detail.seconds_remaining ? `, about ${detail.seconds_remaining} s` : ''}`
  return `${detail.bytes ?? 0} bytes received`
}
