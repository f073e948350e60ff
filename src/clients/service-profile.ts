/** What a RESTful service does its own way. */
import type { Codec } from './decode.ts'
import type { Envelope } from './envelope.ts'
import { ValidationError } from './errors.ts'
import type { FormOptions } from './form.ts'
import type { Method } from './operation.ts'
import type { Paging } from './paging.ts'
import type { ReplayClass } from './replay.ts'

/** What can be done with a collection and its items. */
export type Action = 'list' | 'get' | 'create' | 'update' | 'delete'

export interface ServiceProfile {
  /** Methods that the service knows; any other is refused here. */
  readonly verbs: readonly Method[]
  /** The method that changes an item. */
  readonly update: 'PUT' | 'PATCH' | 'POST'
  /** How bodies are written; `xml` needs a codec that can. */
  readonly body: 'form' | 'json' | 'xml'
  readonly accept: string
  readonly form?: FormOptions
  /** Default `auto`. */
  readonly envelope?: Envelope
  /** Default: one page. */
  readonly paging?: Paging
  /** Where the service promises more than HTTP does. */
  readonly replay?: { readonly [action in Action]?: ReplayClass }
  readonly codec?: Codec
}

/** The usual convention: JSON, `PUT` on the address of the item changes it. */
export const JSON_REST: ServiceProfile = {
  verbs: ['GET', 'POST', 'PUT', 'DELETE'],
  update: 'PUT',
  body: 'json',
  accept: 'application/json',
}

/** What repeating an action does, as far as HTTP (RFC 9110 §9.2) and the profile say. */
export function replayOf(profile: ServiceProfile, action: Action): ReplayClass {
  const stated = profile.replay?.[action]
  if (stated) return stated
  if (action === 'list' || action === 'get') return 'safe'
  return action === 'delete' || (action === 'update' && profile.update === 'PUT') ? 'idem' : 'unsafe'
}

/** Errors: `VERB_NOT_ALLOWED` for a method that the service does not know; no credential was read. */
export function checkVerb({ verbs }: ServiceProfile, method: string, what: string): void {
  if ((verbs as readonly string[]).includes(method)) return
  const message = `${what}: this service knows no ${method}, only ${verbs.join(', ')}; nothing was sent`
  throw new ValidationError('VERB_NOT_ALLOWED', message, { field: 'method' })
}
