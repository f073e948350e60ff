/** Creates the credentials that a document needs, each after confirmation at a terminal. */

import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import type { Auth } from '../../auth/auth.ts'
import type { CredentialObject, Field, SecretSource } from '../../auth/credential.ts'
import { variableFor } from '../../auth/selection-errors.ts'
import { parseUrlPattern } from '../../auth/url-pattern.ts'
import { ConfigurationError, CredentialError, SelectionError } from '../../errors.ts'
import { readRegularFile } from '../../node/files.ts'
import { isObject, type JsonObject, own, ownString } from '../../stac/document.ts'
import { forJson, forLine } from '../../text/sanitize.ts'
import type { Context } from '../context.ts'
import { addCredential, replacePrivateFile } from './edit-credentials.ts'
import type { MissingCredential, Needs } from './missing-credentials.ts'
import { fingerprintsOf, type NewCredentialSettings, proposalFor, proposalOf } from './proposal.ts'
import { detailsText, isTerminal, questionText, quoted, Terminal } from './question.ts'

/** The document and the credential file. */
interface Occasion {
  /** URL of the document; absent for stdin. */
  readonly document?: string
  /** The name of the document in prompts: its URL or path. */
  readonly title?: string
  /** The credential file. */
  readonly file: string
  /** The existing credentials. */
  readonly credentials: readonly CredentialObject[]
  readonly settings: NewCredentialSettings
  readonly errand: Errand
}

/** The command that asks. */
export interface Errand {
  /** The command to repeat at a terminal, without the name of the document. */
  readonly command: string
  /** Selects which schemes without a credential are asked about, given the ids of matching credentials; default: all. */
  readonly choose?: (missing: readonly MissingCredential[], fitting: ReadonlySet<string>) => readonly MissingCredential[]
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
  const list = knownSchemesFile(occasion.file)
  if (occasion.document !== undefined) for (const one of wanted) await checkUnchanged(list, one, occasion.document, fingerprintsOf(one))
  const { choose = (missing) => missing } = occasion.errand
  const missing = choose(
    wanted.filter(({ code }) => code === 'NO_CREDENTIAL'),
    entries,
  )
  if (missing.length === 0) {
    // Throws the reason without sending anything: the target has no usable reference.
    if (refused && entries.size === 0) await auth.authorize(refused, { signal: context.io.signal })
    return []
  }
  if (!isTerminal(context.io)) throw nobodyThere(missing, occasion)
  const created = await askAll(missing, occasion, context)
  if (created.length === 0) throw notAgreed(missing, occasion)
  return created
}

async function askAll(missing: readonly MissingCredential[], occasion: Occasion, context: Context): Promise<string[]> {
  const terminal = new Terminal(context.io)
  const credentials = [...occasion.credentials]
  const reachable = new Set<string>()
  const created: string[] = []
  try {
    for (const wanted of missing) {
      if (wanted.targets.every((target) => reachable.has(target))) continue
      const credential = await ask(terminal, wanted, { ...occasion, credentials }, context)
      if (credential === undefined) continue
      const id = String(credential.id)
      await context.diagnostics.note(`credential "${id}" is written to ${occasion.file}`)
      credentials.push(credential)
      created.push(id)
      for (const target of wanted.targets) reachable.add(target)
    }
    return created
  } finally {
    terminal.close()
  }
}

/** Asks about one scheme and returns the new credential, or undefined if it is declined. URLs are asked for before the confirmation. */
async function ask(
  terminal: Terminal,
  wanted: MissingCredential,
  occasion: Occasion,
  context: Context,
): Promise<CredentialObject | undefined> {
  const { document, title = 'standard input', file, credentials, settings } = occasion
  const { credential: incomplete, open } = proposalFor(wanted, credentials, settings)
  const id = String(incomplete.id)
  if (Object.values(open).some(isPlace)) await terminal.say(`${quoted(wanted.name)} does not specify:\n`)
  const placed = { ...incomplete, ...(await askFields(terminal, id, open, isPlace)) }
  const proposal = await proposalOf(title, wanted, placed, credentials)
  await terminal.say(questionText(proposal))
  if (!(await terminal.agrees('Create this credential?', detailsText(proposal)))) return undefined
  const answered = { ...placed, ...(await askFields(terminal, id, open, (field) => !isPlace(field))) }
  const entry = { ...answered, ...(await issuerOf(answered, context)) }
  await addCredential(file, entry)
  if (document !== undefined) await remember(knownSchemesFile(file), wanted.name, document, proposal.fingerprint)
  return entry
}

