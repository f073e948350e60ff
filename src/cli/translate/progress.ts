/** A line on the terminal that says how far a document is; nothing anywhere else. */
import type { TranslationClient } from '../../clients/translation/index.ts'
import { forLine } from '../../text/sanitize.ts'
import { shortened } from '../fitted.ts'
import type { Io } from '../io.ts'
import { LiveBlock } from '../live-block.ts'

export class DocumentProgress {
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
