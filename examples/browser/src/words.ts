/** What a form asks for, in plain words. */
import type { FormModel } from 'stac-auth/browser'

const PASSWORDS = /^(?:basic|digest|mutual|scram-)/

/** What the person must have: `Key`, `User name and password`, `Login at identity.example`. */
export function credentialWords({ credential, loginAt, secretTo }: Pick<FormModel, 'credential' | 'loginAt' | 'secretTo'>): string {
  switch (credential.type) {
    case 'http':
      return PASSWORDS.test(String(credential.scheme))
        ? 'User name and password'
        : credential.scheme === 'bearer'
          ? 'Token'
          : `Proof by ${credential.scheme}`
    case 'apiKey':
      return 'Key'
    case 'oauth2':
    case 'openIdConnect':
      return loginAt === undefined ? 'Client id and secret' : `Login at ${hostOf(loginAt)}`
    case 'signedUrl':
      return `Address signed by ${secretTo.map(hostOf).join(', ') || 'a service'}`
    case 's3':
      return 'Keys of an object store'
    default:
      return `Credential of type ${credential.type}`
  }
}

/** Where it goes in a request: `in header X-API-Key`. */
export function placeWords({ place, name }: FormModel['carriedIn']): string {
  switch (place) {
    case 'header':
      return `in header ${name === 'authorization' ? 'Authorization' : name}`
    case 'query':
      return `in the address, as ${name}`
    case 'cookie':
      return `in the cookie ${name}`
    case 'url':
      return 'in the address'
    case 'signature':
      return 'as a signature'
  }
}

/** The whole sentence: `Key in header X-API-Key to data.example`. */
export function needWords(form: FormModel): string {
  const to = form.sendTo.map(hostOf).join(', ')
  const words = credentialWords(form)
  const what = form.loginAt === undefined ? words : `${words}, token`
  return `${what} ${placeWords(form.carriedIn)}${to && ` to ${to}`}`
}

/** The host of a URL or pattern, or the text itself. */
export function hostOf(address: string): string {
  return URL.canParse(address) ? new URL(address).host || address : address
}

/** Type of a scheme as a badge shows it. */
export function typeWords({ type, credential }: Pick<FormModel, 'type' | 'credential'>): string {
  return type === 'http' && typeof credential.scheme === 'string' ? `http ${credential.scheme}` : type
}
