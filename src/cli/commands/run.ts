import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { AbortedError, type AuthError, IntegrityError } from '../../errors.ts'
import { temporaryHint, writeFailure } from '../../node/base/index.ts'
import type { GatewayRequest } from '../../node/gateway/index.ts'
import { catalogsOf } from '../../stac/file-places.ts'
import { errorText } from '../../text/sanitize.ts'
import { commandWord } from '../../text/shell-word.ts'
import type { Context } from '../context.ts'
import { usageError } from '../exit-code.ts'
import { untilInterrupted } from '../io.ts'
import { openAuth } from '../open-auth.ts'
import { type CredentialsOption, withCredentialsOption } from '../options.ts'
import { readDocuments } from '../read-document.ts'

interface RunOptions extends CredentialsOption {
  readonly inheritSecrets?: boolean
  readonly name?: string
  readonly rewrite: boolean
}

const PLACEHOLDERS = `
Placeholders in the arguments of the program:
  {KEY}       the asset with this key; KEY/NAME for an alternate asset
  {ID/KEY}    the same, where several documents have the key
  {url:KEY}   a URL; {vsi:KEY} a file name of GDAL
              (default: a file name for gdal*, ogr*, rio and qgis*, else a URL)
  {catalog}   the URL of the first document
  {{KEY}}     {KEY} itself

Environment of the program:
  STAC_AUTH_GATEWAY       the base URL
  STAC_AUTH_GATEWAY_MAP   a JSON file with the URLs of all assets`

/** `run DOC… -- PROGRAM`: runs a program with a gateway, and URLs of the gateway in its arguments. */
export function addRun(program: Command, context: Context, argv: readonly string[]): void {
  const command = program
    .command('run [arguments...]')
    .usage('[options] [document...] -- <program> [argument...]')
    .description('run a program that reads protected assets through a local gateway')
    .addHelpText('after', PLACEHOLDERS)
  withCredentialsOption(command)
    .option('--inherit-secrets', 'keep variables with secrets in the environment of the program')
    .option('--name <name>', 'use the URLs of the gateway with this name')
    .option('--no-rewrite', 'pass documents through without replacing their URLs')
    .action(
      context.run((words: readonly string[], options: RunOptions) => {
        const { documents, child } = split(words, argv)
        return run(documents, child, options, context)
      }),
    )
}

/** Splits at the first `--`, which the parser has removed. Errors: `USAGE` without a program. */
function split(words: readonly string[], argv: readonly string[]): { documents: readonly string[]; child: readonly string[] } {
  const end = argv.indexOf('--')
  const child = end < 0 ? [] : argv.slice(end + 1)
  if (child.length > 0) return { documents: words.slice(0, words.length - child.length), child }
  const [document, ...rest] = words
  if (end < 0 && document !== undefined && rest.length > 0) {
    const command = ['stac-auth run', commandWord(document), '--', ...rest.map(commandWord)].join(' ')
    throw usageError('-- is missing between the documents and the program', `for example: ${command}`)
  }
  throw usageError('no program is given', 'name it after --, for example: stac-auth run item.json -- gdalinfo {B04}')
}

