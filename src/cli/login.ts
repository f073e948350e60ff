/** `login`. */
import type { Auth, CredentialStatus, DevicePrompt, Interaction, Redirection } from '../auth/auth.ts'
import { type AuthError, ConfigurationError, CredentialError, isAuthError } from '../errors.ts'
import { plural } from '../lint/reporters/report.ts'
import { loopbackRedirect, openBrowser } from '../node/login/index.ts'
import { defaultTokenFolder, TokenFolder, tokenKeyring } from '../node/tokens/index.ts'
import { forJson, forLine } from '../text/sanitize.ts'
import type { Context } from './context.ts'
import type { MissingCredential, NewCredentialOptions } from './credentials/missing-credentials.ts'
import { credentialsFor, type UserCredentials, userCredentials } from './credentials/needed-credentials.ts'
import { plain, urlText } from './credentials/question.ts'
import { isTerminal, Terminal } from './credentials/terminal.ts'
import { unknownCredential } from './credentials/trust.ts'
import { EXIT, usageError } from './exit-code.ts'
import { withoutRepeats, write } from './io.ts'
import { checkTokenFolder, openAuth } from './open-auth.ts'
import type { CredentialsOption } from './options.ts'
import { isDocumentName } from './read-document.ts'
import { aligned, durationText, expiryText } from './units.ts'

export interface LoginOptions extends CredentialsOption, NewCredentialOptions {
  readonly browser?: boolean
  readonly port?: number
  readonly yes?: boolean
}

/**
 * Logs in with a credential, or with the credentials that a document needs, which are created first if there are none.
 *
 * Errors: those of {@link credentialsFor}, `NO_CREDENTIAL`, `LOGIN_REQUIRED` where nobody is there to log in, `LOGIN_DENIED`, `LOGIN_TIMEOUT`,
 * and those of the provider.
 */
export async function login(name: string, options: LoginOptions, shared: Context, open: typeof openLogins = openLogins): Promise<number> {
  const context = { ...shared, diagnostics: withoutRepeats(shared.diagnostics) }
  const user = await userCredentials(options, context)
  const wanted = await idsFor(name, user, options, context)
  const logins = await open(context, options)
  const known = await logins.status()
  const ids = new Set(wanted.map((id) => loginOf(id, user)))
  const named = loginOf(name, user)
  let asked = false
  for (const id of ids) {
    const state = known.find(({ credential }) => credential === id)
    if (state === undefined || (named !== id && !needsPerson(state))) continue
    asked = true
    if (named !== id && isLoggedIn(state)) await context.diagnostics.note(`"${id}" is logged in already`)
    else await logIn(state, logins, options, context)
  }
  const nothing = [...ids].map((id) => `"${id}" needs no login`).join('\n') || 'no credential for this document needs a login'
  if (!asked) await context.diagnostics.note(nothing)
  return EXIT.done
}

/** Returns the id of the credential whose login another one uses; engines accept chains with an end only. */
function loginOf(id: string, user: UserCredentials): string {
  const via = user.credentials.find((one) => one.id === id)?.with
  return typeof via === 'string' ? loginOf(via, user) : id
}

/** A credential with that id takes precedence over a file of that name. */
async function idsFor(name: string, user: UserCredentials, options: LoginOptions, context: Context): Promise<readonly string[]> {
  if (user.credentials.some(({ id }) => id === name)) return [name]
  if (!isDocumentName(name)) throw unknownCredential(name, user.credentials)
  const { created, fitting } = await credentialsFor(
    name,
    user,
    options,
    { command: 'stac-auth login', choose: withLogin, terminal: new Terminal(context.io) },
    context,
  )
  return [...created, ...fitting]
}

/** Where there is something to log in to, a login does not ask about the rest. */
function withLogin(missing: readonly MissingCredential[], fitting: ReadonlySet<string>): readonly MissingCredential[] {
  const chosen = missing.filter(({ strategy }) => strategy.login !== undefined)
  return chosen.length > 0 || fitting.size > 0 ? chosen : missing
}

/** True for flows in which the user logs in; other flows obtain tokens without the user. */
export function needsPerson({ flow }: CredentialStatus): boolean {
  return flow === 'authorizationCode' || flow === 'implicit'
}

function isLoggedIn({ state, refreshable }: CredentialStatus): boolean {
  return state === 'valid' || refreshable
}

