/** Creates the credentials that a document needs, each after confirmation at a terminal, and remembers the confirmed schemes. */

import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import type { Auth } from '../../auth/auth.ts'
import type { CredentialObject } from '../../auth/credential.ts'
import { ConfigurationError, CredentialError, SelectionError } from '../../errors.ts'
import { readRegularFile } from '../../node/base/index.ts'
import { isObject, type JsonObject, own, ownString } from '../../stac/document.ts'
import { forJson, forLine } from '../../text/sanitize.ts'
import type { Context } from '../context.ts'
import { jsonIn } from '../read-document.ts'
import { addCredential, addPattern, patternsOf, replacePrivateFile } from './edit-credentials.ts'
import type { MissingCredential, Needs, NewCredentialOptions } from './missing-credentials.ts'
import { fingerprintsOf, problemOf, proposalFor, proposalOf } from './proposal.ts'
import { detailsText, questionText, quoted, urlText } from './question.ts'
import { askOthers, askPlaces } from './questions.ts'
import { atTerminal, isTerminal, type Terminal } from './terminal.ts'

/** The document and the credential file. */
export interface Occasion {
  /** URL of the document; absent for stdin. */
  readonly document?: string
  /** The name of the document in prompts: its URL or path. */
  readonly title?: string
  /** The credential file. */
  readonly file: string
  /** The existing credentials. */
  readonly credentials: readonly CredentialObject[]
  readonly settings: NewCredentialOptions
  readonly errand: Errand
}

/** The command that asks. */
export interface Errand {
  /** The command to repeat at a terminal, without the name of the document. */
  readonly command: string
  /** Selects which schemes without a credential are asked about, given the ids of matching credentials; default: all. */
  readonly choose?: (missing: readonly MissingCredential[], fitting: ReadonlySet<string>) => readonly MissingCredential[]
  /** True to ask also for what a credential may do without: scopes, the secret of a client, keys. */
  readonly optional?: boolean
  /** True to ask about loopback and private URLs of the document, which are refused otherwise. */
  readonly privateHosts?: boolean
  readonly terminal: Terminal
  /** Called when a credential was written or extended. */
  readonly onWritten?: () => void
}

/**
 * Asks about each scheme without a credential, writes the confirmed credentials and returns their ids. A scheme is skipped if a new
 * credential already matches all of its targets.
 *
 * Errors: `SCHEME_CHANGED`, `NO_CREDENTIAL` without a terminal (with the credentials to add) or if none was confirmed, `ABORTED`,
 * `CONFIG_INVALID`, those of the file system, and the reason why a target cannot be authorized with any credential.
 */
export async function createCredentials(
  { wanted, refused, entries }: Needs,
  occasion: Occasion,
  auth: Auth,
  context: Context,
): Promise<string[]> {
  await checkSchemes(wanted, occasion)
  const { choose = (all) => all } = occasion.errand
  const missing = choose(wanted, entries)
  if (missing.length === 0) {
    // Throws the reason without sending anything: the target has no usable reference.
    if (refused && entries.size === 0) await auth.authorize(refused, { signal: context.io.signal })
    return []
  }
  if (!isTerminal(context.io)) {
    const absent = missing.filter(({ code }) => code === 'NO_CREDENTIAL')
    if (absent.length > 0) throw nobodyThere(absent, occasion, context)
    // Throws the reason without sending anything, as above.
    const [first] = missing
    await auth.authorize(first && { ...first.target, refs: [first.name] }, { signal: context.io.signal })
  }
  const created = await askAll(missing, occasion, context)
  if (created.length === 0) throw notAgreed(missing, occasion)
  return created
}

/** Errors: `SCHEME_CHANGED` for a scheme that differs from the one that was confirmed for this document. */
export async function checkSchemes(wanted: readonly MissingCredential[], { document, file }: Occasion): Promise<void> {
  if (document === undefined) return
  for (const one of wanted) await checkUnchanged(knownSchemesFile(file), one, document, fingerprintsOf(one))
}

/** Asks about each scheme; returns the ids of the credentials that were written or changed. */
export async function askAll(missing: readonly MissingCredential[], occasion: Occasion, context: Context): Promise<string[]> {
  const { terminal } = occasion.errand
  const credentials = [...occasion.credentials]
  const reachable = new Set<string>()
  /** Ids of new credentials, by the pointer of their scheme. */
  const created = new Map<string, string>()
  let isFurther = false
  for (const wanted of missing) {
    if (wanted.targets.every((target) => reachable.has(target))) continue
    const linked = linkedOf(wanted, created)
    if (linked === undefined) {
      await context.diagnostics.note(
        `${quoted(wanted.name)} is skipped: it needs a credential for ${namesText((wanted.chain?.names ?? []).map((name) => ({ name })))}`,
      )
      continue
    }
    if (isFurther) await terminal.say('\n')
    isFurther = true
    const written = await ask(wanted, linked, { ...occasion, credentials }, context)
    if (written === undefined) continue
    const at = credentials.findIndex(({ id }) => id === written.id)
    credentials.splice(at < 0 ? credentials.length : at, 1, written)
    created.set(wanted.pointer, String(written.id))
    for (const target of wanted.targets) reachable.add(target)
  }
  return [...new Set(created.values())]
}

