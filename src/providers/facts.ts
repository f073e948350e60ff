/** What several providers have in common: kinds of ways in, the values that these need, and a source. */
import type { CredentialTemplate, Hole, Source, Way } from './provider.ts'

/** What a way in with one credential states. */
interface WayFacts {
  /** Id of the way in; default: the name of its kind. */
  readonly id?: string
  /** Id of its credential. */
  readonly credential: string
  readonly when: string
  readonly works?: Way['works']
  readonly sendTo: readonly string[]
}

type Holes = Way['holes']

/** A credential without its id. */
type Fields = { readonly type: string; readonly [field: string]: unknown }

/** Environment variables of one value, and its label where it has another than usual. */
interface SecretFacts {
  readonly env?: readonly string[]
  readonly label?: string
}

/** An API key in a header or in the query. */
export function keyWay(
  facts: WayFacts & SecretFacts & { readonly hole?: string; readonly in?: string; readonly name: string; readonly prefix?: string },
): Way {
  const { hole = 'apiKey', label = 'API key', in: place = 'header', name, prefix, env } = facts
  const fields = { type: 'apiKey', in: place, name, ...(prefix && { prefix }), value: { hole } }
  return oneCredential('key', facts, { [hole]: secretHole(label, env) }, fields)
}

/** A token that a person copies. */
export function tokenWay(facts: WayFacts & SecretFacts): Way {
  const { label = 'Access token', env } = facts
  return oneCredential('token', facts, { token: secretHole(label, env) }, { type: 'http', scheme: 'bearer', token: { hole: 'token' } })
}

/** User name and password; `fields` say how they are sent, as {@link BASIC} or {@link realm}. */
export function passwordWay(facts: WayFacts & { readonly holes: Holes; readonly fields: Fields }): Way {
  return oneCredential('password', facts, facts.holes, facts.fields)
}

/** The client credentials grant at a token endpoint; `more` are further fields. */
export function clientWay(
  facts: WayFacts & { readonly tokenUrl: string; readonly holes: Holes; readonly more?: Readonly<Record<string, unknown>> },
): Way {
  const { tokenUrl, holes, more } = facts
  const fields = { type: 'oauth2', flow: 'clientCredentials', tokenUrl, ...CLIENT, ...more }
  return oneCredential('client', facts, holes, fields)
}

function oneCredential(
  kind: string,
  { id = kind, when, works = ['unattended'], credential, sendTo }: WayFacts,
  holes: Holes,
  fields: Fields,
): Way {
  return { id, when, works, holes, credentials: [{ id: credential, ...fields, sendTo, use: 'by-address' }] }
}

export function secretHole(label: string, env?: readonly string[]): Hole {
  return { label, kind: 'secret', ...(env && { env }) }
}

/** User name and password of an account, with their variables: `PREFIX_USERNAME`, `PREFIX_PASSWORD`. */
export function account(prefix: string, label = 'User name', ...others: readonly string[]): Holes {
  return {
    username: { label, kind: 'text-or-secret', env: [`${prefix}_USERNAME`, ...others] },
    password: secretHole('Password', [`${prefix}_PASSWORD`]),
  }
}

/** The same of an account that may have a second factor, with its variable `PREFIX_TOTP`. */
export function accountWithCode(prefix: string, label: string): Holes {
  const code = secretHole('One-time code, for accounts with a second factor', [`${prefix}_TOTP`])
  return { ...account(prefix, label), totp: { ...code, optional: true } }
}

export const ACCOUNT = { username: { hole: 'username' }, password: { hole: 'password' } } as const

/** The password in each request. */
export const BASIC = { type: 'http', scheme: 'basic', ...ACCOUNT } as const

/** The password grant at an OpenID provider. */
export function realm(issuer: string, clientId: string) {
  return { type: 'openIdConnect', ...discovery(issuer), flow: 'password', allowPasswordGrant: true, clientId, ...ACCOUNT }
}

export function discovery(issuer: string) {
  return { openIdConnectUrl: `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration` }
}

/** Id and secret of an OAuth client; variables of the secret come last. */
export function client(
  idVariables: readonly string[],
  secretVariables: readonly string[],
  id = 'Client id',
  secret = 'Client secret',
): Holes {
  return {
    clientId: { label: id, kind: 'text', ...(idVariables.length > 0 && { env: idVariables }) },
    clientSecret: secretHole(secret, secretVariables),
  }
}

export const CLIENT = { clientId: { hole: 'clientId' }, clientSecret: { hole: 'clientSecret' } } as const

/** A pair of keys, with its variables: `PREFIX_ACCESS_KEY`, `PREFIX_SECRET_KEY`. */
export function keyPair(prefix: string): Holes {
  return {
    accessKeyId: secretHole('Access key', [`${prefix}_ACCESS_KEY`]),
    secretAccessKey: secretHole('Secret key', [`${prefix}_SECRET_KEY`]),
  }
}

export const KEY_PAIR = { accessKeyId: { hole: 'accessKeyId' }, secretAccessKey: { hole: 'secretAccessKey' } } as const

/** Keys of an AWS account. */
export function awsKeys(): Holes {
  return {
    accessKeyId: secretHole('Access key id', ['AWS_ACCESS_KEY_ID']),
    secretAccessKey: secretHole('Secret access key', ['AWS_SECRET_ACCESS_KEY']),
    sessionToken: { ...secretHole('Session token, with temporary keys', ['AWS_SESSION_TOKEN']), optional: true },
  }
}

/** Buckets at Amazon that charge the account of the reader. */
export function payingReader(id: string, region: string, ...sendTo: readonly string[]): CredentialTemplate {
  const keys = { ...KEY_PAIR, sessionToken: { hole: 'sessionToken' } }
  return { id, type: 's3', region, requesterPays: true, ...keys, sendTo, use: 'by-address' }
}

/** A provider file of EODAG as a source. */
export function eodag(name: string, proves: string): Source {
  return { url: `https://github.com/CS-SI/eodag/blob/develop/eodag/resources/providers/${name}.yml`, proves }
}
