/** `setup`: asks for every credential that documents need, logs in, and tests each with one small request. */
import { loadStrategies } from '../../auth/strategy.ts'
import { type AuthError, CredentialError, type ErrorCode, isAuthError } from '../../errors.ts'
import { isAddress } from '../../http/url.ts'
import { isStored, replaceSecret } from '../../node/credentials/store-secret.ts'
import { defaultStrategies } from '../../strategies/index.ts'
import { forJson, forLine, forUrl } from '../../text/sanitize.ts'
import type { Context } from '../context.ts'
import { askAll, checkSchemes, credentialsToAdd, type Errand, namesText } from '../credentials/create-credentials.ts'
import type { AnsweredScheme, NewCredentialOptions } from '../credentials/missing-credentials.ts'
import { type NeededBy, neededBy, userCredentials } from '../credentials/needed-credentials.ts'
import { quoted } from '../credentials/question.ts'
import { atTerminal, isTerminal, Terminal } from '../credentials/terminal.ts'
import { EXIT, exitCodeOf, usageError, worstExit } from '../exit-code.ts'
import type { Diagnostics } from '../io.ts'
import { styleOf, write } from '../io.ts'
import { logInAll } from '../login.ts'
import { openAuth } from '../open-auth.ts'
import type { CredentialsOption } from '../options.ts'
import type { ReadDocument } from '../read-document.ts'
import { guided } from './questions.ts'
import { documentBelow, exitOfNeeds, inventoryText, nextText, reportOf } from './report.ts'
import { type TestResult, testOf, testText } from './test-request.ts'

export interface SetupOptions extends CredentialsOption, Pick<NewCredentialOptions, 'scope' | 'redirectHost'> {
  readonly browser?: boolean
  readonly port?: number
  readonly dryRun?: boolean
  readonly json?: boolean
}

const COMMAND = 'stac-auth setup'

/** One run of the command. */
interface Run {
  readonly options: SetupOptions
  readonly errand: Errand
  readonly context: Context
}

/**
 * Sets up the credentials for documents. With `dryRun` or `json` nothing is asked, written or tested.
 *
 * Errors: `USAGE` where something must be asked and there is no terminal, `ABORTED`, those of {@link neededBy} and {@link askAll}.
 */
export async function setup(names: readonly string[], options: SetupOptions, shared: Context): Promise<number> {
  const context = { ...shared, diagnostics: withoutRepeats(shared.diagnostics) }
  let isWritten = false
  const onWritten = () => {
    isWritten = true
  }
  const errand: Errand = { command: COMMAND, privateHosts: true, questions: guided, terminal: new Terminal(context.io), onWritten }
  const run: Run = { options, errand, context }
  if (options.json || options.dryRun) return report(names, run)
  const exits: number[] = []
  const documents: [name: string, read: ReadDocument][] = []
  for (const given of names) {
    const { name, read, failures } = await setUp(given, run).catch((error) => interrupted(error, isWritten, context))
    documents.push([name, read])
    exits.push(...failures.map(({ code }) => exitCodeOf(code)))
  }
  return worstExit([...exits, ...(await test(documents, run))])
}

/** Shows each warning once: the credentials are read again after every change. */
function withoutRepeats(diagnostics: Diagnostics): Diagnostics {
  const shown = new Set<string>()
  return {
    ...diagnostics,
    warn: (warning) => {
      const text = JSON.stringify(warning)
      if (!shown.has(text)) diagnostics.warn(warning)
      shown.add(text)
    },
  }
}

async function interrupted(error: unknown, isWritten: boolean, { diagnostics }: Context): Promise<never> {
  if (isWritten && isAuthError(error) && error.code === 'ABORTED')
    await diagnostics.note('credentials that were written are kept; run the same command again for the rest')
  throw error
}

/** Shows what documents need, without a question. */
async function report(names: readonly string[], run: Run): Promise<number> {
  const { io } = run.context
  const found: NeededBy[] = []
  for (const name of names) found.push((await lookBelow(name, run)).found)
  if (run.options.json) await write(io.stdout, `${forJson(found.flatMap(reportOf), 2)}\n`)
  else for (const one of found) await write(io.stdout, inventoryText(one, styleOf(io, io.stdout)))
  return worstExit(found.map(({ needs }) => exitOfNeeds(needs)))
}