async function run(names: readonly string[], child: readonly string[], options: RunOptions, context: Context): Promise<number> {
  const { io, diagnostics } = context
  const auth = openAuth(context, options, names)
  const documents = await readDocuments(names, io, auth)
  const { createGateway } = await import('../../node/gateway/index.ts')
  const { Refusals } = await import('../run/refusals.ts')
  const { substitute } = await import('../run/placeholders.ts')
  const { usableTargets } = await import('../run/usable-targets.ts')
  const { withSourcesServed } = await import('../run/source-files.ts')
  const { noteNeededProviders, wholeFileNotes } = await import('./gateway.ts')
  const { providersSetUp, withProviderHint, withSetupHint } = await import('../setup-hint.ts')
  const { runChild } = await import('../run/child-process.ts')
  const refused = new Refusals()
  const noteWhole = wholeFileNotes(context)
  const onRequest = (event: GatewayRequest) => {
    refused.add(event)
    noteWhole(event)
  }
  const catalogs = documents.flatMap(({ document, url }) => catalogsOf(document, url))
  const hinted = (error: AuthError) =>
    withProviderHint(withSetupHint(error, names, true), { ...(error.url !== undefined && { url: error.url }), context: { catalogs } }, () =>
      providersSetUp(options, context),
    )
  const { name, rewrite } = options
  const settings = { documents, rewrite, onRequest, onWarning: context.diagnostics.warn, ...(name !== undefined && { name }) }
  const start = async () => createGateway(await auth(), settings)
  const gateway = await untilInterrupted(start(), io.signal)
  return withCleanups([() => gateway.close()], async (cleanups) => {
    const { base } = gateway
    const [first] = documents
    const targets = await usableTargets(gateway, documents, await auth())
    refused.watch(targets)
    const catalog = first?.url === undefined ? undefined : gateway.urlFor(first.url)
    for (const read of documents) await noteNeededProviders(read, await auth(), context)
    const substituted = substitute(child, { targets, refused: gateway.refused, catalog })
    for (const { key, url, instead } of targets) {
      if (instead && substituted.some((argument) => argument.includes(url)))
        await diagnostics.note(`{${key}} is read from its alternate asset {${instead.key}}, because ${instead.why}`)
    }
    const map = await writeMap({ base, targets: gateway.targets }, cleanups)
    const command = await withSourcesServed(substituted, { ...gateway, isNamed: name !== undefined }, cleanups)
    const environment = await environmentFor({ STAC_AUTH_GATEWAY: base, STAC_AUTH_GATEWAY_MAP: map }, options, io)
    if (io.signal.aborted) throw new AbortedError(io.signal.reason)
    const code = await runChild(command, environment, io)
    if (code !== 0) {
      await noteBareKeys(child, targets, context)
      for (const error of refused.errors()) await diagnostics.error(await hinted(error))
    } else {
      for (const error of refused.unread()) await diagnostics.note(errorText(await hinted(error), 'warning'))
    }
    return code
  })
}

type Cleanup = () => Promise<void>

/** Runs every cleanup at the end, also when another one fails. The error of the use itself comes first. */
async function withCleanups<Result>(cleanups: Cleanup[], use: (cleanups: Cleanup[]) => Promise<Result>): Promise<Result> {
  const [used] = await Promise.allSettled([use(cleanups)])
  const cleaned = await Promise.allSettled(cleanups.map((cleanup) => cleanup()))
  const failed = [used, ...cleaned].find((end) => end.status === 'rejected')
  if (failed) throw failed.reason
  return (used as PromiseFulfilledResult<Result>).value
}

/** Writes the URLs of the gateway to a file that only the user can read. Errors: `DISK_FULL`, `FILE_ACCESS`. */
async function writeMap(content: object, cleanups: Cleanup[]): Promise<string> {
  try {
    const folder = await mkdtemp(join(tmpdir(), 'stac-auth-run-'))
    cleanups.push(() => rm(folder, { recursive: true, force: true }))
    const path = join(folder, 'gateway.json')
    await writeFile(path, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 })
    return path
  } catch (error) {
    const failed = writeFailure(error, 'the map of the gateway')
    if (failed.code !== 'FILE_ACCESS') throw failed
    throw new IntegrityError('FILE_ACCESS', failed.message, { hint: temporaryHint() })
  }
}

/** Says how to write the key of an asset, where a program that failed was given the bare key. */
async function noteBareKeys(
  child: readonly string[],
  targets: readonly { readonly key: string }[],
  { diagnostics }: Context,
): Promise<void> {
  const key = child.slice(1).find((argument) => targets.some((target) => target.key === argument))
  if (key !== undefined) await diagnostics.note(`"${key}" was passed to the program as it is: write {${key}} for the URL of the asset`)
}

/** Returns the environment of the program, without secrets unless they are asked for. */
async function environmentFor(
  added: Readonly<Record<string, string>>,
  { credentials, inheritSecrets }: RunOptions,
  { env }: Context['io'],
): Promise<Record<string, string>> {
  const { childEnvironment, providerVariables, secretVariables } = await import('../run/child-process.ts')
  if (inheritSecrets) return childEnvironment(env, { added, sources: undefined })
  const { credentialFileText, defaultFileToRead } = await import('../../node/credentials/index.ts')
  // The engine has read the same file, so it is JSON.
  const file = credentials ?? (env.STAC_AUTH_CREDENTIALS || defaultFileToRead())
  const text = file === undefined ? undefined : await credentialFileText(file)
  const { providers } = await import('../../providers/registry.ts')
  return childEnvironment(env, { added, sources: [...secretVariables(JSON.parse(text ?? '{}')), ...providerVariables(providers)] })
}
