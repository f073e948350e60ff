import type { VoiceJobOutcome } from '../../../src/services/translation/voice/jobs.ts'

/** All of a stream, as text. */
export const textOf = (stream: ReadableStream<Uint8Array> | undefined) => new Response(stream).text()

/** What became of each target: what was made of it, or what its error says. */
export async function gathered(outcomes: AsyncIterable<VoiceJobOutcome>) {
  const all: unknown[] = []
  for await (const { index, language, result, error } of outcomes)
    all.push(result ? [index, language, await textOf(result.data), result.headers.get('content-type')] : [index, language, error?.message])
  return all
}
