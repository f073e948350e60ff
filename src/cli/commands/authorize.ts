import { type Command, Option } from 'commander'
import type { AuthorizedRequest } from '../../auth/auth.ts'
import { carriedHeaders } from '../../outputs/handed-over.ts'
import type { OutputOptions } from '../../outputs/redact.ts'
import type { AuthorizeLinesOptions } from '../authorize-lines.ts'
import type { Context } from '../context.ts'
import { EXIT, usageError } from '../exit-code.ts'
import { write } from '../io.ts'
import { openAuth } from '../open-auth.ts'
import {
  chosenTarget,
  collect,
  documentOfTarget,
  duration,
  inOptionGroup,
  partOf,
  wholeFrom,
  withAssetFilters,
  withByAddressOption,
  withCredentialsOption,
  withTargetOptions,
} from '../options.ts'
import { expiryText } from '../units.ts'

/** An output form: how a request is printed, and what the command does for it. */
interface Form {
  readonly load: () => Promise<(request: AuthorizedRequest, options?: OutputOptions) => string>
  /** The program signs requests to object stores with the keys themselves. */
  readonly keys?: true
  /** The program that follows redirects, and the secret headers that it keeps to itself then. */
  readonly follows?: { readonly program: string; readonly drops?: readonly string[] }
  /** The program that sends several requests for one file. */
  readonly repeats?: string
}

const FORMS: Readonly<Record<string, Form>> = {
  http: { load: async () => (await import('../../outputs/http.ts')).http },
  headers: { load: async () => (await import('../../outputs/headers.ts')).headers },
  url: { load: async () => (await import('../../outputs/url.ts')).url },
  json: { load: async () => (await import('../../outputs/json.ts')).json },
  curl: { load: async () => (await import('../../outputs/curl.ts')).curl },
  wget: { load: async () => (await import('../../outputs/wget.ts')).wget },
  aria2: { load: async () => (await import('../../outputs/aria2.ts')).aria2, follows: { program: 'aria2', drops: [] } },
  sh: { load: async () => (await import('../../outputs/sh.ts')).sh },
  powershell: { load: async () => (await import('../../outputs/powershell.ts')).powershell },
  python: { load: async () => (await import('../../outputs/python.ts')).python },
  fsspec: { load: async () => (await import('../../outputs/fsspec.ts')).fsspec, keys: true, repeats: 'fsspec' },
  gdal: { load: async () => (await import('../../outputs/gdal.ts')).gdal, keys: true, follows: { program: 'GDAL' }, repeats: 'GDAL' },
  rclone: { load: async () => (await import('../../outputs/rclone.ts')).rclone, keys: true, follows: { program: 'rclone' } },
  duckdb: {
    load: async () => (await import('../../outputs/duckdb.ts')).duckdb,
    keys: true,
    follows: { program: 'DuckDB', drops: [] },
    repeats: 'DuckDB',
  },
  aws: { load: async () => (await import('../../outputs/aws.ts')).aws, keys: true },
  netrc: { load: async () => (await import('../../outputs/netrc.ts')).netrc },
}

/** Seconds. */
const URL_LIFE = 3600

/** The form of many requests, one per line. */
const LINES = 'ndjson'

interface AuthorizeOptions extends AuthorizeLinesOptions {
  readonly as?: string
  readonly json?: boolean
  readonly alternate?: string
  readonly link?: string
}

/** Options that say which or how many requests `--as ndjson` prints, and those of a single target. */
const OF_LINES = ['include', 'exclude', 'role', 'type', 'prefer', 'unordered', 'concurrency', 'shard'] as const
const OF_TARGET = ['alternate', 'link'] as const

const NOTE = `
Several documents, or --as ${LINES}, give a line for each asset (default: documents from stdin).
Each input line is a document, or a target: an object with href, auth:refs and auth:schemes.
Each output line is a request with the id of its document and its asset, or has "error".`

/** `authorize DOC…`: prints authorized requests, unsent. */
export function addAuthorize(program: Command, context: Context): void {
  const command = program.command('authorize [documents...]').description('print authorized requests without sending them')
  withAuthorizeOptions(command)
    .addHelpText('after', NOTE)
    .action(context.run((names: string[], options: AuthorizeOptions) => authorize(names, options, context)))
}

/** `authorize-all [INPUT…]`: the former name of `authorize --as ndjson`. */
export function addAuthorizeAll(program: Command, context: Context): void {
  withAuthorizeOptions(program.command('authorize-all [documents...]', { hidden: true })).action(
    context.run((names: string[], options: AuthorizeOptions) => authorize(names, { ...options, as: LINES }, context)),
  )
}

