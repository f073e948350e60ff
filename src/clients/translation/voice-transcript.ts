import type { VoiceSegment } from './voice-messages.ts'

/** What was said so far in one language: what is certain, and what may still change. */
export class VoiceTranscript<Segment extends VoiceSegment = VoiceSegment> {
  readonly #concluded: Segment[] = []
  #tentative: readonly Segment[] = []

  get concluded(): readonly Segment[] {
    return this.#concluded
  }

  get tentative(): readonly Segment[] {
    return this.#tentative
  }

  /** Everything as one text. */
  get text(): string {
    return [...this.#concluded, ...this.#tentative].map(({ text }) => text).join('')
  }

  /** Adds what is certain now; what was tentative is replaced. */
  update({ concluded, tentative }: { readonly concluded: readonly Segment[]; readonly tentative: readonly Segment[] }): void {
    for (const segment of concluded) this.#concluded.push(segment)
    this.#tentative = tentative
  }
}
