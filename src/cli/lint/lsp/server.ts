/** `lint --lsp`: the linter as a language server over standard input and output, for editors. */

import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { CodeAction, CodeActionContext, Connection, Range, ServerCapabilities, TextDocuments } from 'vscode-languageserver/node'
import type { TextDocument } from 'vscode-languageserver-textdocument'
import type { Auth } from '../../../auth/auth.ts'
import { isAuthError } from '../../../errors.ts'
import { missingPackage } from '../../../node/base/index.ts'
import { forLine } from '../../../text/sanitize.ts'
import { exitOfSignal } from '../../exit-code.ts'
import { skippedBy } from '../../inputs/input-files.ts'
import { type Io, version } from '../../io.ts'
import { type LintSettings, settingsOf } from '../lint-run.ts'
import { Watched } from '../watch-files.ts'
import { actionsIn, diagnosticsOf, FIX_ALL, type OpenDocument } from './findings.ts'
import { hoverAt, namesAt } from './scheme-names.ts'

/** The options that select rules. */
type ServerOptions = Parameters<typeof settingsOf>[0]

/**
 * Serves until the editor ends the process, with exit code 0 after `shutdown` and 1 without it, or until a signal. Errors:
 * `SCHEME_UNSUPPORTED` without the packages.
 */
export async function serve(options: ServerOptions, io: Io): Promise<number> {
  const [{ createConnection, TextDocuments: Documents }, { TextDocument: factory }] = await packages()
  const connection = createConnection(io.stdin, io.stdout)
  const documents = new Documents(factory)
  const server = new Server(connection, documents, options, io)
  documents.listen(connection)
  connection.listen()
  if (!io.signal.aborted) await once(io.signal, 'abort')
  server.close()
  return exitOfSignal(io.signal)
}

async function packages() {
  try {
    return await Promise.all([import('vscode-languageserver/node'), import('vscode-languageserver-textdocument')])
  } catch (error) {
    throw missingPackage(error, { subject: 'lint --lsp', packages: ['vscode-languageserver', 'vscode-languageserver-textdocument'] })
  }
}

const CAPABILITIES: ServerCapabilities = {
  // Incremental.
  textDocumentSync: { openClose: true, change: 2 },
  codeActionProvider: { codeActionKinds: ['quickfix', FIX_ALL] },
  hoverProvider: true,
  completionProvider: { triggerCharacters: ['"'] },
}

/** Milliseconds without a change after which a document is linted. */
const QUIET = 200

/** Answers an editor. */
class Server {
  readonly #connection: Connection
  readonly #documents: TextDocuments<TextDocument>
  readonly #options: ServerOptions
  readonly #io: Io
  /** The next run of each open document. */
  readonly #timers = new Map<string, NodeJS.Timeout>()
  /** Undefined until the configuration was valid once. */
  #settings: LintSettings | undefined
  /** True for a document that `ignores` of the configuration, or `--ignore`, name. */
  #isSkipped = (_name: string) => false
  readonly #watched = new Watched(() => void this.#configure())
  #hasVersions = false
  #auth: Promise<Auth> | undefined

  constructor(connection: Connection, documents: TextDocuments<TextDocument>, options: ServerOptions, io: Io) {
    this.#connection = connection
    this.#documents = documents
    this.#options = options
    this.#io = io
    documents.onDidChangeContent(({ document: { uri } }) => this.#lintSoon(uri, this.#timers.has(uri) ? QUIET : 0))
    documents.onDidClose(({ document: { uri } }) => {
      clearTimeout(this.#timers.get(uri))
      this.#timers.delete(uri)
      void connection.sendDiagnostics({ uri, diagnostics: [] })
    })
    connection.onInitialize(({ capabilities }) => {
      this.#hasVersions = capabilities.workspace?.workspaceEdit?.documentChanges ?? false
      return { capabilities: CAPABILITIES, serverInfo: { name: 'stac-auth', version: version() } }
    })
    connection.onInitialized(() => this.#configure())
    connection.onCodeAction(({ textDocument: { uri }, range, context }) => this.#actions(uri, range, context))
    connection.onHover(async ({ textDocument: { uri }, position }) => {
      const document = documents.get(uri)
      return document && (await hoverAt(document, document.offsetAt(position), () => (this.#auth ??= withoutCredentials())))
    })
    connection.onCompletion(({ textDocument: { uri }, position }) => {
      const document = documents.get(uri)
      return document && namesAt(document, document.offsetAt(position))
    })
  }

  close(): void {
    this.#watched.close()
  }

  /** Reads the configuration, now and after each change of its files. An invalid one changes nothing. */
  async #configure(): Promise<void> {
    try {
      const settings = await settingsOf(this.#options, false, this.#io, (file) => this.#watched.addFile(file))
      this.#isSkipped = await skippedBy(settings.selection)
      this.#settings = settings
    } catch (error) {
      if (!isAuthError(error)) throw error
      // A notification, of type error: not every editor answers requests to show a message.
      // Editors show links in it, also those that run a command, and the text of the configuration is in it.
      const message = `stac-auth: ${forLine(error.message).replaceAll('](', '] (')}`
      void this.#connection.sendNotification('window/showMessage', { type: 1, message })
    }
    for (const uri of this.#documents.keys()) this.#lintSoon(uri, 0)
  }

  #lintSoon(uri: string, milliseconds: number): void {
    clearTimeout(this.#timers.get(uri))
    this.#timers.set(
      uri,
      setTimeout(() => this.#lint(uri), milliseconds),
    )
  }

  #lint(uri: string): void {
    const open = this.#open(uri)
    if (!open || !this.#settings) return
    const diagnostics = this.#isSkipped(open.name) ? [] : diagnosticsOf(open, this.#settings)
    void this.#connection.sendDiagnostics({ uri, version: open.document.version, diagnostics })
  }

  #open(uri: string): OpenDocument | undefined {
    const document = this.#documents.get(uri)
    // Not every client sends the text that the protocol requires.
    return typeof document?.getText() === 'string' ? { document, name: nameOf(uri) } : undefined
  }

  #actions(uri: string, range: Range, context: CodeActionContext): CodeAction[] {
    const open = this.#open(uri)
    if (!open || !this.#settings || this.#isSkipped(open.name)) return []
    return actionsIn(open, range, context, this.#settings).map(({ edits, ...action }) => {
      const versioned = { textDocument: { uri, version: open.document.version }, edits }
      return { ...action, edit: this.#hasVersions ? { documentChanges: [versioned] } : { changes: { [uri]: edits } } }
    })
  }
}

/** Returns the path of a file on this machine; other documents, and files of other machines, are named by their URI. */
function nameOf(uri: string): string {
  try {
    return uri.startsWith('file:') ? fileURLToPath(uri) : uri
  } catch {
    return uri
  }
}

/** Explains what schemes need to whoever has no credential: the credential file is not read. */
async function withoutCredentials(): Promise<Auth> {
  const { createAuth } = await import('../../../auth/create-auth.ts')
  return createAuth({ credentials: [] })
}