function withAuthorizeOptions(command: Command): Command {
  withTargetOptions(command, (group) =>
    group.option('--asset <key>', `select the asset with this key; with --as ${LINES} those matching a glob: B0* (repeatable)`, collect),
  )
  inOptionGroup(command, `Several targets, with --as ${LINES}:`, (group) =>
    withAssetFilters(group, 'authorize')
      .option('--unordered', 'print each request as soon as it is known')
      .option('--concurrency <n>', 'authorize this many targets at a time (default: 64)', wholeFrom(1))
      .option('--shard <i/n>', 'process the i-th of n parts of the documents', partOf),
  )
  return withByAddressOption(withCredentialsOption(command))
    .addOption(
      new Option('--as <form>', `select the output form (default: http; json and ${LINES} are for programs, json is not redacted)`).choices(
        [...Object.keys(FORMS), LINES],
      ),
    )
    .addOption(new Option('--json', 'print JSON: --as json').conflicts('as'))
    .option('--reveal', 'show secrets in every output form')
    .addOption(
      new Option('--expires <seconds>', `presign the URL of an s3 scheme for this time (default with --as url: ${URL_LIFE})`).argParser(
        wholeFrom(1, 604_800),
      ),
    )
    .option('--min-validity <time>', 'replace tokens and signed URLs that end sooner: 90s, 30m, 2h', duration)
}

async function authorize(names: readonly string[], options: AuthorizeOptions, context: Context): Promise<number> {
  const { as: form = options.json ? 'json' : names.length > 1 ? LINES : 'http' } = options
  const isGiven = (option: keyof AuthorizeOptions) => options[option] !== undefined
  const foreign = (form === LINES ? OF_TARGET : OF_LINES).find(isGiven)
  if (foreign) throw usageError(`--${foreign} ${form === LINES ? 'selects one target' : `needs --as ${LINES}`}`)
  if (form === LINES) {
    const { authorizeLines } = await import('../authorize-lines.ts')
    return authorizeLines(names.length === 0 ? ['-'] : names, options, context)
  }
  const [name, other] = names
  const [asset, otherAsset] = options.asset ?? []
  if (name === undefined) throw usageError('no document is given', `give its path or URL, or --as ${LINES} to read documents from stdin`)
  if (other !== undefined || otherAsset !== undefined)
    throw usageError(`--as ${form} prints one request, and several are selected`, `use --as ${LINES}`)
  return authorizeOne(name, { ...options, asset, as: form }, context)
}

interface SingleOptions extends Omit<AuthorizeOptions, 'asset'> {
  readonly as: string
  readonly asset?: string | undefined
}

async function authorizeOne(name: string, options: SingleOptions, context: Context): Promise<number> {
  const form = FORMS[options.as]
  if (!form) throw usageError(`unknown output "${options.as}"`)
  const auth = openAuth(context, options, [name])
  const { document, url } = await documentOfTarget(name, options, context.io, auth)
  const target = chosenTarget(document, options, url === undefined ? {} : { url })
  const { as, expires: presign = as === 'url' ? URL_LIFE : undefined } = options
  const request = await (await auth()).authorize(target, { signal: context.io.signal, presign, keys: form.keys === true })
  const text = (await form.load())(request, { reveal: options.reveal === true })
  await write(context.io.stdout, text.endsWith('\n') || text === '' ? text : `${text}\n`)
  for (const note of notesOn(request, form, options)) await context.diagnostics.note(note)
  return EXIT.done
}

/** Values of `Authorization` that authorize a single request. */
const ONE_REQUEST = /^(?:(?:Digest|DPoP|GNAP|HOBA|Mutual|Negotiate|PrivateToken|SCRAM-\S+) |OAuth .*oauth_nonce)/i

/** Returns notes on what the output form does not show, and on its risks. */
function notesOn(request: AuthorizedRequest, { follows, repeats }: Form, { as, reveal }: SingleOptions): string[] {
  if (as === 'json') return []
  const { secretIn, location, keys } = request
  // Programs that sign with the keys are not bound to the signature of this request.
  const { expiresAt } = keys ?? request
  const notes: string[] = []
  if (as === 'url' && secretIn.headers.length > 0)
    notes.push(`the URL alone is not authorized: it needs ${secretIn.headers.join(', ')} (see --as headers)`)
  if (as === 'headers' && secretIn.url) notes.push('the key is in the URL (see --as url --reveal)')
  const carried = follows && !location ? carriedHeaders(request, follows.drops) : []
  if (carried.length > 0) notes.push(`${follows?.program} sends ${carried.join(', ')} after redirects too, also to other hosts`)
  // The HTTP client of Go keeps Authorization and Cookie for hosts below the name of the first one.
  const kept = as === 'rclone' && !location ? secretIn.headers.filter((name) => !carried.includes(name)) : []
  if (kept.length > 0) notes.push(`rclone sends ${kept.join(', ')} after redirects to hosts below ${new URL(request.url).hostname} too`)
  const { authorization = '' } = request.headers
  if (repeats && ONE_REQUEST.test(authorization)) {
    const [scheme] = authorization.split(' ', 1)
    notes.push(`${scheme} authorizes one request, and ${repeats} sends several for a file: use stac-auth run, fetch or download`)
  }
  if (as === 'gdal' && !location && secretIn.headers.length > 0)
    notes.push(`GDAL sends ${secretIn.headers.join(', ')} to other hosts if the file names them, as a VRT can: use stac-auth run`)
  if (as === 'netrc') notes.push(`programs send this password to every port and path of ${new URL(request.url).hostname}`)
  const hidden = (secretIn.url && as !== 'headers') || (secretIn.headers.length > 0 && as !== 'url')
  if (hidden && !reveal) notes.push('secrets are hidden: --reveal shows them')
  else if (hidden && expiresAt !== undefined) notes.push(`valid until ${expiryText(expiresAt, Date.now())}`)
  return notes
}
