/** Sets up a known provider: asks for what only the user has, and writes its credentials as the registry has them. */
import type { CredentialObject, SecretValue } from '../../auth/credential.ts'
import { loadStrategies } from '../../auth/strategy.ts'
import { isAuthError } from '../../errors.ts'
import { credentialsFrom, type Provider, type Way } from '../../providers/provider.ts'
import { defaultStrategies } from '../../strategies/index.ts'
import { forJson } from '../../text/sanitize.ts'
import { nearMiss } from '../../text/suggest.ts'
import { putCredentials, setFields } from '../credentials/edit-credentials.ts'
import { type UserCredentials, userCredentials } from '../credentials/needed-credentials.ts'
import { freeId, ownProposal, type Proposal } from '../credentials/proposal.ts'
import { detailsText, questionText } from '../credentials/question.ts'
import { askHoles } from '../credentials/questions.ts'
import { atTerminal, isTerminal } from '../credentials/terminal.ts'
import { EXIT, exitCodeOf, usageError } from '../exit-code.ts'
import { write } from '../io.ts'
import { login } from '../login.ts'
import { openAuth } from '../open-auth.ts'
import { accountText, changesText, exampleOf, inOrder, needsAccount, placeholders, type WaySetUp, waysSetUp } from './provider-state.ts'
import { COMMAND, type Run, retyped } from './run.ts'

/** What was done about a provider. */
export interface ProviderSetUp {
  /** Ids of the credentials of the way in; empty if the user did not agree. */
  readonly credentials: readonly string[]
  /** True if they were there before. */
  readonly wasThere: boolean
}

/**
 * Sets up one way in of a provider: the one that `--way` names, else the first of these, or the one that the user chooses among several.
 *
 * Errors: `USAGE` without a terminal (with the credentials to add); `ABORTED`, `CONFIG_INVALID`, those of the file
 * system.
 *
 * @param ways ways in that open different files, the best first
 * @param command the command to repeat at a terminal
 */
export async function setUpProvider(provider: Provider, ways: readonly Way[], command: string, run: Run): Promise<ProviderSetUp> {
  const { options, context } = run
  const user = await userCredentials(options, context)
  const present = waysSetUp(provider, user.credentials)
  const named = provider.ways.find(({ id }) => id === options.way)
  const known = present.find(({ way: used }) => (named ? used === named : isAmong(used, ways)))
  if (known) return update(provider, known, present, user, run)
  if (!isTerminal(context.io)) throw nobodyThere(provider, named ?? (ways[0] as Way), user, command, run)
  const way = named ?? (await chosen(ways, run))
  return create(provider, way, user, run)
}

/** Returns ways in of which none opens the same files as one before it; for a provider that was named without a document. */
export function waysOf({ ways }: Provider, env: Run['context']['io']['env'] = {}): readonly Way[] {
  const kept = new Map<string, Way>()
  for (const way of inOrder(ways, env)) {
    if (!kept.has(filesOf(way))) kept.set(filesOf(way), way)
  }
  return [...kept.values()]
}

/** True for one of these ways in, or for one that opens the same files. */
function isAmong(way: Way, ways: readonly Way[]): boolean {
  return ways.some((one) => one === way || filesOf(one) === filesOf(way))
}

/** The files of a way in: where the last of its credentials may be sent. */
function filesOf({ credentials }: Way): string {
  return forJson(credentials.at(-1)?.sendTo)
}

/** Errors: `USAGE` for a way in that the provider does not have. */
export function checkWay({ id, ways }: Provider, { way: name }: Pick<Run['options'], 'way'>): void {
  if (name === undefined || ways.some((way) => way.id === name)) return
  const ids = ways.map((way) => way.id)
  const near = nearMiss(name, ids)
  throw usageError(`${id} has no way in "${name}"`, `${near === undefined ? '' : `did you mean "${near}"? `}it has ${ids.join(', ')}`)
}

async function chosen(ways: readonly Way[], run: Run): Promise<Way> {
  const [first] = ways
  if (!first || ways.length === 1) return first as Way
  const terminal = run.errand.terminal
  const width = Math.max(...ways.map(({ id }) => id.length))
  await terminal.say('several ways in:\n')
  for (const [index, { id, when }] of ways.entries()) await terminal.say(`  ${index + 1}  ${id.padEnd(width)}  ${when}\n`)
  for (;;) {
    const answer = await terminal.ask('Which?  [1] ')
    const found = answer === '' ? first : ways.find(({ id }, index) => answer === id || answer === String(index + 1))
    if (found) return found
    await terminal.say(`  answer 1 to ${ways.length}, or a name\n`)
  }
}

