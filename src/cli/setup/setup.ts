/** `setup`: asks for every credential that documents need, logs in, and tests each with one small request. */
import { existsSync } from 'node:fs'
import { type AuthError, CredentialError, isAuthError } from '../../errors.ts'
import { isAddress } from '../../http/url.ts'
import type { Provider } from '../../providers/provider.ts'
import { providers } from '../../providers/registry.ts'
import type { StacDocument } from '../../stac/document.ts'
import { forJson, forLine, forUrl } from '../../text/sanitize.ts'
import type { Context } from '../context.ts'
import { type AskingCommand, askAll, checkSchemes, credentialsToAdd, namesText } from '../credentials/create-credentials.ts'
import { needsOf } from '../credentials/missing-credentials.ts'
import { type NeededBy, neededBy, userCredentials } from '../credentials/needed-credentials.ts'
import { atTerminal, isTerminal, Terminal } from '../credentials/terminal.ts'
import { EXIT, exitCodeOf, usageError, worstExit } from '../exit-code.ts'
import { styleOf, withoutRepeats, write } from '../io.ts'
import { nearProvider } from '../known-providers.ts'
import { logInAll } from '../login.ts'
import { openAuth } from '../open-auth.ts'
import type { ReadDocument } from '../read-document.ts'
import { askedSchemes, type DocumentNeeds, providersOf } from './needed-providers.ts'
import { checkWay, type ProviderSetUp, setUpByName, setUpProvider } from './provider-setup.ts'
import { documentBelow, exitOfNeeds, exitOfReport, inventoryText, nextText, providerText, reportOf, reportOfProvider } from './report.ts'
import { COMMAND, type Run, retyped, type SetupOptions } from './run.ts'
import { type Tested, type TestResult, testOf, testText } from './test-request.ts'

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
  const asker: AskingCommand = { command: COMMAND, optional: true, privateHosts: true, terminal: new Terminal(context.io), onWritten }
  const run: Run = { options, asker, context }
  if (options.json || options.dryRun) return report(names, run)
  const exits: number[] = []
  const documents: [name: string, read: ReadDocument][] = []
  for (const given of names) {
    const provider = providerNamed(given)
    if (provider) {
      exits.push(await setUpByName(provider, run).catch((error) => interrupted(error, isWritten, context)))
      continue
    }
    const { name, read, failures } = await setUp(given, run).catch((error) => interrupted(error, isWritten, context))
    documents.push([name, read])
    exits.push(...failures.map(({ code }) => exitCodeOf(code)))
  }
  return worstExit([...exits, ...(await test(documents, run))])
}

/** Returns the provider of that id, which takes precedence over a file of that name. Errors: `USAGE` for an id that is neither. */
function providerNamed(name: string): Provider | undefined {
  const found = providers.find(({ id }) => id === name.toLowerCase())
  if (found || !/^[a-z][a-z0-9 -]*$/i.test(name) || existsSync(name)) return found
  const near = nearProvider(name)
  const hint = `${near === undefined ? '' : `did you mean ${near}? `}stac-auth providers lists them`
  throw usageError(`"${name}" is neither a file nor a known provider`, hint)
}

async function interrupted(error: unknown, isWritten: boolean, { diagnostics }: Context): Promise<never> {
  if (isWritten && isAuthError(error) && error.code === 'ABORTED')
    await diagnostics.note('credentials that were written are kept; run the same command again for the rest')
  throw error
}

/** Shows what documents need, and which providers are set up, without a question. */
async function report(names: readonly string[], run: Run): Promise<number> {
  const { options, context } = run
  const { io } = context
  const style = styleOf(io, io.stdout)
  const printed: object[] = []
  const exits: number[] = []
  for (const name of names) {
    const provider = providerNamed(name)
    if (provider) {
      checkWay(provider, options)
      const { credentials } = await userCredentials(options, context)
      const state = reportOfProvider(provider, credentials, options.way)
      printed.push(...state)
      exits.push(exitOfReport(state))
      if (!options.json) await write(io.stdout, providerText(provider, credentials, style))
      continue
    }
    const { found } = await lookBelow(name, run)
    printed.push(...reportOf(found))
    exits.push(exitOfNeeds(found))
    if (!options.json) await write(io.stdout, inventoryText(found, style))
  }
  if (options.json) await write(io.stdout, `${forJson(printed, 2)}\n`)
  return worstExit(exits)
}

/** The documents between a catalog and its first item. */
const MAX_STEPS = 5

