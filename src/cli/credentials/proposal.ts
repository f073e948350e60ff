/** Proposes a credential for a scheme, for confirmation at a terminal. */

import { createHash } from 'node:crypto'
import type { Credential, CredentialFields, CredentialForm, CredentialObject, Field } from '../../auth/credential.ts'
import { readCredentials } from '../../auth/parse-credentials.ts'
import { placeholder } from '../../auth/refusals.ts'
import { sameIdentity } from '../../auth/select.ts'
import { type Identity, loadStrategies, type Strategy } from '../../auth/strategy.ts'
import { type AuthError, isAuthError } from '../../errors.ts'
import { ownObject } from '../../stac/document.ts'
import { defaultStrategies } from '../../strategies/index.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import type { MissingCredential, NewCredentialOptions, PatternUse } from './missing-credentials.ts'

/** An incomplete credential. */
interface IncompleteCredential {
  /** The known fields; fields to ask for have placeholders, secrets are environment variables to set. */
  readonly credential: CredentialObject
  /** The fields to ask for. */
  readonly open: { readonly [name: string]: Field }
  /** All fields that the scheme leaves to the user. */
  readonly fields: { readonly [name: string]: Field }
}

/** A credential to confirm. */
export interface Proposal {
  readonly entry: CredentialObject
  /** The scheme of the catalog, and the document's URL or path; absent for a credential from a file. */
  readonly wanted?: MissingCredential
  readonly document?: string
  readonly places: readonly PatternUse[]
  /** Endpoints that receive the user's secret. */
  readonly secretTo: readonly string[]
  /** Pages on which the user logs in. */
  readonly browserTo: readonly string[]
  /** Scopes that the catalog lists. */
  readonly offered: readonly string[]
}

/** The placeholder of an unknown text. */
const UNKNOWN = '…'

/** Drafts a credential for a scheme from the catalog, the options of the user and the fields that name other credentials. */
export function proposalFor(
  { name, strategy, scheme, target, url, places }: MissingCredential,
  beside: readonly CredentialObject[],
  { id, scope: scopes = [], port, redirectHost }: NewCredentialOptions,
  linked: Readonly<Record<string, string>> = {},
): IncompleteCredential {
  const taken = new Set(beside.map((credential) => credential.id))
  const form = strategy.describe(scheme, { url, target })
  const label = id !== undefined && !taken.has(id) ? id : freeId(name, taken)
  const open = Object.entries(form.fields).filter(
    ([field, { required }]) => required && isOpen(form.credential[field]) && linked[field] === undefined,
  )
  const hasScopes =
    form.credential.type === strategy.type && strategy.forms.some(({ fields: formFields }) => formFields.scopes !== undefined)
  const placeholders = open.map(([member, field]): [string, unknown] => [member, placeholder(label, member, field)])
  const { fields } = strategy.forms.find(({ when }) => fits(when, form.credential)) ?? { fields: {} }
  const entry = {
    id: label,
    ...canonical(form, strategy),
    ...Object.fromEntries(placeholders),
    ...linked,
    ...(scopes.length > 0 && hasScopes && { scopes }),
    ...(redirectHost !== undefined && 'redirectHost' in fields && { redirectHost }),
    ...(port !== undefined && 'redirectPort' in fields && { redirectPort: port }),
  }
  const { clientSecret } = form.credential.type === strategy.type ? fields : {}
  return {
    credential: { ...entry, sendTo: places.map(({ pattern }) => pattern) },
    open: Object.fromEntries(open),
    fields: { ...(clientSecret && { clientSecret }), ...form.fields },
  }
}

/** Returns true for the form of a credential. */
function fits(when: CredentialFields['when'] = {}, credential: CredentialForm['credential']): boolean {
  return Object.entries(when).every(([field, values]) => values.some((value) => value === credential[field]))
}

/** Normalizes URLs, so that the file contains what is compared and shown: hosts in ASCII. */
function canonical({ credential }: CredentialForm, { forms }: Strategy): CredentialForm['credential'] {
  const plain = Object.entries(credential).map(([name, value]): [string, unknown] => {
    const isUrl = typeof value === 'string' && canParseUrl(value) && forms.some(({ fields }) => fields[name]?.kind === 'url')
    return [name, isUrl ? new URL(value).href : value]
  })
  return { ...credential, ...Object.fromEntries(plain) }
}

