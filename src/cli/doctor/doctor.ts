/** Runs all checks of `doctor` and prints them. */
import type { CredentialObject, CredentialSet } from '../../auth/credential.ts'
import { isAuthError } from '../../errors.ts'
import { isAddress } from '../../http/url.ts'
import { plural } from '../../lint/reporters/report.ts'
import { undiciTransport } from '../../node/transport/index.ts'
import { forJson, forLine, hintLines } from '../../text/sanitize.ts'
import type { Context } from '../context.ts'
import { exitCodeOf, usageError, worstExit } from '../exit-code.ts'
import { styleOf, write } from '../io.ts'
import { openAuth } from '../open-auth.ts'
import type { CredentialsOption } from '../options.ts'
import { readDocument } from '../read-document.ts'
import { loggedTransport } from '../request-log.ts'
import { documentWord, namingDocument, withProviderHint, withSetupHint } from '../setup-hint.ts'
import { type Check, failed } from './check.ts'
import { documentChecks, loginChecks, requestChecks } from './credential-checks.ts'
import * as local from './local-checks.ts'
import { discoveryChecks, hostChecks, originsOf, settingChecks } from './network-checks.ts'
import { registryChecks } from './provider-checks.ts'

export interface DoctorOptions extends CredentialsOption {
  readonly json?: boolean
  readonly offline?: boolean
  readonly test?: boolean
}

/** Prints the checks and returns the exit code of the worst failed one. Errors: `USAGE`, `ABORTED`. */
export async function doctor(name: string | undefined, options: DoctorOptions, context: Context): Promise<number> {
  if (options.test && (name === undefined || options.offline))
    throw usageError('--test needs a document and the network', 'stac-auth doctor DOC --test')
  const found = await checksOf(name, options, context)
  const checks =
    name === undefined ? found : found.map((check) => (check.hint ? { ...check, hint: namingDocument(check.hint, name) } : check))
  const isComplete = name === undefined || options.test || options.offline
  const untested = isComplete ? '' : `; stac-auth doctor ${documentWord(name)} --test also tries each credential`
  await write(context.io.stdout, options.json ? `${forJson(checks, 2)}\n` : textOf(checks, untested, context))
  return worstExit(checks.filter(({ level }) => level === 'error').map(({ code = 'INTERNAL' }) => exitCodeOf(code)))
}

/** Runs the checks: those of one kind at the same time. */
async function checksOf(name: string | undefined, options: DoctorOptions, context: Context): Promise<readonly Check[]> {
  const { io } = context
  const { set, credentials, tokens, checks } = await local.readCredentialFile(options, io)
  const isBroken = checks.some(({ level }) => level === 'error')
  const auth = openAuth({ ...context, diagnostics: { ...context.diagnostics, warn: () => {} } }, options, name === undefined ? [] : [name])
  const [secrets, ports, folders, store, logins, settings] = await Promise.all([
    local.secretChecks(set),
    local.redirectPortChecks(set),
    local.programFolderChecks(options, io),
    tokens ? local.sharedStoreCheck(tokens) : local.tokenStoreCheck(io).then((check) => [check]),
    isBroken ? { checks: [], byPerson: true } : auth().then(loginChecks),
    settingChecks(io),
  ])
  const offline = [
    ...local.versionChecks(),
    ...checks,
    ...local.environmentChecks(io),
    ...local.packageChecks(set),
    ...registryChecks(set),
    ...secrets,
    ...ports,
    ...folders,
    ...store.map((one) => (logins.byPerson ? one : unneeded(one))),
    // A store that fails is one problem, not one of the logins as well.
    ...logins.checks.filter(({ message }) => !store.some((one) => one.level === 'error' && one.message === message)),
    ...settings,
  ]
  const documentOf = async (isTested: boolean) =>
    name === undefined || isBroken ? [] : checksOfDocument(name, isTested, set, auth, context)
  if (options.offline) {
    if (name !== undefined && !isBroken && isAddress(name))
      throw usageError('--offline reads no document from a URL', 'give a file, or leave out --offline')
    return [...offline, ...(await documentOf(false))]
  }
  const { transport: send = undiciTransport({ env: { ...io.env } }) } = await loggedTransport(context)
  const [queue, hosts, discovery, document] = await Promise.all([
    local.queueChecks(io),
    originsOf(credentials, set).then((origins) => hostChecks(origins, send, io.signal)),
    discoveryChecks(set, send, io.signal),
    documentOf(options.test === true),
  ])
  return [...offline, ...queue, ...hosts, ...discovery, ...document]
}

/** Where a token store cannot be written, only logins fail: other tokens are kept in memory. */
function unneeded(store: Check): Check {
  return store.level === 'error' && store.code === 'CACHE_NOT_WRITABLE' ? { ...store, level: 'warning' } : store
}

async function checksOfDocument(
  name: string,
  isTested: boolean,
  set: CredentialSet<CredentialObject>,
  auth: ReturnType<typeof openAuth>,
  { io }: Context,
): Promise<readonly Check[]> {
  try {
    const read = await readDocument(name, io, auth)
    const opened = await auth()
    const checks = await documentChecks(read, opened, set, name)
    return isTested ? [...checks, ...(await requestChecks(read, opened, io.signal))] : checks
  } catch (error) {
    if (isAuthError(error) && error.code === 'ABORTED') throw error
    return [failed('document', isAuthError(error) ? await withProviderHint(withSetupHint(error, [name])) : error)]
  }
}

function textOf(checks: readonly Check[], untested: string, { io }: Context): string {
  const { green, yellow, red } = styleOf(io, io.stdout)
  const labels = { ok: green('ok     '), warning: yellow('warning'), error: red('error  ') }
  const lines = checks.flatMap(({ check, level, message, code, hint }) => {
    const text = `${labels[level]} ${forLine(check)}: ${code === undefined || level === 'ok' ? '' : `${code}: `}${forLine(message)}`
    return [text, ...hintLines(hint, '        ')]
  })
  const count = (level: Check['level']) => checks.filter((check) => check.level === level).length
  const [errors, warnings] = [count('error'), count('warning')]
  const summary = errors + warnings === 0 ? `no problem found${untested}` : `${plural(errors, 'error')}, ${plural(warnings, 'warning')}`
  return `${[...lines, '', summary].join('\n')}\n`
}
