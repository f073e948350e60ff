/** An editor that talks with the built `lint --lsp` over standard input and output. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath, pathToFileURL } from 'node:url'
import {
  type CodeAction,
  type CompletionItem,
  createMessageConnection,
  type Diagnostic,
  type Hover,
  type MessageConnection,
  type Position,
  type Range,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-languageserver/node'
import { TextDocument } from 'vscode-languageserver-textdocument'
import { afterEveryFile } from '../setup/hooks.ts'

const PROGRAM = fileURLToPath(new URL('../../dist/cli/bin.js', import.meta.url))

interface Published {
  readonly uri: string
  readonly version?: number
  readonly diagnostics: readonly Diagnostic[]
}

const started: ChildProcess[] = []
afterEveryFile(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL')
})

/** Starts the server, initialized unless `greet` is false. */
export async function openEditor(options: readonly string[] = [], { greet = true, cwd = process.cwd() } = {}): Promise<Editor> {
  const child = spawn(process.execPath, [PROGRAM, 'lint', '--lsp', ...options], { cwd, env: { PATH: process.env.PATH } })
  started.push(child)
  const editor = new Editor(child)
  if (greet) await editor.initialize()
  return editor
}

class Editor {
  readonly child: ChildProcess
  readonly connection: MessageConnection
  /** Messages that the editor shows to its user. */
  readonly shown: string[] = []
  stderr = ''
  readonly #published: Published[] = []
  readonly #exit: Promise<unknown[]>
  #heard = () => {}

  constructor(child: ChildProcess) {
    this.child = child
    this.#exit = once(child, 'close')
    if (!child.stdin || !child.stdout) throw new Error('no pipes')
    child.stderr?.on('data', (text) => {
      this.stderr += text
    })
    child.stdin.on('error', () => {})
    this.connection = createMessageConnection(new StreamMessageReader(child.stdout), new StreamMessageWriter(child.stdin))
    this.connection.onNotification('textDocument/publishDiagnostics', (published: Published) => {
      this.#published.push(published)
      this.#heard()
    })
    this.connection.onNotification('window/showMessage', ({ message }: { message: string }) => {
      this.shown.push(message)
      this.#heard()
    })
    this.connection.onError(() => {})
    this.connection.listen()
  }

  async initialize(): Promise<{ readonly capabilities: Record<string, unknown>; readonly serverInfo: { readonly name: string } }> {
    const capabilities = { workspace: { workspaceEdit: { documentChanges: true } } }
    const answer = await this.connection.sendRequest('initialize', { processId: process.pid, rootUri: null, capabilities })
    await this.connection.sendNotification('initialized', {})
    return answer as Awaited<ReturnType<Editor['initialize']>>
  }

  /** Opens a document; a value as indented JSON. */
  open(path: string, content: unknown): EditedDocument {
    const text = typeof content === 'string' ? content : JSON.stringify(content, undefined, 2)
    return new EditedDocument(this, path.includes('://') ? path : pathToFileURL(path).href, text)
  }

  /** Waits for findings that are published from now on, or that fit already. */
  async published(fits: (published: Published) => boolean): Promise<readonly Diagnostic[]> {
    await this.until(() => this.#published.some(fits))
    return this.#published.findLast(fits)?.diagnostics ?? []
  }

  /** Publications of a document so far. */
  count(uri: string): number {
    return this.#published.filter((one) => one.uri === uri).length
  }

  async until(isThere: () => boolean): Promise<void> {
    while (!isThere()) await Promise.race([new Promise<void>((resolve) => (this.#heard = resolve)), this.#ended()])
  }

  async #ended(): Promise<never> {
    const [code, signal] = await this.#exit
    throw new Error(`the server ended with ${code ?? signal}: ${this.stderr}`)
  }

  /** The exit code, after the server ended by itself. */
  async exitCode(): Promise<unknown> {
    const [code, signal] = await this.#exit
    return code ?? signal
  }

  async shutdown(): Promise<void> {
    await this.connection.sendRequest('shutdown')
  }

  exit(): Promise<void> {
    return this.connection.sendNotification('exit')
  }
}

class EditedDocument {
  readonly uri: string
  readonly #editor: Editor
  #document: TextDocument

  constructor(editor: Editor, uri: string, text: string) {
    this.#editor = editor
    this.uri = uri
    this.#document = TextDocument.create(uri, 'json', 1, text)
    void editor.connection.sendNotification('textDocument/didOpen', { textDocument: { uri, languageId: 'json', version: 1, text } })
  }

  get text(): string {
    return this.#document.getText()
  }

  /** Replaces the first occurrence of a text, as an editor does: only the change is sent. */
  replace(before: string, after: string): void {
    const start = this.text.indexOf(before)
    if (start < 0) throw new Error(`no ${before} in the document`)
    this.change([{ range: this.#rangeOf(start, start + before.length), text: after }])
  }

  change(changes: readonly { readonly range: Range; readonly text: string }[]): void {
    const version = this.#document.version + 1
    this.#document = TextDocument.update(this.#document, [...changes], version)
    void this.#editor.connection.sendNotification('textDocument/didChange', {
      textDocument: { uri: this.uri, version },
      contentChanges: changes,
    })
  }

  /** The findings of the present version. */
  findings(): Promise<readonly Diagnostic[]> {
    return this.#editor.published(({ uri, version }) => uri === this.uri && version === this.#document.version)
  }

  /** The text of a range. */
  textAt(range: Range): string {
    return this.#document.getText(range)
  }

  /** The actions that the editor offers for findings, or for the whole document by their kind. */
  async actions(diagnostics: readonly Diagnostic[], only?: readonly string[]): Promise<readonly CodeAction[]> {
    const range = diagnostics[0]?.range ?? this.#rangeOf(0, this.text.length)
    const context = { diagnostics, ...(only && { only }) }
    return await this.#editor.connection.sendRequest('textDocument/codeAction', { textDocument: { uri: this.uri }, range, context })
  }

  /** Applies an action to the document. */
  apply({ edit }: CodeAction): void {
    for (const change of edit?.documentChanges ?? []) {
      if (!('edits' in change)) throw new Error('not an edit of a text')
      if (change.textDocument.version !== this.#document.version) throw new Error('an edit of another version')
      const text = TextDocument.applyEdits(this.#document, change.edits as never)
      this.change([{ range: this.#rangeOf(0, this.text.length), text }])
    }
  }

  /** What the editor shows at the place of the last character of a text. */
  hover(text: string): Promise<Hover | null> {
    return this.#editor.connection.sendRequest('textDocument/hover', { textDocument: { uri: this.uri }, position: this.#in(text) })
  }

  /** The proposals behind a text. */
  complete(text: string): Promise<readonly CompletionItem[] | null> {
    const start = this.text.indexOf(text)
    const position = this.#document.positionAt(start + text.length)
    return this.#editor.connection.sendRequest('textDocument/completion', { textDocument: { uri: this.uri }, position })
  }

  /** Inserts a proposal. */
  accept({ textEdit }: CompletionItem): void {
    if (!textEdit || !('range' in textEdit)) throw new Error('no edit')
    this.change([{ range: textEdit.range, text: textEdit.newText }])
  }

  close(): void {
    void this.#editor.connection.sendNotification('textDocument/didClose', { textDocument: { uri: this.uri } })
  }

  #in(text: string): Position {
    const start = this.text.indexOf(text)
    if (start < 0) throw new Error(`no ${text} in the document`)
    return this.#document.positionAt(start + text.length - 1)
  }

  #rangeOf(start: number, end: number): Range {
    return { start: this.#document.positionAt(start), end: this.#document.positionAt(end) }
  }
}