/** Finds the issuer of OAuth endpoints that the catalog lists, so that ID tokens and authorization responses can be verified. */
async function issuerOf(credential: CredentialObject, { io, diagnostics }: Context): Promise<{ readonly issuer?: string }> {
  const { id, type, flow, issuer, tokenUrl, authorizationUrl } = credential
  if (type !== 'oauth2' || flow !== 'authorizationCode' || issuer !== undefined) return {}
  if (typeof tokenUrl !== 'string' || typeof authorizationUrl !== 'string') return {}
  const [{ findIssuer }, { undiciTransport }] = await Promise.all([
    import('../../strategies/oauth2/find-issuer.ts'),
    import('../../node/transport/undici-transport.ts'),
  ])
  const found = await findIssuer({ tokenUrl, authorizationUrl }, undiciTransport({ env: { ...io.env } }), io.signal)
  if (found === undefined) return {}
  await diagnostics.note(`the issuer of "${id}" is ${forLine(found)}`)
  return { issuer: found }
}

function nobodyThere(
  missing: readonly MissingCredential[],
  { file, credentials: present, settings, errand: { command } }: Occasion,
): CredentialError {
  const [first] = missing
  const entries = missing.map((wanted) => forJson(proposalFor(wanted, present, settings).credential))
  const which = entries.length === 1 ? 'this credential' : 'one of these credentials'
  const names = missing.map(({ name }) => quoted(name)).join(', ')
  return new CredentialError('NO_CREDENTIAL', `no credential matches ${names}, and adding one needs a confirmation at a terminal`, {
    ...(first && { pointer: first.pointer, ref: first.name }),
    hint: `run ${command} at a terminal, or, if you trust these URLs, add ${which} to ${file}:\n${entries.join('\n')}`,
  })
}

function notAgreed(missing: readonly MissingCredential[], { errand: { command } }: Occasion): CredentialError {
  const [first] = missing
  return new CredentialError('NO_CREDENTIAL', 'no credential was written: none was confirmed', {
    ...(first && { pointer: first.pointer, ref: first.name }),
    hint: `run ${command} to be asked again`,
  })
}

/** Fields that decide where a secret is sent: they are part of the confirmation. */
const isPlace = ({ kind }: Field): boolean => ['url', 'patterns', 'signed-url-patterns', 'id', 'boolean'].includes(kind)

/** Asks for the fields for which `when` holds, each until its value is valid. */
async function askFields(
  terminal: Terminal,
  id: string,
  fields: { readonly [name: string]: Field },
  when: (field: Field) => boolean,
): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(fields)) {
    if (when(field)) answers[name] = field.kind === 'secret' ? await askSource(terminal, id, name, field) : await askValue(terminal, field)
  }
  return answers
}

async function askValue(terminal: Terminal, { kind, label, values }: Field): Promise<unknown> {
  if (kind === 'boolean') return /^y(?:es)?$/i.test(await terminal.ask(`  ${label}?  [y]es / [N]o `))
  const choice = values ? ` (${values.join(', ')})` : ''
  for (;;) {
    const answer = await terminal.ask(`  ${label}${choice}: `)
    if (kind === 'patterns' || kind === 'signed-url-patterns') {
      const patterns = answer.split(/\s+/).filter(Boolean)
      if (patterns.length > 0 && patterns.every((pattern) => isPattern(pattern, kind === 'signed-url-patterns'))) return patterns
      await terminal.say('  enter URL patterns separated by spaces, such as https://data.example/ https://*.data.example/\n')
    } else if (kind === 'url' ? URL.canParse(answer) : (values?.includes(answer) ?? answer !== '')) return answer
  }
}

function isPattern(text: string, sharedHosts: boolean): boolean {
  try {
    parseUrlPattern(text, { sharedHosts })
    return true
  } catch {
    return false
  }
}

const SOURCES = ['env', 'file', 'keyring', 'prompt']

/** Asks for the source of a secret; the input is visible, so it must not be the secret itself. */
async function askSource(terminal: Terminal, id: string, name: string, { label }: Field): Promise<SecretSource> {
  const usual = variableFor(id, name)
  for (;;) {
    const answer = await terminal.ask(`  ${label}, source (env:NAME, file:~/PATH, keyring:ACCOUNT, prompt) [env:${usual}]: `)
    if (answer === '') return { env: usual }
    if (answer === 'prompt') return { prompt: label }
    const [, source = '', place = ''] = /^([a-z]+):(.+)$/.exec(answer) ?? []
    if (SOURCES.includes(source)) return { [source]: place } as unknown as SecretSource
    await terminal.say('  not a source: the credential file holds where a secret is stored, never the secret itself\n')
  }
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
function remember(file: string, name: string, document: string, fingerprint: string): Promise<void> {
  return replacePrivateFile(file, async () => {
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
  try {
    const documents = own(JSON.parse(Buffer.from(found.bytes).toString('utf8')), 'documents')
    if (isObject(documents)) return documents
  } catch {
    // The message of the parser would quote the text.
  }
  throw broken(file, 'is damaged')
}

function broken(file: string, problem: string): ConfigurationError {
  return new ConfigurationError('CONFIG_INVALID', `the file of confirmed schemes, ${file}, ${problem}`, {
    hint: 'restore it, or remove it: then changed schemes are no longer detected',
  })
}
