/** From what a document needs to entries of the user, by way of a person who agrees. */

import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import type { Auth } from '../../auth/auth.ts'
import type { CredentialObject, Field, SecretSource } from '../../auth/credential.ts'
import { parseUrlPattern } from '../../auth/parse-url-pattern.ts'
import { variableFor } from '../../auth/selection-errors.ts'
import { ConfigurationError, CredentialError, SelectionError } from '../../errors.ts'
import { readRegularFile } from '../../node/regular-file.ts'
import { isObject, type JsonObject, own, ownString } from '../../stac/json.ts'
import { forJson, forLine } from '../../text/sanitize.ts'
import type { Context } from '../context.ts'
import { addCredential, replacePrivateFile } from './edit-credentials.ts'
import { draftFor, fingerprintsOf, proposalOf, type Wishes } from './proposal.ts'
import { detailsText, isTerminal, questionText, quoted, Terminal } from './question.ts'
import type { Needs, Wanted } from './wanted.ts'

/** Where it comes from and where it goes. */
interface Occasion {
  /** Address of the document; absent for standard input, which nobody recognises later. */
  readonly document?: string
  /** What the document is called in the question: its address or its path. */
  readonly title?: string
  /** The credential file. */
  readonly file: string
  /** The entries that there are. */
  readonly credentials: readonly CredentialObject[]
  readonly wishes: Wishes
  readonly errand: Errand
}

/** What the questions are asked for. */
export interface Errand {
  /** How to do this again at a terminal, without the name of the document. */
  readonly command: string
  /** Which of the schemes without an entry are asked about, where these entries fit already; default: all. */
  readonly choose?: (missing: readonly Wanted[], fitting: ReadonlySet<string>) => readonly Wanted[]
}

/**
 * Asks about each scheme that has no entry, and writes those that are agreed to; what an entry before has made reachable is not asked
 * about again. The ids of the new entries, none when nothing was missing.
 *
 * Errors: `SCHEME_CHANGED`, `NO_CREDENTIAL` without a terminal (with the entries to add) or when nothing was agreed to, `ABORTED`,
 * `CONFIG_INVALID`, those of the file system, and why a target cannot be reached by any entry.
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
    // Nothing is sent: no reference of that target can be used, and this says why.
    if (refused && entries.size === 0) await auth.authorize(refused, { signal: context.io.signal })
    return []
  }
  if (!isTerminal(context.io)) throw nobodyThere(missing, occasion)
  const created = await askAll(missing, occasion, context)
  if (created.length === 0) throw notAgreed(missing, occasion)
  return created
}

async function askAll(missing: readonly Wanted[], occasion: Occasion, context: Context): Promise<string[]> {
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
      await context.diagnostics.note(`entry "${id}" is written to ${occasion.file}`)
      credentials.push(credential)
      created.push(id)
      for (const target of wanted.targets) reachable.add(target)
    }
    return created
  } finally {
    terminal.close()
  }
}

/** Asks about one scheme; the entry that was written, or undefined for a no. Places are part of the question. */
async function ask(terminal: Terminal, wanted: Wanted, occasion: Occasion, context: Context): Promise<CredentialObject | undefined> {
  const { document, title = 'standard input', file, credentials, wishes } = occasion
  const { credential: draft, open } = draftFor(wanted, credentials, wishes)
  const id = String(draft.id)
  if (Object.values(open).some(isPlace)) await terminal.say(`${quoted(wanted.name)} leaves to you:\n`)
  const placed = { ...draft, ...(await askFields(terminal, id, open, isPlace)) }
  const proposal = await proposalOf(title, wanted, placed, credentials)
  await terminal.say(questionText(proposal))
  if (!(await terminal.agrees('Create this entry?', detailsText(proposal)))) return undefined
  const answered = { ...placed, ...(await askFields(terminal, id, open, (field) => !isPlace(field))) }
  const entry = { ...answered, ...(await issuerOf(answered, context)) }
  await addCredential(file, entry)
  if (document !== undefined) await remember(knownSchemesFile(file), wanted.name, document, proposal.fingerprint)
  return entry
}

/** For logins at endpoints that the catalog writes out: the name without which ID tokens and answers are compared with nothing. */
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

