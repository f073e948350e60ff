/** Documents through the service, from file to file. Until the translation is here, a private file remembers what names it. */
import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConfigurationError, IntegrityError, isAuthError } from '../../errors.ts'
import { newPath } from '../../node/write-file.ts'
import type { DocumentHandle } from '../../services/translation/document-handle.ts'
import type { TranslatedDocument } from '../../services/translation/documents.ts'
import type { TranslationClient } from '../../services/translation/index.ts'
import { ownString } from '../../stac/json.ts'
import { parseDocument } from '../../stac/parse-document.ts'
import { forLine } from '../../text/sanitize.ts'
import type { Context } from '../context.ts'
import { replacePrivateFile } from '../credentials/edit-credentials.ts'
import type { Io } from '../io.ts'
import { LiveBlock, shortened } from '../live-block.ts'
import { readInput } from '../read-document.ts'
import { paramsOf, type TranslateOptions } from './options.ts'

/** After these the service has nothing more to give. */
const OVER = new Set(['DOCUMENT_FAILED', 'DOCUMENT_GONE'])

/** Translates a document into a new file. Errors: those of `documents.translate`; the file is complete or not there. */
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
 * Goes on with a document that an earlier command uploaded.
 *
 * @param kept the file in which that command left what names the document
 *
 * Errors: `CONFIG_INVALID` for a file of another service or without such a name, those of `documents.resume`.
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
    throw new ConfigurationError('CONFIG_INVALID', `"${kept}" does not name a document of the translation service`)
  if (service !== client.origin)
    throw new ConfigurationError(
      'CONFIG_INVALID',
      `the document of "${kept}" is at ${service ?? 'another service'}, not at ${client.origin}`,
      {
        hint: 'give the --base-url or --plan with which it was uploaded',
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

/** The private file is begun before the upload, so that a folder that takes none costs nothing; when it is lost later, another one is made. */
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
    // Here, because nobody else can put a key there from now on.
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
  diagnostics.warn({ code: 'HANDLE_ELSEWHERE', message: `${why}: what names the document is in ${spare} until the translation is here` })
  return { handle, kept: spare }
}

/** What `resumeFile` reads: it opens the document. */
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
  // Nobody is told which of these it is.
  if (code === 'HTTP_404')
    return `the document was fetched already, has expired, or is of another account: remove ${kept} to give it up, and translate it again`
  const why =
    code === 'RESPONSE_TRUNCATED' ? 'the service may have kept it; try to fetch it again' : 'the service goes on with it; fetch it'
  return `${why} with: stac-auth translate --resume ${kept}`
}

/** `guide.de.docx` has `guide.de.docx.handle.json`. */
function handleFile(output: string): string {
  return `${output}.handle.json`
}

/** Errors: `PATH_EXISTS` for a file that still names a document, `PATH_UNSAFE`, `FILE_ACCESS`. */
export async function checkHandleFile(output: string): Promise<void> {
  const name = handleFile(output)
  await newPath(name).catch((error: unknown) => {
    if (!isAuthError(error) || error.code !== 'PATH_EXISTS') throw error
    throw new IntegrityError('PATH_EXISTS', `"${name}" exists already: it names a document that was uploaded and not fetched`, {
      hint: `fetch that document with: stac-auth translate --resume ${name} (or remove the file to give it up)`,
    })
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

  /** Takes the line away. */
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