async function logIn(current: CredentialStatus, logins: Logins, options: LoginOptions, context: Context): Promise<void> {
  const { credential } = current
  if (needsPerson(current) && !options.yes && !isTerminal(context.io)) {
    throw new CredentialError('LOGIN_REQUIRED', `cannot log in as "${credential}": there is no terminal`, {
      credential,
      hint: `run stac-auth login ${credential} at a terminal, or use --yes if somebody reads this output`,
    })
  }
  if (needsPerson(current) && !current.persistent)
    throw new ConfigurationError(
      'CONFIG_INVALID',
      `cannot log in as "${credential}": its tokens would be bound to a key that is not stored`,
      {
        credential,
        hint: 'add "dpopKey": { "file": "~/path" } to the credential: a P-256 key in PEM (PKCS #8)',
      },
    )
  const storage = checkTokenFolder(context, credential, options)
  if (needsPerson(current)) await storage
  const isKept = await storage.then(
    () => current.persistent,
    () => false,
  )
  await logins.login(credential, interactionOn(context, credential, options), { signal: context.io.signal })
  const { expiresAt } = (await logins.status()).find((one) => one.credential === credential) ?? {}
  const until = expiresAt === undefined ? '' : ` until ${expiryText(expiresAt, Date.now())}`
  await context.diagnostics.note(
    isKept ? `"${credential}" is logged in${until}` : `"${credential}" obtained a token, which is not stored: each command obtains another`,
  )
}

export interface LogoutOptions extends CredentialsOption {
  readonly all?: boolean
}

/**
 * Removes the tokens of a credential, of all credentials, or of the only one that has any, and revokes them where the credential says how.
 * `all` also removes tokens that belong to no credential of the file, because it was changed, removed or is in another file; not with
 * `--credentials`, because these tokens may belong to a credential of the default file.
 *
 * Errors: `USAGE` when it is not clear whose, `NO_CREDENTIAL`, those of the store and of revocation.
 */
export async function logout(
  name: string | undefined,
  options: LogoutOptions,
  context: Context,
  open: typeof openLogins = openLogins,
): Promise<number> {
  if (name !== undefined && options.all) throw usageError('a credential and --all exclude each other')
  const { credentials } = await userCredentials(options, context)
  if (name !== undefined && !credentials.some(({ id }) => id === name)) throw unknownCredential(name, credentials)
  const logins = await open(context, options)
  const present = (await logins.status()).filter(({ state }) => state !== 'none').map(({ credential }) => credential)
  // What was obtained with a login ends with it.
  const isDerived = (one: string) => present.includes(String(credentials.find(({ id }) => id === one)?.with))
  const own = present.filter((one) => !isDerived(one))
  if (name === undefined && !options.all && own.length > 1)
    throw usageError('several credentials are logged in', `give one of ${own.join(', ')}, or --all`)
  const failures: unknown[] = []
  for (const credential of name === undefined ? own : [name]) {
    if (!(await logins.status()).some((known) => known.credential === credential)) {
      await context.diagnostics.note(`"${credential}" needs no login`)
      continue
    }
    try {
      await logins.logout(credential, { signal: context.io.signal })
      await context.diagnostics.note(`"${credential}" is logged out`)
    } catch (error) {
      failures.push(error)
      const code = isAuthError(error) ? error.code : 'INTERNAL'
      await context.diagnostics.note(`"${credential}" is logged out here, but revocation failed: ${code}`)
    }
  }
  const further = options.all ? await dropLeftovers(options, context).catch((error) => failures.push(error)) : 0
  if (failures.length > 0) throw failures[0]
  if (name === undefined && present.length === 0 && further === 0) await context.diagnostics.note('no credential is logged in')
  return EXIT.done
}

/** Removes the tokens of a credential, if it has any. Errors: those of {@link logout}. */
export async function logoutIfNeeded(id: string, options: CredentialsOption, context: Context): Promise<void> {
  const known = await (await openLogins(context, options)).status()
  if (known.some(({ credential, state }) => credential === id && state !== 'none')) await logout(id, options, context)
}

/**
 * Removes tokens that belong to no known credential, and returns how many there were; their keys say nothing about whose they are. What
 * cannot be removed is left, and the first failure thrown. Errors: `CACHE_UNSAFE`, those of the store.
 */
async function dropLeftovers({ credentials }: LogoutOptions, { io, diagnostics }: Context): Promise<number> {
  const folder = defaultTokenFolder({ ...io.env })
  const keys = folder === undefined ? [] : await new TokenFolder(folder).keys()
  if (folder === undefined || keys.length === 0) return 0
  const whose = `${plural(keys.length, 'token')} of changed or deleted credentials, or of another credential file`
  if (credentials !== undefined) {
    const are = keys.length === 1 ? 'is' : 'are'
    await diagnostics.note(`${whose}, ${are} still stored: use stac-auth logout --all without --credentials to remove them`)
    return keys.length
  }
  // It looks into the keyring as well, where programs of the user may have put some.
  const store = tokenKeyring({ folder, onWarning: diagnostics.warn })
  const failures: unknown[] = []
  for (const key of keys) await store.exclusively(key, () => store.remove(key), io.signal).catch((error) => failures.push(error))
  if (failures.length > 0) throw failures[0]
  await diagnostics.note(`removed ${whose}; nothing was revoked`)
  return keys.length
}

export interface StatusOptions extends CredentialsOption {
  readonly json?: boolean
}

/** Prints for each credential whether there is a token and when it expires, never the token; sends no request. */
export async function status(options: StatusOptions, context: Context, open: typeof openLogins = openLogins): Promise<number> {
  const known = await (await open(context, options)).status()
  const { stdout } = context.io
  await write(stdout, options.json ? `${forJson(known, 2)}\n` : textOf(known))
  return EXIT.done
}

