/** A login for which the page went away, in the storage of the tab. */
import { IntegrityError } from '../errors.ts'
import type { Page } from './page.ts'

/** Good for one answer; `record` is secret. */
export interface LoginRecord {
  /** Id of the entry. */
  readonly credential: string
  readonly state: string
  /** What the engine needs to go on. */
  readonly record: string
  /** The redirect URI. */
  readonly uri: string
  /** Where the user was: an address of this origin. */
  readonly returnTo: string
  /** The answer, once the callback page has seen it. */
  readonly answer?: string
}

const NAME = 'stac-auth:login'
const TEXTS = ['credential', 'state', 'record', 'uri', 'returnTo'] as const

/** A tab goes to one provider at a time, so a new record takes the place of an older one. Errors: `FILE_ACCESS`. */
export function keepRecord(page: Page, record: LoginRecord): void {
  try {
    page.sessionStorage.setItem(NAME, JSON.stringify(record))
  } catch {
    throw new IntegrityError('FILE_ACCESS', 'the session storage of this page cannot be used, so a login cannot leave the page', {
      hint: 'log in with a popup',
    })
  }
}

/** The record, if there is a whole one. */
export function readRecord(page: Page): LoginRecord | undefined {
  try {
    const value: unknown = JSON.parse(page.sessionStorage.getItem(NAME) ?? 'null')
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Removes it: what was taken once is not taken again. */
export function dropRecord(page: Page): void {
  try {
    page.sessionStorage.removeItem(NAME)
  } catch {
    // A storage that cannot be used holds nothing.
  }
}

function isRecord(value: unknown): value is LoginRecord {
  if (typeof value !== 'object' || value === null) return false
  const record = value as Readonly<Record<string, unknown>>
  return TEXTS.every((name) => typeof record[name] === 'string') && ['string', 'undefined'].includes(typeof record.answer)
}
