/** A provider: an archive or platform that the program knows, and how its credentials are made of what only the user has. */
import type { CredentialInput, CredentialObject, SecretValue, UncheckedCredential } from '../auth/credential.ts'
import { ConfigurationError } from '../errors.ts'
import { nearMiss } from '../text/suggest.ts'

/**
 * An archive or platform that the program knows. It only describes: a document may make a provider recognized, but a credential comes into
 * being only by the user's own code, file or answer.
 */
export interface Provider {
  /** `[a-z0-9-]`; the value of `provider` in credentials that are made from it. */
  readonly id: string
  /** Its name, for people. */
  readonly title: string
  /** Its page for people. */
  readonly homepage: string
  /** Where a person gets the secret, and one sentence on what to do there. */
  readonly account: { readonly url: string; readonly text: string }
  /** Public documents, each with what it proves. */
  readonly sources: readonly Source[]
  /** The day on which the sources were last read (`YYYY-MM-DD`). */
  readonly checked: string
  /** What belongs to the provider. */
  readonly recognizes: Recognized
  /** Its ways in, the best for a person first. */
  readonly ways: readonly Way[]
  /** Limits that users meet: how long tokens are valid, quotas, terms to accept, statuses of requests without a credential. */
  readonly notes: readonly string[]
  /** How its files are ordered, where they are made or fetched from an archive on request. */
  readonly order?: Order
}

/**
 * How files are ordered that must be ordered first: data alone, which `withOrders` of `stac-auth/node` follows. In URLs, `{name}` stands for
 * the value of that name: of the URL of the file, its query, or an earlier answer, percent-encoded; `{href}` for the URL of the file without
 * its query. A URL that is one name alone is the URL in an answer.
 */
export interface Order {
  /** URLs of such files: `{name}` stands for a segment of the path, `{name:uuid}` for a UUID. */
  readonly files: readonly string[]
  /** Parameters that the query must have: `name=value`, or members of a JSON object that is the whole query. */
  readonly parameters?: readonly string[]
  /** What it costs, in money or quota: a sentence without its full stop. The user is asked before such an order. */
  readonly costs?: string
  /** The request that orders; absent where the request for the state orders as well. */
  readonly request?: OrderRequest
  /** The request for the state; absent where the answer to the order names the file. It is repeated while its status is 202. */
  readonly status?: OrderStatus
  /** A request that names the file once it is ready, where the state does not. */
  readonly result?: OrderRequest
  /** URL of the file once it is ready. */
  readonly location: string
}

/** A request of an order. */
export interface OrderRequest {
  /** Its URL. */
  readonly url: string
  /** Default: `GET`. */
  readonly method?: 'POST'
  /** JSON of the body, where `{ "hole": "name" }` stands for the value of that name. */
  readonly body?: unknown
  /** Names for values of its answer: by JSON Pointer (RFC 6901), or by the name of a header such as `Location`. */
  readonly answer?: Readonly<Record<string, string>>
}

/** The request for the state of an order. */
export interface OrderStatus extends OrderRequest {
  /** JSON Pointer of the state; absent where each status but 202 means that the file is ready. */
  readonly state?: string
  /** States of a file that is ready. */
  readonly ready?: readonly string[]
  /** States of an order that will not be carried out. */
  readonly failed?: readonly string[]
  /** States of a file that is not ordered yet: with them, the state is requested before a file is ordered. */
  readonly orderable?: readonly string[]
  /** JSON Pointer of the reason of a failure. */
  readonly reason?: string
}

/** A public document, and what it proves. */
export interface Source {
  /** Its address. */
  readonly url: string
  /** Which facts it states. */
  readonly proves: string
}

/** URLs, issuers and buckets of a provider; two providers never have the same ones. */
export interface Recognized {
  /** Patterns of files, in the syntax of `sendTo`. */
  readonly files: readonly string[]
  /** Patterns of catalogs and of APIs that list files. */
  readonly catalogs: readonly string[]
  /** Issuers of tokens, exactly as they name themselves. */
  readonly issuers: readonly string[]
  /** Buckets of `s3:` URLs. */
  readonly buckets: readonly Bucket[]
  /** True where files are on hosts that others use as well: they are the provider's only in documents of its catalogs. */
  readonly filesOfCatalogsOnly?: true
}

