/** A line on the terminal that says how far a document is; nothing anywhere else. */
import type { TranslationClient } from '../../clients/translation/index.ts'
import { forLine } from '../../text/sanitize.ts'
import type { Io } from '../io.ts'

export class DocumentProgress {
  readonly #io: Io
  readonly #close: () => void

  constructor(client: TranslationClient, name: string, io: Io) {
    this.#io = io
    const isOn = io.stderr.isTTY === true && io.env.TERM !== 'dumb'
    this.#close = isOn ? client.on('progress', (event) => this.#show(forLine(`${name}: ${said(event)}`))) : () => undefined
  }

  /** Takes the line away. */
  end(): void {
    if (this.#io.stderr.isTTY === true && this.#io.env.TERM !== 'dumb') this.#io.stderr.write('\r\x1b[K')
    this.#close()
  }

  #show(text: string): void {
    this.#io.stderr.write(`\r\x1b[K${text}`)
  }
}

function said({ operation, ...detail }: Readonly<Record<string, unknown>>): string {
  if (operation === 'documents.upload') return `${detail.bytes}${detail.total === undefined ? '' : ` of ${detail.total}`} bytes sent`
  if (operation === 'documents.status') return `${detail.status}${detail.seconds_remaining ? `, about ${detail.seconds_remaining} s` : ''}`
  return `${detail.bytes ?? 0} bytes received`
}
