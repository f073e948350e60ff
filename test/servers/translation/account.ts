import { refuse } from './refuse.ts'

/** A key of the organization. */
export interface KeyRecord {
  /** What is sent. */
  readonly key: string
  readonly plan: 'free' | 'pro'
  readonly role: 'developer' | 'admin'
  readonly scopes: readonly string[] | undefined
  readonly quota: number | undefined
  /** Two GUIDs with a colon between them. */
  readonly keyId: string
  label: string
  readonly createdAt: number
  deactivatedAt: number | undefined
  characterLimit: number | null
  speechLimit: number | null
  /** Characters that were billed. */
  used: number
}

/** Something that was billed. */
export interface Billed {
  readonly key: KeyRecord
  readonly at: number
  readonly kind: 'text_translation' | 'document_translation' | 'text_improvement'
  readonly characters: number
  readonly tag: string | undefined
}

/** Characters that the key may still use. */
export function charactersLeft({ quota, characterLimit, used }: KeyRecord): number {
  return Math.min(quota ?? Number.POSITIVE_INFINITY, characterLimit ?? Number.POSITIVE_INFINITY) - used
}

/** Ends an operation that costs more than is left, before any work. */
export function requireCharacters(key: KeyRecord, characters: number): void {
  if (characters > charactersLeft(key)) refuse(456, 'Quota exceeded')
}