function nobodyThere(missing: readonly Wanted[], { file, credentials: present, wishes, errand: { command } }: Occasion): CredentialError {
  const [first] = missing
  const entries = missing.map((wanted) => forJson(draftFor(wanted, present, wishes).credential))
  const which = entries.length === 1 ? 'this entry' : 'one of these entries'
  const names = missing.map(({ name }) => quoted(name)).join(', ')
  return new CredentialError('NO_CREDENTIAL', `no entry of yours fits ${names}, and only a person at a terminal can make one here`, {
    ...(first && { pointer: first.pointer, ref: first.name }),
    hint: `run ${command} at a terminal, or, if you trust these addresses, add ${which} to ${file}:\n${entries.join('\n')}`,
  })
}

function notAgreed(missing: readonly Wanted[], { errand: { command } }: Occasion): CredentialError {
  const [first] = missing
  return new CredentialError('NO_CREDENTIAL', 'nothing was agreed to, so no entry was written', {
    ...(first && { pointer: first.pointer, ref: first.name }),
    hint: `${command} asks again`,
  })
}

/** Fields that decide where something goes, or whether it may: they are part of what is agreed to. */
const isPlace = ({ kind }: Field): boolean => ['url', 'patterns', 'signed-url-patterns', 'id', 'boolean'].includes(kind)

/** The values of the fields for which `when` holds, asked for until they are what they must be. */
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
      await terminal.say('  write patterns such as https://data.example/ or https://*.data.example/, with blanks between them\n')
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

/** What is typed here is seen on the screen, so it must not be the secret. */
async function askSource(terminal: Terminal, id: string, name: string, { label }: Field): Promise<SecretSource> {
  const usual = variableFor(id, name)
  for (;;) {
    const answer = await terminal.ask(`  ${label}, where it is kept (env:NAME, file:~/PATH, keyring:ACCOUNT, prompt) [env:${usual}]: `)
    if (answer === '') return { env: usual }
    if (answer === 'prompt') return { prompt: label }
    const [, source = '', place = ''] = /^([a-z]+):(.+)$/.exec(answer) ?? []
    if (SOURCES.includes(source)) return { [source]: place } as unknown as SecretSource
    await terminal.say('  that names no place: the entry says where the secret is, never what it is\n')
  }
}

const MAX_BYTES = 16 * 1_048_576

/** The list stands beside the credential file. */
function knownSchemesFile(credentialFile: string): string {
  return join(dirname(credentialFile), 'known-schemes.json')
}

/**
 * Passes a scheme that is new in its document, or one of whose `fingerprints` is the one that the user agreed to.
 *
 * Errors: `SCHEME_CHANGED` with the fingerprints; `CONFIG_INVALID` for a list that cannot be read.
 */
async function checkUnchanged(
  file: string,
  { name, pointer }: { readonly name: string; readonly pointer: string },
  document: string,
  fingerprints: readonly string[],
): Promise<void> {
  const known = ownString(own(await read(file), keyOf(document)), name)
  if (known === undefined || fingerprints.includes(known)) return
  throw new SelectionError('SCHEME_CHANGED', `${quoted(name)} is not what you agreed to when you trusted it in this document`, {
    pointer,
    ref: name,
    url: document,
    expected: known,
    actual: fingerprints.join(', '),
    hint: `if its provider announced the change, remove ${quoted(name)} under "${keyOf(document)}" from ${file} and look closely when you are asked again`,
  })
}

/** Remembers what the user has agreed to. Errors: those of the file system, `CONFIG_INVALID`. */
function remember(file: string, name: string, document: string, fingerprint: string): Promise<void> {
  return replacePrivateFile(file, async () => {
    const documents = await read(file)
    const known = own(documents, keyOf(document))
    const schemes = withMember(isObject(known) ? known : {}, name, fingerprint)
    return `${JSON.stringify({ version: 1, documents: withMember(documents, keyOf(document), schemes) }, undefined, 2)}\n`
  })
}

/** A name may be `__proto__`: it becomes a member like any other. */
function withMember(object: JsonObject, name: string, value: unknown): JsonObject {
  return Object.fromEntries([...Object.entries(object).filter(([other]) => other !== name), [name, value]])
}

/** Queries can hold signatures and keys: they are told apart and not kept. */
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
    // The platform's own message would quote the text.
  }
  throw broken(file, 'is damaged')
}

function broken(file: string, problem: string): ConfigurationError {
  return new ConfigurationError('CONFIG_INVALID', `the list of schemes that you agreed to, ${file}, ${problem}`, {
    hint: 'restore it, or remove it: you will not be warned of changes then',
  })
}
