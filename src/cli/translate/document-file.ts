/** Translates documents from file to file. Until the translation is fetched, a private resume file holds its id and key. */
import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConfigurationError, IntegrityError, isAuthError } from '../../errors.ts'
import { newPath } from '../../node/write-file.ts'
import type { DocumentHandle } from '../../services/translation/document-handle.ts'
import type { TranslatedDocument } from '../../services/translation/documents.ts'
import type { TranslationClient } from '../../services/translation/index.ts'
import { ownString } from '../../stac/document.ts'
import { parseDocument } from '../../stac/parse-document.ts'
import { forLine } from '../../text/sanitize.ts'
import { paramsOf, type TranslateOptions } from '../commands/translate.ts'
import type { Context } from '../context.ts'
import { replacePrivateFile } from '../credentials/edit-credentials.ts'
import type { Io } from '../io.ts'
import { LiveBlock, shortened } from '../live-block.ts'
import { readInput } from '../read-document.ts'

/** Error codes after which the document cannot be fetched. */
const OVER = new Set(['DOCUMENT_FAILED', 'DOCUMENT_GONE'])

/** Translates a document into a new file, written atomically. Errors: those of `documents.translate`. */
export async function translateFile(
  client: TranslationClient,
  name: string,
  output: string,
  options: TranslateOptions,
  context: Context,
): Promise<TranslatedDocument> {
  const { signal } = context.io
  await newPath(output)
  const progress = new DocumentProgress(client, name, context.io)
  try {
    const { handle, kept } = await upload(client, name, output, options, context)
    const translation = client.documents.resume(handle, { path: output }, { signal })
    return await (kept === undefined ? translation : finish(kept, translation, context))
  } finally {
    progress.end()
  }
}

/**
 * Fetches a document that an earlier command uploaded.
 *
 * @param kept the resume file of that command
 *
 * Errors: `CONFIG_INVALID` for a malformed resume file or one of another service, those of `documents.resume`.
 */
export async function resumeFile(
  client: TranslationClient,
  kept: string,
  output: string | undefined,
  context: Context,
): Promise<TranslatedDocument & { readonly output: string }> {
  const record = parseDocument(await readInput(kept, context.io))
  const [service, place, document_id, document_key] = ['service', 'output', 'document_id', 'document_key'].map((name) =>
    ownString(record, name),
  )
  const path = output ?? place
  if (document_id === undefined || document_key === undefined || path === undefined)
    throw new ConfigurationError('CONFIG_INVALID', `"${kept}" is not a resume file of the translation service`)
  if (service !== client.origin)
    throw new ConfigurationError(
      'CONFIG_INVALID',
      `the document of "${kept}" is at ${service ?? 'another service'}, not at ${client.origin}`,
      {
        hint: 'give the same --base-url or --plan as for the upload',
      },
    )
  const progress = new DocumentProgress(client, path, context.io)
  try {
    const { signal } = context.io
    const done = client.documents.resume({ document_id, document_key }, { path }, { signal })
    return { ...(await finish(kept, done, context)), output: path }
  } finally {
    progress.end()
  }
}

/** Creates the resume file before the upload, so that nothing is billed if the folder is not writable; uses a temporary folder if it is lost later. */
async function upload(
  client: TranslationClient,
  name: string,
  output: string,
  options: TranslateOptions,
  { io, diagnostics }: Context,
): Promise<{ readonly handle: DocumentHandle; readonly kept?: string }> {
  const kept = handleFile(output)
  const handles: DocumentHandle[] = []
  const failure: unknown = await replacePrivateFile(kept, async () => {
    // Checked here, because the file is locked now.
    await checkHandleFile(output)
    const handle = await client.documents.upload({ path: name }, paramsOf(options), { signal: io.signal })
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
  return `${why} with: stac-auth translate --resume ${kept}`
}

/** Returns the path of the resume file: `guide.de.docx.handle.json` for `guide.de.docx`. */
function handleFile(output: string): string {
  return `${output}.handle.json`
}

/** Checks that there is no resume file yet. Errors: `PATH_EXISTS`, `PATH_UNSAFE`, `FILE_ACCESS`. */
export async function checkHandleFile(output: string): Promise<void> {
  const name = handleFile(output)
  await newPath(name).catch((error: unknown) => {
    if (!isAuthError(error) || error.code !== 'PATH_EXISTS') throw error
    throw new IntegrityError(
      'PATH_EXISTS',
      `"${name}" exists already: it is the resume file of a document that was uploaded and not fetched`,
      {
        hint: `fetch the document with: stac-auth translate --resume ${name} (or remove the file to discard it)`,
      },
    )
  })
}

class DocumentProgress {
  readonly #block: LiveBlock
  readonly #close: () => void

  constructor(client: TranslationClient, name: string, io: Io) {
    this.#block = new LiveBlock(io)
    const show = (text: string) => this.#block.show([shortened(text, this.#block.width, '...')])
    this.#close = this.#block.isOn ? client.on('progress', (event) => show(forLine(`${name}: ${said(event)}`))) : () => undefined
  }

  /** Removes the line. */
  end(): void {
    this.#block.clear()
    this.#close()
  }
}

function said({ operation, ...detail }: Readonly<Record<string, unknown>>): string {
  if (operation === 'documents.upload') return `${detail.bytes}${detail.total === undefined ? '' : ` of ${detail.total}`} bytes sent`
  if (operation === 'documents.status') return `${detail.status}${detail.seconds_remaining ? `, about ${detail.seconds_remaining} s` : ''}`
  return `${detail.bytes ?? 0} bytes received`
}