/** A bucket of a provider. */
export interface Bucket {
  /** Its name, as in `s3://name/`. */
  readonly name: string
  /** The service that has it; absent for Amazon, where the name alone is enough. */
  readonly endpoint?: string
}

/** One way in: its credentials with holes for what only the user has. */
export interface Way {
  /** `[a-z0-9-]`, unique in its provider. */
  readonly id: string
  /** When to choose it: one sentence. */
  readonly when: string
  /** Where it works besides a terminal with a person: in web pages, in programs that nobody watches. */
  readonly works: readonly ('page' | 'unattended')[]
  /** What only the user has, by name. */
  readonly holes: Readonly<Record<string, Hole>>
  /** Credentials as in the credential file, where `{ "hole": "name" }` stands for a value of the user. The last one opens files. */
  readonly credentials: readonly CredentialTemplate[]
}

/** A value that only the user has. */
export interface Hole {
  /** Text for prompts. */
  readonly label: string
  /** `secret`: a secret or its source; `text-or-secret`: a user name, as text or as a source; `text`: written into the credential. */
  readonly kind: 'secret' | 'text-or-secret' | 'text'
  /** Environment variables for it: first those in which users of the provider have it already, else a name to propose. */
  readonly env?: readonly string[]
  /** True for what not every account has. */
  readonly optional?: true
}

/** A credential with holes: `{ hole: 'token' }` in place of a value. */
export interface CredentialTemplate {
  /** Its id; the same in each file, unless the user changes it. */
  readonly id: string
  /** Its type. */
  readonly type: string
  readonly [field: string]: unknown
}

/** The choice among ways in. */
interface Chosen<W extends string> {
  /** Id of the way in; default: the first that has exactly these values. */
  readonly way?: W
}

/** User name and password of an account. */
export interface UserValues<W extends string> extends Chosen<W> {
  /** User name, often an e-mail address. */
  readonly username: SecretValue
  /** Password. */
  readonly password: SecretValue
}

/** User name and password of an account that may have a second factor. */
export interface UserWithCodeValues<W extends string> extends UserValues<W> {
  /** One-time code; a function is called for each token request. */
  readonly totp?: SecretValue
}

/** Keys of an object store. */
export interface KeyValues<W extends string> extends Chosen<W> {
  /** Access key id. */
  readonly accessKeyId: SecretValue
  /** Secret access key. */
  readonly secretAccessKey: SecretValue
}

/** Keys of an AWS account. */
export interface AwsKeyValues<W extends string> extends KeyValues<W> {
  /** Of temporary keys. */
  readonly sessionToken?: SecretValue
}

/** An OAuth client with a secret. */
export interface ClientValues<W extends string> extends Chosen<W> {
  /** Client id. */
  readonly clientId: string
  /** Client secret. */
  readonly clientSecret: SecretValue
}

/** An OAuth client without a secret, for logins of a person. */
export interface PublicClientValues<W extends string> extends Chosen<W> {
  /** Client id. */
  readonly clientId: string
  /** Never: a client with a secret logs in without a person. */
  readonly clientSecret?: never
}

/** An API key. */
export interface ApiKeyValues<W extends string> extends Chosen<W> {
  /** The key. */
  readonly apiKey: SecretValue
}

/** A token that the provider shows. */
export interface TokenValues<W extends string> extends Chosen<W> {
  /** The token. */
  readonly token: SecretValue
}

/** No values: a login of a person, or a provider without accounts. What belongs to other ways in is excluded. */
export type NoValues<W extends string> = Chosen<W> & {
  readonly [value in 'username' | 'accessKeyId' | 'clientId' | 'apiKey' | 'token']?: never
}

