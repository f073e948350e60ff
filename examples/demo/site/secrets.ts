import { randomBytes } from 'node:crypto'

/** What opens the files of the page's catalog; new in every run. */
export interface SiteSecrets {
  readonly key: string
  readonly username: string
  readonly password: string
  /** Of the site itself: its service worker has it, the page does not. */
  readonly siteToken: string
}

/** Random values; those that a person types are short. */
export function siteSecrets(): SiteSecrets {
  const short = () => randomBytes(9).toString('base64url')
  return { key: short(), username: 'ada', password: short(), siteToken: randomBytes(24).toString('base64url') }
}