/** Returns the field that names the credential for token or signing requests; undefined if that credential was not created. */
function linkedOf({ chain }: MissingCredential, created: ReadonlyMap<string, string>): Links | undefined {
  if (!chain) return {}
  const id = chain.credential ?? chain.pointers.map((pointer) => created.get(pointer)).find((found) => found !== undefined)
  if (id !== undefined) return { [chain.field]: id }
  return chain.pointers.length === 0 ? {} : undefined
}

/** What a scheme without a credential links to: fields that name other credentials. */
type Links = Readonly<Record<string, string>>

/** Absent if it was declined. */
type Written = CredentialObject | undefined

/** Asks about one scheme and returns the credential that was written, or undefined if it is declined. */
async function ask(wanted: MissingCredential, linked: Links, occasion: Occasion, context: Context): Promise<CredentialObject | undefined> {
  const { credentials, file, title = 'standard input', errand } = occasion
  const { terminal } = errand
  const present = credentials.find(({ id }) => id !== undefined && id === wanted.unsent)
  if (!present) return create(wanted, linked, occasion, context)
  const patterns = wanted.places.map(({ pattern }) => pattern)
  const extended = { ...present, sendTo: [...patternsOf(present), ...patterns] }
  const others = credentials.filter((one) => one !== present)
  const proposal = await proposalOf(title, wanted, extended, others)
  const now = patternsOf(present).map(urlText).join(' ') || 'no URL'
  await terminal.say(`${questionText(proposal)}"${present.id}" is a credential of this kind; until now it is sent to ${now}\n`)
  const answer = await terminal.ask(`[u]se "${present.id}" here too / create a [n]ew credential / [S]kip `)
  if (/^n(?:ew)?$/i.test(answer)) return create(wanted, linked, occasion, context)
  if (!/^u(?:se)?$/i.test(answer)) return undefined
  for (const pattern of patterns) await addPattern(file, String(present.id), pattern)
  errand.onWritten?.()
  await context.diagnostics.note(`"${present.id}" is now allowed for ${patterns.join(' ')}`)
  await remember(wanted, occasion, proposal.fingerprint)
  return extended
}

/** Asks for a new credential and writes it. URLs are asked for before the confirmation. */
async function create(wanted: MissingCredential, linked: Links, occasion: Occasion, context: Context): Promise<Written> {
  const { title = 'standard input', file, credentials, settings, errand } = occasion
  const { terminal } = errand
  const { credential: incomplete, open, fields } = proposalFor(wanted, credentials, settings, linked)
  const subject = {
    id: String(incomplete.id),
    name: wanted.name,
    credential: incomplete,
    places: wanted.places,
    open,
    fields,
    optional: errand.optional === true,
  }
  const placed = { ...incomplete, ...(await askPlaces(terminal, subject)) }
  const proposal = await proposalOf(title, wanted, placed, credentials)
  await terminal.say(questionText(proposal))
  if (!(await terminal.agrees('Create this credential?', detailsText(proposal)))) return undefined
  const problem = (typed: object) => problemOf(wanted, { ...placed, ...typed }, credentials)
  const { answers, note, undo } = await askOthers(terminal, { ...subject, credential: placed }, problem, context)
  const answered = { ...placed, ...answers }
  const entry = { ...answered, ...(await issuerOf(answered, context)) }
  try {
    await addCredential(file, entry)
  } catch (error) {
    await undo()
    throw error
  }
  errand.onWritten?.()
  if (note !== undefined) await context.diagnostics.note(note)
  await context.diagnostics.note(`credential "${subject.id}" is written to ${file}`)
  await remember(wanted, occasion, proposal.fingerprint)
  return entry
}

/** Finds the issuer of OAuth endpoints that the catalog lists, so that ID tokens and authorization responses can be verified. */
async function issuerOf(credential: CredentialObject, { io, diagnostics }: Context): Promise<{ readonly issuer?: string }> {
  const { id, type, flow, issuer, tokenUrl, authorizationUrl } = credential
  if (type !== 'oauth2' || flow !== 'authorizationCode' || issuer !== undefined) return {}
  if (typeof tokenUrl !== 'string' || typeof authorizationUrl !== 'string') return {}
  const [{ findIssuer }, { undiciTransport }] = await Promise.all([
    import('../../strategies/oauth2/find-issuer.ts'),
    import('../../node/transport/index.ts'),
  ])
  const found = await findIssuer({ tokenUrl, authorizationUrl }, undiciTransport({ env: { ...io.env } }), io.signal)
  if (found === undefined) return {}
  await diagnostics.note(`the issuer of "${id}" is ${forLine(found)}`)
  return { issuer: found }
}