/** Says that a way in is set up already, and offers what the registry has now. */
async function update(
  provider: Provider,
  known: WaySetUp,
  present: readonly WaySetUp[],
  { file }: UserCredentials,
  run: Run,
): Promise<ProviderSetUp> {
  const { diagnostics, io } = run.context
  const { way, credentials, changes, own } = known
  const ids = credentials.map(({ id }) => String(id))
  const result = { credentials: ids, wasThere: true }
  const all = present.map((one) => `${one.credentials.map(({ id }) => `"${id}"`).join(', ')} (${one.way.id})`).join('; ')
  const [other, ...others] = provider.ways.filter((one) => !present.some((used) => used.way === one))
  const further = others.length === 0 ? '' : ` (or ${others.map(({ id }) => id).join(', ')})`
  const add = other === undefined ? '' : `; to add another way in: ${COMMAND} ${provider.id} --way ${other.id}${further}`
  await diagnostics.note(`${provider.title} is set up already: ${all}${add}`)
  if (changes.length === 0) return result
  await diagnostics.note(`what is known of ${provider.title} has changed since:\n${changesText(changes, own).trimEnd()}`)
  if (!isTerminal(io)) {
    await diagnostics.note(`to take the new values, run ${COMMAND} ${provider.id} --way ${way.id} ${atTerminal(io)}`)
    return result
  }
  const changed = credentials.map((one) => changedBy(one, changes))
  const details = changed.map((entry) => detailsText({ entry, places: [], secretTo: [], browserTo: [], offered: [] })).join('')
  if (!(await run.errand.terminal.agrees(`Take ${changes.length === 1 ? 'this value' : 'these values'}?`, details))) return result
  for (const { id, field, after } of changes) await setFields(file, id, { [field]: after })
  run.errand.onWritten?.()
  await diagnostics.note(`${ids.map((id) => `"${id}"`).join(', ')} in ${file} ${ids.length === 1 ? 'is' : 'are'} up to date`)
  return result
}

/** Names the other ways in. */
function othersText({ ways }: Provider, way: Way): string {
  const others = ways.filter((one) => one !== way).map(({ id }) => `--way ${id}`)
  return others.length === 0 ? '' : `; ${others.length === 1 ? 'another way' : 'other ways'} in: ${others.join(', ')}`
}

function changedBy(credential: CredentialObject, changes: WaySetUp['changes']): CredentialObject {
  const fields = changes.filter(({ id }) => id === credential.id).map(({ field, after }) => [field, after])
  return { ...credential, ...Object.fromEntries(fields) }
}

/** Asks for the yes, then for what only the user has; writes all credentials of the way in together. */
async function create(provider: Provider, way: Way, user: UserCredentials, run: Run): Promise<ProviderSetUp> {
  const { context, errand } = run
  const terminal = run.errand.terminal
  const ids = idsFor(provider, way, user.credentials)
  const proposals = await proposalsOf(provider, way, user.credentials, ids)
  await terminal.say(`\n${provider.title}, by ${way.id}${othersText(provider, way)}\n  ${way.when}\n${accountText(provider)}`)
  for (const proposal of proposals) await terminal.say(questionText(proposal))
  for (const id of ids.replaced) await terminal.say(`  "${id}" takes the place of the credential of that name, which is another way in\n`)
  const what = proposals.length === 1 ? 'this credential' : `these ${proposals.length} credentials`
  if (!(await terminal.agrees(`Create ${what}?`, proposals.map(detailsText).join('')))) return { credentials: [], wasThere: false }
  const asked = withoutKept(way, ids)
  const { answers, note, undo } = await askHoles(ids.of(way.credentials.at(-1)?.id ?? provider.id), asked, terminal, context)
  const values = { ...placeholders(way), ...answers } as Readonly<Record<string, SecretValue>>
  const made = credentialsFrom(provider, way.id, values) as readonly unknown[] as readonly CredentialObject[]
  const written = withIds(made, ids).map((one) => withRedirect(one, run))
  const fresh = written.filter(({ id }) => !ids.kept.has(String(id)))
  try {
    await putCredentials(user.file, fresh)
  } catch (error) {
    await undo()
    throw error
  }
  errand.onWritten?.()
  if (note !== undefined) await context.diagnostics.note(note)
  const list = fresh.map(({ id }) => `"${id}"`).join(', ')
  const which = fresh.length === 1 ? `credential ${list} is` : `credentials ${list} are`
  await context.diagnostics.note(`${which} written to ${user.file}`)
  return { credentials: written.map(({ id }) => String(id)), wasThere: false }
}

/** The ids of new credentials beside those that the user has. */
interface Ids {
  /** Returns the id in the user's file for the one in the registry. */
  of(id: string): string
  /** Ids of credentials that are there already, as the registry has them. */
  readonly kept: ReadonlySet<string>
  /** Ids of credentials of another way in of the provider, whose place is taken. */
  readonly replaced: readonly string[]
}

