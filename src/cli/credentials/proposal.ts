/** An entry that a scheme would need, made for a person to look at. */

import { createHash } from 'node:crypto'
import type { Credential, CredentialForm, CredentialObject, Field } from '../../auth/credential.ts'
import { readCredentials } from '../../auth/parse-credentials.ts'
import { loadStrategies } from '../../auth/registry.ts'
import { sameIdentity } from '../../auth/scheme-matching.ts'
import { placeholder } from '../../auth/selection-errors.ts'
import type { Identity, Strategy } from '../../auth/strategy.ts'
import { ownObject } from '../../stac/json.ts'
import { defaultStrategies } from '../../strategies/index.ts'
import type { Place, Wanted } from './wanted.ts'

/** What the user says beforehand. */
export interface Wishes {
  readonly id?: string
  readonly scopes: readonly string[]
}

/** An entry with blanks. */
interface Draft {
  /** As far as it is known; what only the user knows has a placeholder, secrets are environment variables to set. */
  readonly credential: CredentialObject
  /** What only the user knows. */
  readonly open: { readonly [name: string]: Field }
}

/** An entry to be agreed to. */
export interface Proposal {
  readonly entry: CredentialObject
  /** The scheme of a catalog that it is made for, and the document's address or path; absent for an entry that the user wrote. */
  readonly wanted?: Wanted
  readonly document?: string
  readonly places: readonly Place[]
  /** Endpoints that receive the user's secret. */
  readonly secretTo: readonly string[]
  /** Pages on which the user logs in. */
  readonly browserTo: readonly string[]
  /** Scopes that the catalog lists. */
  readonly offered: readonly string[]
}

/** What stands for a text that is not known yet. */
const UNKNOWN = '…'

/** The entry that a scheme would need, as far as catalog and user have said. */
export function draftFor(
  { name, strategy, scheme, target, url, places }: Wanted,
  beside: readonly CredentialObject[],
  { id, scopes }: Wishes,
): Draft {
  const taken = new Set(beside.map((credential) => credential.id))
  const form = strategy.describe(scheme, { url, target })
  const label = id !== undefined && !taken.has(id) ? id : freeId(name, taken)
  const open = Object.entries(form.fields).filter(([field, { required }]) => required && isOpen(form.entry[field]))
  const hasScopes = form.entry.type === strategy.type && strategy.forms.some(({ fields }) => fields.scopes !== undefined)
  const placeholders = open.map(([name, field]): [string, unknown] => [name, placeholder(label, name, field)])
  const entry = {
    id: label,
    ...canonical(form, strategy),
    ...Object.fromEntries(placeholders),
    ...(scopes.length > 0 && hasScopes && { scopes }),
  }
  return { credential: { ...entry, sendTo: places.map(({ pattern }) => pattern) }, open: Object.fromEntries(open) }
}

/** Addresses are written to the file as they are compared and shown: a host in its ASCII form. */
function canonical({ entry }: CredentialForm, { forms }: Strategy): CredentialForm['entry'] {
  const plain = Object.entries(entry).map(([name, value]): [string, unknown] => {
    const isUrl = typeof value === 'string' && URL.canParse(value) && forms.some(({ fields }) => fields[name]?.kind === 'url')
    return [name, isUrl ? new URL(value).href : value]
  })
  return { ...entry, ...Object.fromEntries(plain) }
}

/** What the user is asked to agree to, beside the entries that there are. Errors: `CONFIG_INVALID` when the entry cannot be one. */
export async function proposalOf(
  document: string,
  wanted: Wanted,
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

/** The same for an entry that the user wrote. Errors: `CONFIG_INVALID`. */
export async function ownProposal(entry: CredentialObject, beside: readonly CredentialObject[]): Promise<Proposal> {
  const { credential, strategy } = await readBeside(entry, beside)
  const places = credential.sendTo.map(({ pattern }) => ({ pattern, counts: {} }))
  return { entry, places, offered: [], ...endpointsOf(strategy, credential) }
}

/** An entry may name others. */
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

/** The fingerprints of all that a scheme offers: agreeing to one of them does not mind the others. */
export function fingerprintsOf(wanted: Wanted): readonly string[] {
  return tuplesOf(wanted).map((tuple) => fingerprintOf(wanted.strategy.type, tuple))
}

/** With addresses as they are compared: absolute, without fragment. */
function tuplesOf({ strategy, scheme, target }: Wanted): readonly Identity[] {
  return strategy.identity(scheme).map((tuple) =>
    tuple.map((member) => {
      if (!member.url || !URL.canParse(member.value, target.scope.url)) return member
      const url = new URL(member.value, target.scope.url)
      url.hash = ''
      return { ...member, value: url.href }
    }),
  )
}

function isOpen(value: unknown): boolean {
  return value === undefined || value === UNKNOWN
}

/** A label for the user: the catalog's name where that is a decent one, never that of another entry. */
function freeId(name: string, taken: ReadonlySet<string | undefined>): string {
  const decent = name.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[^A-Za-z0-9]+/, '')
  const base = decent.slice(0, 48) || 'credential'
  for (let count = 1; ; count++) {
    const id = count === 1 ? base : `${base}-${count}`
    if (!taken.has(id)) return id
  }
}

/** SHA-256, in hex, of a scheme's canonical tuple as RFC 8785 JSON: names sorted, no blanks, texts as ECMAScript writes them. */
export function fingerprintOf(type: string, identity: Identity): string {
  const members = new Map([['type', type], ...identity.map(({ name, value }) => [name, value] as const)])
  const sorted = [...members].sort(([one], [other]) => (one < other ? -1 : 1))
  const json = `{${sorted.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`
  return createHash('sha256').update(json).digest('hex')
}
