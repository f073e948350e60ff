/** From what a document needs to entries of the user, by way of a person who agrees. */
import type { Auth } from '../../auth/auth.ts'
import type { CredentialObject } from '../../auth/credential.ts'
import { CredentialError } from '../../errors.ts'
import { forJson, forLine } from '../../text/sanitize.ts'
import type { Context } from '../context.ts'
import { askFields, isPlace } from './ask-fields.ts'
import { addEntry } from './edit-credentials.ts'
import { quoted } from './inert.ts'
import { checkUnchanged, knownSchemesFile, remember } from './known-schemes.ts'
import { draftFor, fingerprintsOf, proposalOf, type Wishes } from './proposal.ts'
import { detailsText, questionText } from './question.ts'
import { isTerminal, Terminal } from './terminal.ts'
import type { Needs, Wanted } from './wanted.ts'

/** Where it comes from and where it goes. */
export interface Occasion {
  /** Address of the document; absent for standard input, which nobody recognises later. */
  readonly document?: string
  /** What the document is called in the question: its address or its path. */
  readonly title?: string
  /** The credential file. */
  readonly file: string
  /** The entries that there are. */
  readonly entries: readonly CredentialObject[]
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
export async function createEntries(
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
  const entries = [...occasion.entries]
  const reachable = new Set<string>()
  const created: string[] = []
  try {
    for (const wanted of missing) {
      if (wanted.targets.every((target) => reachable.has(target))) continue
      const entry = await ask(terminal, wanted, { ...occasion, entries }, context)
      if (entry === undefined) continue
      const id = String(entry.id)
      await context.diagnostics.note(`entry "${id}" is written to ${occasion.file}`)
      entries.push(entry)
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
  const { document, title = 'standard input', file, entries, wishes } = occasion
  const { entry: draft, open } = draftFor(wanted, entries, wishes)
  const id = String(draft.id)
  if (Object.values(open).some(isPlace)) await terminal.say(`${quoted(wanted.name)} leaves to you:\n`)
  const placed = { ...draft, ...(await askFields(terminal, id, open, isPlace)) }
  const proposal = await proposalOf(title, wanted, placed, entries)
  await terminal.say(questionText(proposal))
  if (!(await terminal.agrees('Create this entry?', detailsText(proposal)))) return undefined
  const answered = { ...placed, ...(await askFields(terminal, id, open, (field) => !isPlace(field))) }
  const entry = { ...answered, ...(await issuerOf(answered, context)) }
  await addEntry(file, entry)
  if (document !== undefined) await remember(knownSchemesFile(file), wanted.name, document, proposal.fingerprint)
  return entry
}

/** For logins at endpoints that the catalog writes out: the name without which ID tokens and answers are compared with nothing. */
async function issuerOf(entry: CredentialObject, { io, diagnostics }: Context): Promise<{ readonly issuer?: string }> {
  const { id, type, flow, issuer, tokenUrl, authorizationUrl } = entry
  if (type !== 'oauth2' || flow !== 'authorizationCode' || issuer !== undefined) return {}
  if (typeof tokenUrl !== 'string' || typeof authorizationUrl !== 'string') return {}
  const [{ findIssuer }, { undiciTransport }] = await Promise.all([
    import('../../strategies/oauth2/find-issuer.ts'),
    import('../../node/undici-transport.ts'),
  ])
  const found = await findIssuer({ tokenUrl, authorizationUrl }, undiciTransport({ env: { ...io.env } }), io.signal)
  if (found === undefined) return {}
  await diagnostics.note(`the issuer of "${id}" is ${forLine(found)}`)
  return { issuer: found }
}

function nobodyThere(missing: readonly Wanted[], { file, entries: present, wishes, errand: { command } }: Occasion): CredentialError {
  const [first] = missing
  const entries = missing.map((wanted) => forJson(draftFor(wanted, present, wishes).entry))
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