/** The documents between a catalog and its first item. */
const MAX_STEPS = 5

/** Finds what a document needs; where that is nothing, what the first document needs that it links to on its origin or in its folder. */
async function lookBelow(given: string, run: Run): Promise<{ readonly name: string; readonly found: NeededBy }> {
  let name = given
  let found = await look(name, run)
  for (let steps = 0; steps < MAX_STEPS; steps++) {
    const { answered, wanted, unusable } = found.needs
    const next = answered.length + wanted.length + unusable.length === 0 ? documentBelow(name, found.read) : undefined
    if (next === undefined) break
    try {
      found = await look(next, run)
      name = next
    } catch (error) {
      if (!isAuthError(error) || error.code === 'ABORTED') throw error
      break
    }
  }
  if (name !== given)
    await run.context.diagnostics.note(`"${shown(given)}" needs no credential itself, so its first document is used: ${shown(name)}`)
  return { name, found }
}

/** Removes the query of a URL, which may contain keys and signatures. */
function shown(name: string): string {
  return isAddress(name) ? forUrl(name) : forLine(name)
}

/**
 * Finds what a document needs. Where it cannot be read without a credential, asks for one, and logs in. Errors: those of
 * {@link neededBy}, of the login.
 */
async function look(name: string, run: Run, known?: ReadDocument): Promise<NeededBy> {
  for (;;) {
    try {
      return await lookOnce(name, run, known)
    } catch (error) {
      if (!isAuthError(error) || error.code !== 'AUTH_REJECTED' || !(await isRepaired(name, error, run))) throw error
    }
  }
}

/** Asks for the credential of a document that was refused, or for its secret again. Returns true if there is something new to try. */
async function isRepaired(name: string, refusal: AuthError, run: Run): Promise<boolean> {
  const { options, errand, context } = run
  if (options.dryRun || options.json || !isTerminal(context.io)) return false
  if (refusal.credential !== undefined) {
    await context.diagnostics.error(refusal)
    return retyped(refusal.credential, refusal, run)
  }
  const { credentialOfDocument } = await import('./protected-document.ts')
  const created = await credentialOfDocument(name, refusal, options, errand, context)
  await logInOrThrow(created, run)
  return created.length > 0
}

/** Logs in before a document can be read. Errors: that of the first login that fails, which is not shown here. */
async function logInOrThrow(credentials: readonly string[], { options, context }: Run): Promise<void> {
  const diagnostics = { ...context.diagnostics, error: async () => {} }
  const [failure] = await logInAll(credentials, options, { ...context, diagnostics })
  if (failure) throw failure
}

async function lookOnce(name: string, run: Run, known?: ReadDocument): Promise<NeededBy> {
  const { options, errand, context } = run
  const user = await userCredentials(options, context)
  const found = await neededBy(name, user, options, errand, context, known)
  if (!('waiting' in found)) return found
  if (options.dryRun || options.json)
    throw new CredentialError('LOGIN_REQUIRED', `"${name}" cannot be read before a login`, {
      credential: found.waiting,
      hint: `stac-auth login ${found.waiting}`,
    })
  await logInOrThrow([found.waiting], run)
  const again = await neededBy(name, user, options, errand, context)
  if ('waiting' in again) throw usageError(`"${name}" cannot be read: log in with stac-auth login ${again.waiting}`)
  return again
}

/** Asks for what a document needs and logs in. Returns the errors of failed logins. */
async function setUp(
  given: string,
  run: Run,
): Promise<{ readonly name: string; readonly read: ReadDocument; readonly failures: readonly AuthError[] }> {
  const { options, context } = run
  const { io } = context
  const { name, found } = await lookBelow(given, run)
  const { read, needs, occasion } = found
  const { wanted, answered } = needs
  await checkSchemes(wanted, occasion)
  await write(io.stderr, inventoryText(found, styleOf(io, io.stderr)))
  if (wanted.length > 0 && !isTerminal(io)) {
    const message = `no credential matches ${namesText(wanted.map(({ name }) => name))}, and setup asks for one ${atTerminal(io)}`
    throw usageError(message, credentialsToAdd(wanted, occasion))
  }
  const created = await askAll(wanted, occasion, context)
  const waiting = answered.filter(({ loginRequired }) => loginRequired).map(({ credential }) => credential)
  return { name, read, failures: await logInAll([...created, ...waiting], options, context) }
}