function textOf(known: readonly CredentialStatus[]): string {
  if (known.length === 0)
    return 'no credential uses tokens; stac-auth setup DOC, or setup with a provider of stac-auth providers, makes one\n'
  const rows = known.map((one) => [one.credential, [one.type, one.flow].filter(Boolean).join(' '), stateText(one)].map(forLine))
  return aligned(rows)
    .map((line) => `${line}\n`)
    .join('')
}

function stateText({ credential, state, expiresAt, refreshable, user, scopes = [] }: CredentialStatus): string {
  if (state === 'none') return refreshable ? 'no token yet, obtained when needed' : `not logged in: stac-auth login ${credential}`
  const until = expiresAt === undefined ? '' : ` ${state === 'valid' ? 'until' : 'since'} ${expiryText(expiresAt, Date.now())}`
  return [
    `${state}${until}`,
    ...(user === undefined ? [] : [`as ${user}`]),
    ...(refreshable ? ['refreshed when needed'] : state === 'expired' ? [`stac-auth login ${credential}`] : []),
    ...(scopes.length > 0 ? [`scopes ${scopes.join(' ')}`] : []),
  ].join(', ')
}

/** The engine as far as people log in and out with it. */
export type Logins = Pick<Auth, 'login' | 'logout' | 'status'>

/** The logins of the user's entries. Errors: `CONFIG_INVALID`. */
function openLogins(context: Context, options: CredentialsOption): Promise<Logins> {
  return openAuth(context, options, [])()
}

/**
 * Logs in with those of the credentials that need a person and are not logged in. Returns the errors of logins that failed.
 *
 * Errors: `ABORTED`.
 */
export async function logInAll(ids: readonly string[], options: LoginOptions, context: Context): Promise<readonly AuthError[]> {
  const failures: AuthError[] = []
  if (ids.length === 0) return failures
  const logins = await openLogins(context, options)
  for (const state of await logins.status()) {
    if (!ids.includes(state.credential) || !needsPerson(state) || isLoggedIn(state)) continue
    try {
      await logIn(state, logins, options, context)
    } catch (error) {
      if (!isAuthError(error) || error.code === 'ABORTED') throw error
      failures.push(error)
      await context.diagnostics.error(error)
    }
  }
  return failures
}

/** The ways to log in that a terminal has: a code to type on any device, unless a browser is wanted, or a browser on this machine. */
function interactionOn({ io, diagnostics }: Context, credential: string, { browser = false, port }: LoginOptions): Interaction {
  const show = async (url: string) => {
    await diagnostics.note(`to log in as "${credential}", open this URL in a browser on this machine:\n  ${forLine(url)}`)
    const isRemote = Boolean(io.env.SSH_CONNECTION || io.env.SSH_TTY)
    if ((browser || !isRemote) && (await openBrowser(url, { env: { ...io.env } }))) await diagnostics.note('opening a browser')
  }
  const listen = loopbackRedirect({ show, ...(port !== undefined && { port }) })
  const redirect: typeof listen = async (signal, wish) => {
    const redirection = await listen(signal, wish)
    const isFixed = (port ?? wish?.port) !== undefined
    const answer: Redirection['answer'] = async (...wanted) => {
      const timer = setTimeout(() => void diagnostics.note(waitingText(credential, redirection.uri, isFixed)), WAITING)
      return redirection.answer(...wanted).finally(() => clearTimeout(timer))
    }
    return { ...redirection, answer }
  }
  return browser ? { redirect } : { redirect, device: (prompt) => diagnostics.note(deviceText(prompt, Date.now())) }
}

/** Milliseconds after which a login that waits for the browser says what may be wrong. */
const WAITING = 30_000

/** Providers show an error for a redirect URI that they do not know, and send nothing back. */
function waitingText(credential: string, uri: string, isFixed: boolean): string {
  const lines = [
    `the login of "${plain(credential)}" is still waiting for the browser. If the provider refuses the redirect URI, register it there:`,
    `  ${urlText(uri)}`,
  ]
  if (new URL(uri).hostname === '127.0.0.1') {
    lines.push('If it is registered with localhost, add "redirectHost": "localhost" to the credential')
  }
  if (!isFixed) lines.push(`The port is a free one in each login. To keep it, log in again with --port ${new URL(uri).port}`)
  return lines.join('\n')
}

/** Where to go, what to type there, and until when. */
export function deviceText(prompt: DevicePrompt, now: number): string {
  const { credential, verificationUri, userCode, verificationUriComplete, expiresAt } = prompt
  const lines = [
    `to log in as "${plain(credential)}", open this URL on any device:`,
    `  ${urlText(verificationUri)}`,
    `and enter the code  ${plain(userCode)}`,
  ]
  if (verificationUriComplete !== undefined) lines.push(`or open  ${urlText(verificationUriComplete)}`)
  return [...lines, `the code expires in ${durationText(expiresAt - now)}`].join('\n')
}