/** Returns the proposal for a credential beside the existing ones. Errors: `CONFIG_INVALID` for an invalid credential. */
export async function proposalOf(
  document: string,
  wanted: MissingCredential,
  entry: CredentialObject,
  beside: readonly CredentialObject[],
): Promise<Proposal & { readonly fingerprint: string }> {
  const { scheme, places } = wanted
  const { credential, strategy } = await readBeside(entry, beside)
  const flows = Object.values(ownObject(scheme, 'flows') ?? {})
  const offered = new Set(flows.flatMap((flow) => Object.keys(ownObject(flow, 'scopes') ?? {})))
  const own = strategy.identity(strategy.schemeOf(credential))[0] ?? []
  const tuples = tuplesOf(wanted)
  const fingerprint = fingerprintOf(strategy.type, tuples.find((tuple) => sameIdentity(tuple, own)) ?? tuples[0] ?? [])
  return { entry, wanted, document, places, offered: [...offered], fingerprint, ...endpointsOf(strategy, credential) }
}

/** Returns the proposal for a credential from a file. Errors: `CONFIG_INVALID`. */
export async function ownProposal(entry: CredentialObject, beside: readonly CredentialObject[]): Promise<Proposal> {
  const { credential, strategy } = await readBeside(entry, beside)
  const places = credential.sendTo.map(({ pattern }) => ({ pattern, counts: {} }))
  return { entry, places, offered: [], ...endpointsOf(strategy, credential) }
}

/** Returns why the scheme's first target cannot be authorized with the credential, before anything is sent. Errors: `CONFIG_INVALID`. */
export async function problemOf(
  { scheme, pointer, target, url }: MissingCredential,
  entry: CredentialObject,
  beside: readonly CredentialObject[],
): Promise<AuthError | undefined> {
  const { credential, strategy } = await readBeside(entry, beside)
  try {
    strategy.prepare?.({ scheme, pointer, credential, resource: { url, target } })
    return undefined
  } catch (error) {
    if (isAuthError(error)) return error
    throw error
  }
}

/** Parses a credential together with the existing ones, because it may name them. */
async function readBeside(
  entry: CredentialObject,
  beside: readonly CredentialObject[],
): Promise<{ credential: Credential; strategy: Strategy }> {
  const strategies = await loadStrategies(defaultStrategies)
  const credential = readCredentials([...beside, entry], strategies, 'file').at(-1) as Credential
  return { credential, strategy: strategies.find(({ type }) => type === credential.type) as Strategy }
}

function endpointsOf(strategy: Strategy, credential: Credential): Pick<Proposal, 'secretTo' | 'browserTo'> {
  const { authorizationUrl } = credential
  const endpoints = (strategy.endpoints?.(credential) ?? []).map((endpoint) =>
    typeof endpoint === 'string' ? endpoint : endpoint.publishedAt,
  )
  return { secretTo: [...new Set(endpoints)], browserTo: typeof authorizationUrl === 'string' ? [authorizationUrl] : [] }
}

/** Returns the fingerprints of all flows of a scheme; a confirmation covers one of them. */
export function fingerprintsOf(wanted: MissingCredential): readonly string[] {
  return tuplesOf(wanted).map((tuple) => fingerprintOf(wanted.strategy.type, tuple))
}

/** Returns the identities of a scheme with absolute URLs without fragments. */
function tuplesOf({ strategy, scheme, target }: MissingCredential): readonly Identity[] {
  return strategy.identity(scheme).map((tuple) =>
    tuple.map((member) => {
      if (!member.url || !canParseUrl(member.value, target.scope.url)) return member
      const url = new URL(member.value, target.scope.url)
      url.hash = ''
      return { ...member, value: url.href }
    }),
  )
}

function isOpen(value: unknown): boolean {
  return value === undefined || value === UNKNOWN
}

/** Returns an unused id, based on the name of the scheme. */
export function freeId(name: string, taken: ReadonlySet<string | undefined>): string {
  const decent = name.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[^A-Za-z0-9]+/, '')
  const base = decent.slice(0, 48) || 'credential'
  for (let count = 1; ; count++) {
    const id = count === 1 ? base : `${base}-${count}`
    if (!taken.has(id)) return id
  }
}

/** Returns the SHA-256, in hex, of a scheme's identity as canonical JSON (RFC 8785). */
export function fingerprintOf(type: string, identity: Identity): string {
  const members = new Map([['type', type], ...identity.map(({ name, value }) => [name, value] as const)])
  const sorted = [...members].sort(([one], [other]) => (one < other ? -1 : 1))
  const json = `{${sorted.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`
  return createHash('sha256').update(json).digest('hex')
}
