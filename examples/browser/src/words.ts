/** What a file needs, in plain words. */
import type { FormModel } from 'stac-auth/browser'

/** A requirement in words: `a key for data.example`, `You have one.`, `You do not have one yet.` */
export interface Need {
  readonly what: string
  readonly present: string
  readonly missing: string
}

const ONE = { present: 'You have one.', missing: 'You do not have one yet.' }
const SEVERAL = { present: 'You have them.', missing: 'You do not have them yet.' }
const LOGIN = { present: 'You are logged in.', missing: 'You are not logged in.' }
const PASSWORDS = /^(?:basic|digest|mutual|scram-)/

/** The requirement of a form. Hosts are those of the form, never text that a catalog chose. */
export function needOf({ credential, loginAt, secretTo, sendTo }: FormModel): Need {
  const files = hostsOf(sendTo)
  switch (credential.type) {
    case 'apiKey':
      return { what: `a key for ${files}`, ...ONE }
    case 'http':
      if (credential.scheme === 'bearer') return { what: `a token for ${files}`, ...ONE }
      if (PASSWORDS.test(String(credential.scheme))) return { what: `a user name and password for ${files}`, ...SEVERAL }
      return { what: `a credential for ${files}`, ...ONE }
    case 'oauth2':
    case 'openIdConnect':
      if (loginAt !== undefined) return { what: `a login at ${hostOf(loginAt)}`, ...LOGIN }
      return { what: `client credentials at ${hostsOf(secretTo)}`, ...SEVERAL }
    case 'signedUrl':
      return { what: `a URL signed by ${hostsOf(secretTo)}`, ...ONE }
    case 's3':
      return { what: `object store keys for ${files}`, ...SEVERAL }
    default:
      return { what: `a credential for ${files}`, ...ONE }
  }
}

/** Where the credential goes in a request: `header X-API-Key`. */
export function placeWords({ place, name }: FormModel['carriedIn']): string {
  switch (place) {
    case 'header':
      return `header ${name === 'authorization' ? 'Authorization' : name}`
    case 'query':
      return `query parameter ${name} of the URL`
    case 'cookie':
      return `cookie ${name}`
    case 'url':
      return 'the URL'
    case 'signature':
      return 'a signature; the secret itself is not sent'
  }
}

/** The host of a URL or pattern, or the text itself. */
export function hostOf(address: string): string {
  return URL.canParse(address) ? new URL(address).host || address : address
}

/** Type of a scheme: `http basic`. */
export function typeWords(type: string, { scheme }: { readonly [field: string]: unknown }): string {
  return type === 'http' && typeof scheme === 'string' ? `http ${scheme}` : type
}

/** Up to three hosts, or their number. */
export function hostsOf(addresses: readonly string[]): string {
  const hosts = [...new Set(addresses.map(hostOf))]
  if (hosts.length === 0) return 'its host'
  return hosts.length > 3 ? `${hosts.length} hosts` : new Intl.ListFormat('en', { type: 'conjunction' }).format(hosts)
}
