import type { ServiceClock } from '../service/manual-clock.ts'
import { type SeededIds, seededIds } from '../service/seeded-ids.ts'
import type { ServiceRequest } from '../service/service-request.ts'
import type { Billed, KeyRecord } from './account.ts'
import type { StoredDocument } from './documents.ts'
import type { Glossary } from './glossary-store.ts'
import type { TranslationMemory } from './memories.ts'
import type { Operation } from './operations.ts'
import type { Settings } from './options.ts'
import type { QualityJob } from './quality.ts'
import type { StyleList } from './style-store.ts'
import type { VoiceJob } from './voice-jobs.ts'
import type { VoiceScript } from './voice-script.ts'
import type { VoiceSession } from './voice-sessions.ts'

/** Everything that the service remembers; tests may look at it and change it. */
export interface TranslationState {
  readonly clock: ServiceClock
  readonly ids: SeededIds
  readonly settings: Settings
  /** By the key itself. */
  readonly keys: Map<string, KeyRecord>
  readonly billed: Billed[]
  readonly documents: Map<string, StoredDocument>
  readonly glossaries: Map<string, Glossary>
  readonly styles: Map<string, StyleList>
  memories: readonly TranslationMemory[]
  readonly voiceSessions: Map<string, VoiceSession>
  voiceScript: VoiceScript
  readonly voiceJobs: Map<string, VoiceJob>
  readonly qualityJobs: Map<string, QualityJob>
}

/** One request of a known key to an operation. */
export interface Call {
  readonly state: TranslationState
  readonly operation: Operation
  readonly request: ServiceRequest
  readonly key: KeyRecord
}

/** The service as it begins. */
export function createState(settings: Settings, clock: ServiceClock, seed?: number): TranslationState {
  const ids = seededIds(seed)
  const keys = Object.entries(settings.keys).map(([key, { plan, role, scopes, quota, deactivated }]): [string, KeyRecord] => [
    key,
    {
      ...{ key, plan, role, scopes, quota },
      keyId: `${ids.uuid()}:${ids.uuid()}`,
      label: key,
      createdAt: clock.now(),
      deactivatedAt: deactivated ? clock.now() : undefined,
      characterLimit: null,
      speechLimit: null,
      used: 0,
    },
  ])
  return {
    ...{ clock, ids, settings, keys: new Map(keys), billed: [], documents: new Map(), glossaries: new Map(), styles: new Map() },
    memories: [1, 2, 3].map((n) => ({
      translation_memory_id: ids.uuid(),
      name: `Memory ${n}`,
      source_language: 'en',
      target_languages: ['de', 'fr'].slice(0, n),
      segment_count: n * 100,
    })),
    ...{ voiceSessions: new Map(), voiceScript: {}, voiceJobs: new Map(), qualityJobs: new Map() },
  }
}

/** Writes on the bill of a key. */
export function bill({ state, key }: Pick<Call, 'state' | 'key'>, kind: Billed['kind'], characters: number, tag?: string): void {
  key.used += characters
  state.billed.push({ key, at: state.clock.now(), kind, characters, tag })
}
