import type { ServiceOptions } from '../service/service-definition.ts'

/** Whoever may log in. */
export interface Account {
  readonly email: string
  readonly password: string
  readonly accountId: number
}

/** What the descriptions leave open: both answers are played. Tests may change them while the service runs. */
export interface Switches {
  /** What is put around records and lists. */
  envelope: 'data' | 'none' | 'items'
  errorShape: 'message' | 'error' | 'errors' | 'text' | 'empty'
  paging: 'none' | 'page' | 'cursor' | 'link'
  /** Rows of a page where the request does not say. */
  pageSize: number
  /** Where a link leads: to the next page, to another origin, or to the page it stands on. */
  link: 'next' | 'foreign' | 'loop'
  /** What changing a customer answers; `plain` is the record without an envelope. */
  customerAnswer: 'record' | 'empty' | 'plain'
  /** Whether customers may be listed, read, made and deleted as well. */
  customerVerbs: boolean
  changedField: 'date_changed' | 'date_updated'
  rateAs: 'number' | 'string'
  /** Unknown fields of bodies and queries are let pass. */
  allowExtra: boolean
}

export interface TimeTrackingFakeOptions extends ServiceOptions, Partial<Switches> {
  /** Where the token stands: behind `Bearer`, alone in the Authorization field, or in a field of its own. */
  readonly tokenField?: 'bearer' | 'bare' | 'x-api-token'
  /** Tokens that exist already, and the User-Agent that made each. */
  readonly tokens?: Readonly<Record<string, string>>
  readonly accounts?: readonly Account[]
  /** Logins in a minute of the clock. */
  readonly loginsPerMinute?: number
  /** Unencrypted, for clients that are told to allow it. */
  readonly insecure?: boolean
}

/** The token and the User-Agent that tests use where they ask for no others. */
export const KNOWN = { token: 'known-token-5f0c2a', userAgent: 'acme-sync' } as const

export const ADA: Account = { email: 'ada@acme.example', password: 'pass wörd+&=%', accountId: 7 }

export function switchesOf(options: TimeTrackingFakeOptions): Switches {
  const { envelope, errorShape, paging, pageSize, link, customerAnswer, customerVerbs, changedField, rateAs, allowExtra } = options
  return {
    envelope: envelope ?? 'data',
    errorShape: errorShape ?? 'message',
    paging: paging ?? 'none',
    pageSize: pageSize ?? 2,
    link: link ?? 'next',
    customerAnswer: customerAnswer ?? 'record',
    customerVerbs: customerVerbs ?? false,
    changedField: changedField ?? 'date_changed',
    rateAs: rateAs ?? 'number',
    allowExtra: allowExtra ?? false,
  }
}