/** Finds what a document needs; where that is nothing, what the first document needs that it links to on its origin or in its folder. */
async function lookBelow(given: string, run: Run): Promise<{ readonly name: string; readonly found: DocumentNeeds }> {
  let name = given
  let found = await look(name, run)
  for (let steps = 0; steps < MAX_STEPS; steps++) {
    const next = isNothing(found) ? documentBelow(name, found.read) : undefined
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

function isNothing({ needs, providers: { needed, answered } }: DocumentNeeds): boolean {
  return [needs.answered, needs.wanted, needs.unusable, needed, answered].every(({ length }) => length === 0)
}

/** Removes the query of a URL, which may contain keys and signatures. */
function shown(name: string): string {
  return isAddress(name) ? forUrl(name) : forLine(name)
}

/**
 * Finds what a document needs. Where it cannot be read without a credential, asks for one, and logs in. Errors: those of
 * {@link neededBy}, of the login.
 */
async function look(name: string, run: Run, known?: ReadDocument): Promise<DocumentNeeds> {
  for (;;) {
    try {
      const found = await lookOnce(name, run, known)
      return { ...found, providers: await providersOf(found, run.context.io.env, run.options.way !== undefined) }
    } catch (error) {
      if (!isAuthError(error) || error.code !== 'AUTH_REJECTED' || !(await isRepaired(name, error, run))) throw error
    }
  }
}

/** Asks for the credential of a document that was refused, or for its secret again. Returns true if there is something new to try. */
async function isRepaired(name: string, refusal: AuthError, run: Run): Promise<boolean> {
  const { options, context } = run
  if (options.dryRun || options.json || !isTerminal(context.io)) return false
  if (refusal.credential !== undefined) {
    await context.diagnostics.error(refusal)
    return retyped(refusal.credential, refusal, run)
  }
  const known = await providerOfDocument(name, refusal, run)
  if (known) return known.credentials.length > 0 && !known.wasThere
  const { credentialOfDocument } = await import('./protected-document.ts')
  const created = await credentialOfDocument(name, refusal, run)
  await logInOrThrow(created, run)
  return created.length > 0
}

/** Sets up the known provider of a document that was refused; returns undefined for a document of an unknown host. */
async function providerOfDocument(name: string, { url }: AuthError, run: Run): Promise<ProviderSetUp | undefined> {
  const { options, asker, context } = run
  if (!isAddress(name) || url === undefined || new URL(url).origin !== new URL(name).origin) return undefined
  const document = { type: 'Feature', links: [{ rel: 'self', href: name }], assets: { document: { href: name } } } as StacDocument
  const auth = await openAuth(context, { ...options, mayBeMissing: true }, [name])()
  const read = { document, url: name }
  const { needed } = await providersOf({ read, needs: await needsOf(read, auth), auth }, context.io.env)
  const [first] = needed
  return first && setUpProvider(first.provider, first.ways, `${asker.command} ${first.provider.id}`, run)
}

/** Logs in before a document can be read. Errors: that of the first login that fails, which is not shown here. */
async function logInOrThrow(credentials: readonly string[], { options, context }: Run): Promise<void> {
  const diagnostics = { ...context.diagnostics, error: async () => {} }
  const [failure] = await logInAll(credentials, options, { ...context, diagnostics })
  if (failure) throw failure
}

async function lookOnce(name: string, run: Run, known?: ReadDocument): Promise<NeededBy> {
  const { options, asker, context } = run
  const user = await userCredentials(options, context)
  const found = await neededBy(name, user, options, asker, context, known)
  if (!('waiting' in found)) return found
  if (options.dryRun || options.json)
    throw new CredentialError('LOGIN_REQUIRED', `"${name}" cannot be read before a login`, {
      credential: found.waiting,
      hint: `stac-auth login ${found.waiting}`,
    })
  await logInOrThrow([found.waiting], run)
  const again = await neededBy(name, user, options, asker, context)
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
  const { read, needs, occasion, providers: known } = found
  const asked = askedSchemes(needs.wanted, known)
  await checkSchemes(asked, occasion)
  await write(io.stderr, inventoryText(found, styleOf(io, io.stderr)))
  const [first] = known.needed
  const hasWay = known.needed.some(({ provider }) => provider.ways.some(({ id }) => id === options.way))
  if (first && !hasWay) checkWay(first.provider, options)
  const created: string[] = []
  for (const { provider, ways } of known.needed)
    created.push(...(await setUpProvider(provider, ways, occasion.asker.command, run)).credentials)
  if (asked.length > 0 && !isTerminal(io)) {
    const message = `no credential matches ${namesText(asked)}, and setup asks for one ${atTerminal(io)}`
    throw usageError(message, credentialsToAdd(asked, occasion))
  }
  if (asked.length > 0) await write(io.stderr, '\n')
  const { credentials } = await userCredentials(options, context)
  created.push(...(await askAll(asked, { ...occasion, credentials }, context)))
  const waiting = [...needs.answered, ...known.answered].filter(({ loginRequired }) => loginRequired)
  const ids = [...created, ...waiting.map(({ credential }) => credential)]
  return { name, read, failures: await logInAll(ids, options, context) }
}

/** Tests each scheme, and each provider, that has a credential, and shows what to do next. */
async function test(documents: readonly (readonly [name: string, read: ReadDocument])[], run: Run): Promise<readonly number[]> {
  const { io, diagnostics } = run.context
  const exits: number[] = []
  let isFirst = true
  let next = ''
  for (const [name, read] of documents) {
    const found = await look(name, run, read)
    const ready = testsOf(found)
    if (ready.length > 0 && isFirst) await write(io.stdout, 'one small request for each scheme:\n')
    if (ready.length > 0) isFirst = false
    const results = []
    for (const one of ready) results.push(await testScheme(one, name, run))
    const works = results.find(({ error }) => error === undefined)
    if (works && next === '') next = `next:\n${nextText(name, works.scheme.target)}`
    exits.push(exitOfNeeds(found), ...results.map(({ error }) => (error ? exitCodeOf(error.code) : EXIT.done)))
    const titles = found.providers.needed.map(({ provider }) => provider.title)
    const asked = askedSchemes(found.needs.wanted, found.providers)
    const names = [...titles, ...(asked.length > 0 ? [namesText(asked)] : [])].join(', ')
    if (names !== '') await diagnostics.note(`${names} still without a credential: run ${COMMAND} ${name} again`)
  }
  await write(io.stdout, next)
  return exits
}

/** Returns a target of each scheme and provider that has a credential. */
function testsOf({ needs, providers: { answered } }: DocumentNeeds): readonly Tested[] {
  const schemes = needs.answered.map((one) => ({ ...one, target: { ...one.target, refs: [one.name] } }))
  const files = answered.map((one) => ({ ...one, name: one.provider.title }))
  return [...schemes, ...files].filter(({ loginRequired }) => !loginRequired)
}

/** Tests one scheme of a document; a refused secret can be typed again. */
async function testScheme(scheme: Tested, name: string, run: Run): Promise<TestResult> {
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
