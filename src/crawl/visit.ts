/** What a crawl gives. */
import { type AuthError, isAuthError } from '../errors.ts'
import type { StacDocument } from '../stac/document.ts'
import type { Job, Left, Outcome, Scope } from './job.ts'
import { originOf } from './job.ts'

/** A job and what came of it. */
export interface Visit {
  readonly kind: 'visit'
  readonly job: Job
  readonly outcome: Outcome
  /** Absent when it could not be read, and when it was recalled. */
  readonly document?: StacDocument
  readonly bytes?: Uint8Array
  /** Documents above that may lend their schemes, nearest first. */
  readonly parents: readonly StacDocument[]
  /** Where each of the `parents` stands. */
  readonly parentPlaces: readonly ParentPlace[]
  /** False for what belongs to another part of a crawl in parts: it is read for its links only. */
  readonly mine: boolean
  /** `here`: by `recall`. `unchanged`: by `earlier`, and the server agrees. */
  readonly recalled?: 'here' | 'unchanged'
  readonly error?: AuthError
}

/** URL of what was read, and the pointer of the document in it. */
export interface ParentPlace {
  readonly url: string
  readonly at: string
}

/** The crawl stopped before its end. */
export interface Stop {
  readonly kind: 'stop'
  readonly left: Left
}

/** The parents of what stands below nothing that lends. */
export const NO_PARENTS = { parents: [], parentPlaces: [] } as const

/** An outcome of nothing. */
export const NOTHING = { documents: 0, jobs: [], scopes: [], left: [] } as const

/** What a visit tells besides its place. */
export type Found = Partial<Visit> & Pick<Visit, 'outcome'>

/** Of the documents above only those of the same origin lend. */
export function parentsAt(url: string, scopes: readonly Scope[]): Pick<Visit, 'parents' | 'parentPlaces'> {
  const origin = originOf(url)
  const lending = scopes.filter((scope) => scope.origin === origin)
  return { parents: lending.map(({ document }) => document), parentPlaces: lending.map(({ url, at = '' }) => ({ url, at })) }
}

/** What came of a job that could not be done; throws on what is no error of the library. */
export function failed(job: Job, thrown: unknown): Found {
  if (!isAuthError(thrown)) throw thrown
  const error = thrown
  const { code, message, hint } = error
  return { error, outcome: { ...NOTHING, url: job.url, failure: { code, message, ...(hint !== undefined && { hint }) } } }
}

/** What `robots.txt` keeps a crawl from. */
export function forbidden(url: string): Left {
  return { url, code: 'CRAWL_LIMIT', message: 'robots.txt does not want it to be read', limit: 'robots', asked: true, count: 1 }
}
