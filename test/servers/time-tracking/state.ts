import type { ServiceClock } from '../service/manual-clock.ts'
import { type SeededIds, seededIds } from '../service/seeded-ids.ts'
import { type Account, ADA, KNOWN, type Switches, switchesOf, type TimeTrackingFakeOptions } from './options.ts'

/** A record as it is kept. */
export type Row = Record<string, unknown>

/** A token works with the User-Agent that made it, and dies with any other. */
export interface TokenRecord {
  readonly userAgent: string
  /** By the clock. */
  lastUsed: number
}

/** Everything that the service remembers; tests may look at it and change it. */
export interface TimeTrackingState {
  readonly clock: ServiceClock
  readonly ids: SeededIds
  readonly switches: Switches
  readonly tokens: Map<string, TokenRecord>
  readonly accounts: readonly Account[]
  readonly loginsPerMinute: number
  /** Times of the logins. */
  readonly logins: number[]
  /** By name and by id; a further one is served like the others. */
  readonly collections: Map<string, Map<string, Row>>
  nextId: number
}

/** The service as it begins: two projects, one customer. */
export function createState(options: TimeTrackingFakeOptions, clock: ServiceClock): TimeTrackingState {
  const { tokens = { [KNOWN.token]: KNOWN.userAgent }, accounts = [ADA], loginsPerMinute = 5, seed } = options
  const lastUsed = clock.now()
  const project = (id: number, more: Row): [string, Row] => [String(id), { id, ...newProject(clock.now()), ...more }]
  return {
    ...{ clock, accounts, loginsPerMinute, ids: seededIds(seed), switches: switchesOf(options), logins: [], nextId: 100 },
    tokens: new Map(Object.entries(tokens).map(([token, userAgent]) => [token, { userAgent, lastUsed }])),
    collections: new Map([
      [
        'projects',
        new Map([
          project(60, { name: 'Website', customer_id: 121, rate: 95.5, billable: true }),
          project(61, { name: 'Süd & Ost', description: 'Field work', template: true, rate: null }),
        ]),
      ],
      ['customers', new Map([['121', { id: 121, name: 'ACME' }]])],
    ]),
  }
}

/** The fields of a project that nobody named. */
export function newProject(now: number): Row {
  return {
    ...{ name: '', description: null, active: true, template: false, privacy: 1, customer_id: null, required_task: false },
    ...{ billable: false, bill_by: 'project', rate: 0, created: now, changed: null, seconds: 90_000 },
  }
}
