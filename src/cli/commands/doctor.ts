import type { Command } from 'commander'
import { isAuthError } from '../../errors.ts'
import { isAddress } from '../../http/url.ts'
import { plural } from '../../lint/reporters/report.ts'
import { forJson, forLine, hintLines } from '../../text/sanitize.ts'
import type { Context } from '../context.ts'
import type { Check } from '../doctor/check.ts'
import { exitCodeOf, usageError, worstExit } from '../exit-code.ts'
import { styleOf, write } from '../io.ts'
import { openAuth } from '../open-auth.ts'
import { type CredentialsOption, withCredentialsOption } from '../options.ts'

interface DoctorOptions extends CredentialsOption {
  readonly json?: boolean
  readonly offline?: boolean
  readonly test?: boolean
}

/** `doctor [DOC]`: checks the installation, the credentials and the network, and says what to do about each fault. */
export function addDoctor(program: Command, context: Context): void {
  const command = program
    .command('doctor [document]')
    .description('check credentials, tokens and network, and say how to repair what is wrong')
  withCredentialsOption(command)
    .option('--offline', 'send no request')
    .option('--test', 'also send a small authorized request for each scheme of the document')
    .option('--json', 'print JSON')
    .action(context.run((name: string | undefined, options: DoctorOptions) => doctor(name, options, context)))
}

async function doctor(name: string | undefined, options: DoctorOptions, context: Context): Promise<number> {
  if (options.test && (name === undefined || options.offline))
    throw usageError('--test needs a document and the network', 'stac-auth doctor DOC --test')
  const checks = await checksOf(name, options, context)
  await write(context.io.stdout, options.json ? `${forJson(checks, 2)}\n` : textOf(checks, context))
  return worstExit(checks.filter(({ level }) => level === 'error').map(({ code = 'INTERNAL' }) => exitCodeOf(code)))
}

/** Runs the checks: those of one kind at the same time. */
async function checksOf(name: string | undefined, options: DoctorOptions, context: Context): Promise<readonly Check[]> {
  const { io } = context
  const local = await import('../doctor/local-checks.ts')
  const network = await import('../doctor/network-checks.ts')
  const { set, credentials, tokens, checks } = await local.readCredentialFile(options, io)
  const isBroken = checks.some(({ level }) => level === 'error')
  const auth = openAuth({ ...context, diagnostics: { ...context.diagnostics, warn: () => {} } }, options, name === undefined ? [] : [name])
  const [secrets, ports, store, logins, settings] = await Promise.all([
    local.secretChecks(set),
    local.redirectPortChecks(set),
    tokens ? local.sharedStoreChecks(tokens) : local.tokenStoreChecks(io),
    isBroken ? [] : auth().then(async (opened) => (await import('../doctor/credential-checks.ts')).loginChecks(opened)),
    network.settingChecks(io),
  ])
  const offline = [
    ...local.versionChecks(),
    ...checks,
    ...local.environmentChecks(io),
    ...local.packageChecks(set),
    ...(set.credentials.some(({ provider }) => provider !== undefined)
      ? (await import('../doctor/provider-checks.ts')).registryChecks(set)
      : []),
    ...secrets,
    ...ports,
    store,
    // A store that fails is one problem, not one of the logins as well.
    ...logins.filter(({ message }) => store.level !== 'error' || store.message !== message),
    ...settings,
  ]
  if (options.offline) {
    if (name === undefined || isBroken) return offline
    if (isAddress(name)) throw usageError('--offline reads no document from a URL', 'give a file, or leave out --offline')
    return [...offline, ...(await checksOfDocument(name, false, set, auth, context))]
  }
  const { undiciTransport } = await import('../../node/transport/index.ts')
  const { loggedTransport } = await import('../request-log.ts')
  const { transport: send = undiciTransport({ env: { ...io.env } }) } = await loggedTransport(context)
  const [hosts, discovery, document] = await Promise.all([
    network.originsOf(credentials, set).then((origins) => network.hostChecks(origins, send, io.signal)),
    network.discoveryChecks(set, send, io.signal),
    name === undefined || isBroken ? [] : checksOfDocument(name, options.test === true, set, auth, context),
  ])
  return [...offline, ...hosts, ...discovery, ...document]
}

async function checksOfDocument(
  name: string,
  isTested: boolean,
  set: Parameters<typeof import('../doctor/credential-checks.ts')['documentChecks']>[2],
  auth: ReturnType<typeof openAuth>,
  { io }: Context,
): Promise<readonly Check[]> {
  const { withProviderHint, withSetupHint } = await import('../setup-hint.ts')
  const { documentChecks, requestChecks } = await import('../doctor/credential-checks.ts')
  const { failed } = await import('../doctor/check.ts')
  const { readDocument } = await import('../read-document.ts')
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

function textOf(checks: readonly Check[], { io }: Context): string {
  const { green, yellow, red } = styleOf(io, io.stdout)
  const labels = { ok: green('ok     '), warning: yellow('warning'), error: red('error  ') }
  const lines = checks.flatMap(({ check, level, message, code, hint }) => {
    const text = `${labels[level]} ${forLine(check)}: ${code === undefined || level === 'ok' ? '' : `${code}: `}${forLine(message)}`
    return [text, ...hintLines(hint, '        ')]
  })
  const count = (level: Check['level']) => checks.filter((check) => check.level === level).length
  const [errors, warnings] = [count('error'), count('warning')]
  const summary = errors + warnings === 0 ? 'no problem found' : `${plural(errors, 'error')}, ${plural(warnings, 'warning')}`
  return `${[...lines, '', summary].join('\n')}\n`
}
