import type { ServiceOptions } from '../service/service-definition.ts'

/** A key and what it may do. */
export interface KeyOptions {
  readonly plan: 'free' | 'pro'
  readonly role: 'developer' | 'admin'
  /** All when left out. */
  readonly scopes?: readonly string[]
  /** Characters; unlimited when left out. */
  readonly quota?: number
  readonly deactivated?: boolean
}

/** What tests choose about the translation service; times in milliseconds of the clock. */
export interface TranslationFakeOptions extends ServiceOptions {
  /** Which of the two hosts this one plays. */
  readonly plan?: 'free' | 'pro'
  readonly keys?: Readonly<Record<string, KeyOptions>>
  /** X-Trace-ID also where the public description leaves it out. */
  readonly traceEverywhere?: boolean
  /** Unknown fields of bodies and queries are let pass. */
  readonly allowExtra?: boolean
  /** A document waits so long, and is then translated for so long. */
  readonly queueMs?: number
  readonly translateMs?: number
  /** From the end of the translation until the result is thrown away. */
  readonly ttlMs?: number
  /** The absurd estimate that the service is known for. */
  readonly secondsRemaining?: number
  readonly maxUnfetched?: number
  readonly maxGlossaries?: number
  readonly glossaryReadyMs?: number
  /** Both forms of the entries of a dictionary are in use. */
  readonly entriesShape?: 'object' | 'wrapped'
  readonly usageVersion?: '3.10' | '3.11'
  readonly tagPageSize?: number
  readonly jobMs?: number
  readonly voiceJobMs?: number
  /** `false` lets audio come faster than it was spoken; by default client and service need clocks that agree. */
  readonly voicePacing?: boolean
  /** Puts another host into `poll_url`. */
  readonly pollUrl?: 'own' | 'foreign'
}

/** The options with everything filled in that has a default. */
export type Settings = Required<Omit<TranslationFakeOptions, keyof ServiceOptions>>

export function settingsOf(options: TranslationFakeOptions): Settings {
  return {
    plan: 'pro',
    keys: {
      'test-pro': { plan: 'pro', role: 'developer' },
      'test-free:fx': { plan: 'free', role: 'developer' },
      'test-admin': { plan: 'pro', role: 'admin' },
    },
    traceEverywhere: false,
    allowExtra: false,
    queueMs: 1000,
    translateMs: 2000,
    ttlMs: 600_000,
    secondsRemaining: 2,
    maxUnfetched: 20,
    maxGlossaries: 1000,
    glossaryReadyMs: 0,
    entriesShape: 'object',
    usageVersion: '3.10',
    tagPageSize: 2,
    jobMs: 5000,
    voiceJobMs: 5000,
    voicePacing: true,
    pollUrl: 'own',
    ...options,
  }
}
