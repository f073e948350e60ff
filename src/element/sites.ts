/** Sites: hosts of the same owner, as far as a page can determine it. */
import { isSharedSuffix } from '../auth/url-pattern.ts'
import { canParseUrl } from '../text/can-parse-url.ts'

/** Second-level labels below which countries register names: `ac.uk`, `com.au`, `go.jp`, `gouv.fr`. */
const SECOND_LEVEL = /^(?:ac|asso|co|com|edu|gob|go|gouv|gov|govt|gv|info|ltd|mil|ne|net|nhs|nic|nom|or|org|plc|re|res|sch)\.[a-z]{2}$/

/**
 * Returns the registrable domain of a host: its last two labels, three below second-level domains of countries, the whole host on shared
 * hosts. The public suffix list would be three times the size of the element; without it, hosts below a rare public suffix count as one
 * site.
 */
export function siteOf(host: string): string {
  if (/^[\d.]+$|^\[/.test(host)) return host
  const labels = host.split('.')
  const domain = labels.slice(-2).join('.')
  if (SECOND_LEVEL.test(domain) && !host.endsWith('.amazonaws.com.cn')) return labels.slice(-3).join('.')
  return isSharedSuffix(host) ? host : domain
}

/** Returns the host name of a URL or URL pattern; undefined for text that is neither, and for buckets. */
export function hostNameOf(address: string): string | undefined {
  return /^https?:/i.test(address) && canParseUrl(address) ? new URL(address).hostname : undefined
}

/** The hosts that take part when a credential is used, by role. */
export interface Parties {
  /** Host of the catalog; undefined if its URL is unknown. */
  readonly catalog?: string
  readonly files: readonly string[]
  /** Hosts of the login, the token endpoint or the signing API. */
  readonly provider: readonly string[]
}

/** Returns true when the catalog, its files and their provider do not all belong to one site. */
export function areDifferentSites({ catalog, files, provider }: Parties): boolean {
  return new Set([...(catalog === undefined ? [] : [catalog]), ...files, ...provider].map(siteOf)).size > 1
}