function idsFor(provider: Provider, way: Way, present: readonly CredentialObject[]): Ids {
  const names = new Map<string, string>()
  const kept = new Set<string>()
  const replaced: string[] = []
  const taken = new Set(present.map(({ id }) => id))
  for (const template of way.credentials) {
    const [alone] = waysSetUp({ ...provider, ways: [{ ...way, credentials: [template] }] }, present)
    const [same] = alone?.changes.length === 0 ? alone.credentials : []
    const before = present.find(({ id }) => id === template.id)
    if (same) kept.add(String(same.id))
    else if (before?.provider === provider.id) replaced.push(template.id)
    names.set(template.id, same ? String(same.id) : before && before.provider !== provider.id ? freeId(template.id, taken) : template.id)
  }
  return { of: (id) => names.get(id) ?? id, kept, replaced }
}

/** Returns the credentials under the ids of the user's file. */
function withIds(credentials: readonly CredentialObject[], ids: Ids): readonly CredentialObject[] {
  return credentials.map((credential) => {
    const links = Object.entries(credential).filter(([name]) => ['id', 'with', 'subject'].includes(name))
    return { ...credential, ...Object.fromEntries(links.map(([name, value]) => [name, ids.of(String(value))])) }
  })
}

/** Adds the redirect URI that the user gives, to a login in the browser. */
function withRedirect(credential: CredentialObject, { options: { port, redirectHost } }: Run): CredentialObject {
  const { type, flow = 'authorizationCode' } = credential
  if (!['oauth2', 'openIdConnect'].includes(type) || flow !== 'authorizationCode') return credential
  return { ...credential, ...(redirectHost !== undefined && { redirectHost }), ...(port !== undefined && { redirectPort: port }) }
}

/** Returns a way in with the holes of the credentials that are not there yet. */
function withoutKept(way: Way, ids: Ids): Way {
  const fresh = forJson(way.credentials.filter(({ id }) => !ids.kept.has(ids.of(id))))
  return { ...way, holes: Object.fromEntries(Object.entries(way.holes).filter(([name]) => fresh.includes(forJson({ hole: name })))) }
}

/** Returns what is shown before the yes: each credential that would be written, with the hosts that get the secret and the token. */
export async function proposalsOf(
  provider: Provider,
  way: Way,
  present: readonly CredentialObject[] = [],
  ids: Ids = idsFor(provider, way, present),
): Promise<readonly Proposal[]> {
  const fresh = withIds(exampleOf(provider, way), ids).filter(({ id }) => !ids.kept.has(String(id)))
  const others = present.filter(({ id }) => !fresh.some((one) => one.id === id))
  return Promise.all(fresh.map((entry, index) => ownProposal(entry, [...others, ...fresh.slice(0, index)])))
}

function nobodyThere(provider: Provider, way: Way, { file }: UserCredentials, command: string, { context }: Run) {
  const entries = exampleOf(provider, way).map((one) => forJson(one))
  const which = entries.length === 1 ? 'this credential' : 'these credentials'
  const why = needsAccount(way) ? 'needs your account' : 'needs your confirmation'
  return usageError(
    `${provider.title} is not set up: it ${why}, and setup asks ${atTerminal(context.io)}`,
    `run ${command} at a terminal, or, if you trust these URLs, add ${which} to ${file}:\n${entries.join('\n')}`,
  )
}

/** Sets up a provider by its name, tests it or logs in, and says what to do next. Returns the exit code. */
export async function setUpByName(provider: Provider, run: Run): Promise<number> {
  checkWay(provider, run.options)
  const { credentials } = await setUpProvider(provider, waysOf(provider, run.context.io.env), `${COMMAND} ${provider.id}`, run)
  if (credentials.length === 0) return EXIT.credentials
  for (;;) {
    try {
      await tryOut(provider, credentials, run)
      await write(run.context.io.stdout, `next:\n  stac-auth download DOC -d data      a document of ${provider.title}, its URL or path\n`)
      return EXIT.done
    } catch (error) {
      if (!isAuthError(error) || error.code === 'ABORTED') throw error
      await run.context.diagnostics.error(error)
      const failed = error.credential ?? credentials.at(-1) ?? ''
      if (!isTerminal(run.context.io) || !(await retyped(failed, error, run))) return exitCodeOf(error.code)
    }
  }
}

/** Logs in where there is something to log in to. */
async function tryOut({ title }: Provider, credentials: readonly string[], { options, context }: Run): Promise<void> {
  const auth = await openAuth(context, options, [])()
  const ids = new Set(credentials)
  const logins = await loadStrategies(defaultStrategies)
  const states = (await auth.status()).filter(({ credential, type }) => {
    return ids.has(credential) && logins.some((strategy) => strategy.type === type && strategy.login !== undefined)
  })
  for (const { credential } of states) await login(credential, options, context)
  if (states.length === 0) await context.diagnostics.note(`${title} is set up; nothing was requested yet`)
}