/** Tests each scheme that has a credential, and shows what to do next. */
async function test(documents: readonly (readonly [name: string, read: ReadDocument])[], run: Run): Promise<readonly number[]> {
  const { io, diagnostics } = run.context
  const exits: number[] = []
  let isFirst = true
  let next = ''
  for (const [name, read] of documents) {
    const { needs } = await look(name, run, read)
    const ready = needs.answered.filter(({ loginRequired }) => !loginRequired)
    if (ready.length > 0 && isFirst) await write(io.stdout, 'one small request for each scheme:\n')
    if (ready.length > 0) isFirst = false
    const results = []
    for (const scheme of ready) results.push(await testScheme(scheme, name, run))
    const works = results.find(({ error }) => error === undefined)
    if (works && next === '') next = `next:\n${nextText(name, works.target)}`
    exits.push(exitOfNeeds(needs), ...results.map(({ error }) => (error ? exitCodeOf(error.code) : EXIT.done)))
    if (needs.wanted.length === 0) continue
    const names = namesText(needs.wanted.map(({ name }) => name))
    await diagnostics.note(`${names} still without a credential: run ${COMMAND} ${name} again`)
  }
  await write(io.stdout, next)
  return exits
}

/** Tests one scheme of a document; a refused secret can be typed again. */
async function testScheme(scheme: AnsweredScheme, name: string, run: Run): Promise<TestResult> {
  const { options, context } = run
  const { io } = context
  for (;;) {
    // Opened anew, because a secret is read once.
    const auth = await openAuth(context, { ...options, mayBeMissing: true }, [name])()
    const result = await testOf(scheme, auth, io.signal)
    await write(io.stdout, testText(result, styleOf(io, io.stdout)))
    if (!result.error || !isTerminal(io) || !(await retyped(scheme.credential, result.error, run))) return result
  }
}

/** Errors that a wrong secret causes. */
const WRONG_SECRET: readonly ErrorCode[] = ['AUTH_REJECTED', 'CREDENTIAL_VALUE_INVALID', 'OAUTH_ERROR']

/**
 * Offers to type the secrets again that `setup` has stored for a credential, or for the one that it names in `with` or `subject`. Returns
 * true if they were replaced.
 */
async function retyped(id: string, { code }: AuthError, { options, errand, context }: Run): Promise<boolean> {
  const { io } = context
  const { terminal } = errand
  if (!terminal || !WRONG_SECRET.includes(code)) return false
  const { credentials, file } = await userCredentials(options, context)
  const own = credentials.find((one) => one.id === id)
  const chain = [own, credentials.find((one) => one.id !== undefined && one.id === (own?.with ?? own?.subject))]
  const secrets = chain.map((one) => ({
    id: one?.id,
    type: one?.type,
    name: one?.username ?? one?.clientId,
    stored: Object.entries(one ?? {}).filter(([, source]) => isStored(source, io.env)),
  }))
  const wrong = secrets.find(({ stored }) => stored.length > 0)
  if (!wrong) return false
  // It was typed as well, and may be what is wrong.
  if (typeof wrong.name === 'string')
    await context.diagnostics.note(`"${wrong.id}" is for ${quoted(wrong.name)}; if that is wrong, correct it in ${file}`)
  const answer = await terminal.ask(`Type the ${wrong.stored.length === 1 ? 'secret' : 'secrets'} of "${wrong.id}" again?  [y]es / [N]o `)
  if (!/^y(?:es)?$/i.test(answer)) return false
  const strategy = (await loadStrategies(defaultStrategies)).find(({ type }) => type === wrong.type)
  for (const [name, source] of wrong.stored) {
    const label = strategy?.forms.flatMap(({ fields }) => fields[name]?.label ?? [])[0] ?? name
    const text = await terminal.askHidden(`  ${label}, not shown (press Enter to keep it): `)
    if (text !== '' && isStored(source, io.env)) await replaceSecret(source, text)
  }
  return true
}
