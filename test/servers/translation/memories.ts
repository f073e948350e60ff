import { jsonReply, type Reply } from '../service/reply.ts'
import { pageOf } from './paging.ts'
import type { Call } from './state.ts'

/** A translation memory, as it is listed. */
export interface TranslationMemory {
  readonly translation_memory_id: string
  readonly name: string
  readonly source_language: string
  readonly target_languages: readonly string[]
  readonly segment_count: number
}

/** Operation 32. */
export function listMemories(call: Call): Reply {
  const { memories } = call.state
  return jsonReply(200, { translation_memories: pageOf(call, memories), total_count: memories.length })
}