/** Makes credentials of a provider: of its first way in that has exactly the values given, or of the one named by `way`. */
export interface ProviderCredentials<V> {
  (...values: object extends V ? [values?: V] : [values: V]): readonly CredentialInput[]
  /** The provider that they are made from. */
  readonly provider: Provider
}

/**
 * Returns the credentials of a way in with the user's values in its holes, each with the `provider` that it is made from; they are not
 * checked further before an engine reads them.
 *
 * Errors: `CONFIG_INVALID` for a way that the provider does not have, for a missing value, and for one without a hole.
 *
 * @example credentialsFrom(earthdata.provider, 'token', { token: { env: 'EARTHDATA_TOKEN' } })
 */
export function credentialsFrom(
  { id, ways }: Provider,
  way: string,
  values: Readonly<Record<string, SecretValue | undefined>>,
): readonly UncheckedCredential[] {
  const chosen = ways.find((one) => one.id === way)
  if (!chosen) throw invalid(`${id} has no way in "${way}"`, `it has ${ways.map((one) => one.id).join(', ')}`)
  const missing = neededBy(chosen).filter((name) => values[name] === undefined)
  if (missing.length > 0) throw invalid(`${id} needs ${missing.join(' and ')}`, chosen.when)
  const extra = Object.keys(values).find((name) => values[name] !== undefined && !Object.hasOwn(chosen.holes, name))
  if (extra !== undefined) {
    const near = nearMiss(extra, Object.keys(chosen.holes))
    throw invalid(`${id} has no "${extra}" for the way in "${way}"`, near === undefined ? chosen.when : `did you mean "${near}"?`)
  }
  return chosen.credentials.map((template) => ({ ...(filled(template, values) as CredentialObject), provider: id }) as never)
}

/** A provider as its file states it: of what it recognizes, only what there is. */
export type ProviderFacts = Omit<Provider, 'recognizes'> & { readonly recognizes: Partial<Recognized> }

/**
 * Returns the function that makes credentials of a provider, for code. The facts are in a function, so that bundlers leave out a provider that
 * is not used.
 */
export function credentialsOf<V>(facts: () => ProviderFacts): ProviderCredentials<V> {
  const known = facts()
  const provider = { ...known, recognizes: { files: [], catalogs: [], issuers: [], buckets: [], ...known.recognizes } }
  const make = ({ way, ...values }: { readonly [name: string]: SecretValue | undefined } = {}) => {
    return credentialsFrom(provider, typeof way === 'string' ? way : wayFor(provider, values), values)
  }
  return Object.assign(make as unknown as ProviderCredentials<V>, { provider })
}

/** Returns the id of the first way in whose holes are exactly those of the values. Errors: `CONFIG_INVALID` with what each way needs. */
function wayFor({ id, ways }: Provider, values: Readonly<Record<string, unknown>>): string {
  const given = Object.keys(values).filter((name) => values[name] !== undefined)
  const fitting = ways.find((way) => {
    return neededBy(way).every((name) => given.includes(name)) && given.every((name) => Object.hasOwn(way.holes, name))
  })
  if (fitting) return fitting.id
  const choices = ways.map((way) => `${neededBy(way).join(' and ') || 'nothing'} (${way.id})`).join('; or ')
  throw invalid(`${id} has no way in with ${given.join(' and ') || 'no values'}`, `it needs ${choices}`)
}

function neededBy({ holes }: Way): readonly string[] {
  return Object.keys(holes).filter((name) => !holes[name]?.optional)
}

/** Returns a copy with values in place of holes, without members whose hole has no value. */
export function filled(template: unknown, values: Readonly<Record<string, unknown>>): unknown {
  if (Array.isArray(template)) return template.map((one) => filled(one, values))
  if (typeof template !== 'object' || template === null) return template
  const members = Object.entries(template)
  const [first] = members
  if (members.length === 1 && first?.[0] === 'hole') return values[String(first[1])]
  return Object.fromEntries(
    members.flatMap(([name, member]) => {
      const value = filled(member, values)
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

function invalid(message: string, hint: string): ConfigurationError {
  return new ConfigurationError('CONFIG_INVALID', message, { hint })
}