function nobodyThere(missing: readonly MissingCredential[], occasion: Occasion, { io }: Context): CredentialError {
  const [first] = missing
  const names = namesText(missing)
  return new CredentialError('NO_CREDENTIAL', `no credential matches ${names}, and adding one needs a confirmation ${atTerminal(io)}`, {
    ...(first && { pointer: first.pointer, ref: first.name }),
    hint: credentialsToAdd(missing, occasion),
  })
}

/** Returns the hint for a program without a terminal: the credentials as JSON. */
export function credentialsToAdd(
  missing: readonly MissingCredential[],
  { file, credentials, settings, errand: { command } }: Occasion,
): string {
  const entries = missing.map((wanted) => forJson(proposalFor(wanted, credentials, settings).credential))
  const which = entries.length === 1 ? 'this credential' : 'one of these credentials'
  return `run ${command} at a terminal, or, if you trust these URLs, add ${which} to ${file}:\n${entries.join('\n')}`
}

function notAgreed(missing: readonly MissingCredential[], { errand: { command } }: Occasion): CredentialError {
  const [first] = missing
  return new CredentialError('NO_CREDENTIAL', 'no credential was written: none was confirmed', {
    ...(first && { pointer: first.pointer, ref: first.name }),
    hint: `run ${command} to be asked again`,
  })
}

/** Returns the names of schemes in quotes. */
export function namesText(schemes: readonly { readonly name: string }[]): string {
  return schemes.map(({ name }) => quoted(name)).join(', ')
}

const MAX_BYTES = 16 * 1_048_576

/** Returns the path of the file of confirmed schemes, next to the credential file. */
function knownSchemesFile(credentialFile: string): string {
  return join(dirname(credentialFile), 'known-schemes.json')
}

/**
 * Accepts a scheme that is new in its document, or that has the fingerprint that the user confirmed.
 *
 * Errors: `SCHEME_CHANGED` with the fingerprints; `CONFIG_INVALID` if the file of confirmed schemes cannot be read.
 */
async function checkUnchanged(
  file: string,
  { name, pointer }: { readonly name: string; readonly pointer: string },
  document: string,
  fingerprints: readonly string[],
): Promise<void> {
  const known = ownString(own(await read(file), keyOf(document)), name)
  if (known === undefined || fingerprints.includes(known)) return
  throw new SelectionError('SCHEME_CHANGED', `the scheme ${quoted(name)} has changed since you confirmed it for this document`, {
    pointer,
    ref: name,
    url: document,
    expected: known,
    actual: fingerprints.join(', '),
    hint: `if its provider announced the change, remove ${quoted(name)} under "${keyOf(document)}" from ${file}, run the command again and check each URL`,
  })
}

/** Stores the fingerprint of a confirmed scheme. Errors: those of the file system, `CONFIG_INVALID`. */
async function remember({ name }: MissingCredential, { document, file: credentialFile }: Occasion, fingerprint: string): Promise<void> {
  if (document === undefined) return
  const file = knownSchemesFile(credentialFile)
  await replacePrivateFile(file, async () => {
    const documents = await read(file)
    const known = own(documents, keyOf(document))
    const schemes = withMember(isObject(known) ? known : {}, name, fingerprint)
    return `${JSON.stringify({ version: 1, documents: withMember(documents, keyOf(document), schemes) }, undefined, 2)}\n`
  })
}

/** Returns a copy with the member set; safe for the name `__proto__`. */
function withMember(object: JsonObject, name: string, value: unknown): JsonObject {
  return Object.fromEntries([...Object.entries(object).filter(([other]) => other !== name), [name, value]])
}

/** Returns the key of a document URL, with its query hashed because it may contain signatures and keys. */
function keyOf(document: string): string {
  const [address = '', query] = document.split('#', 1)[0]?.split(/\?(.*)/s, 2) ?? []
  return query === undefined ? address : `${address}?sha256=${createHash('sha256').update(query).digest('hex')}`
}

async function read(file: string): Promise<JsonObject> {
  const found = await readRegularFile(file, MAX_BYTES)
  if (!('bytes' in found)) {
    if (found.problem === 'does not exist') return {}
    throw broken(file, found.problem)
  }
  const documents = own(jsonIn(found.bytes), 'documents')
  if (isObject(documents)) return documents
  throw broken(file, 'is damaged')
}

function broken(file: string, problem: string): ConfigurationError {
  return new ConfigurationError('CONFIG_INVALID', `the file of confirmed schemes, ${file}, ${problem}`, {
    hint: 'restore it, or remove it: then changed schemes are no longer detected',
  })
}
