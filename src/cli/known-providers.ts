/**
 * Known providers in texts for people: what their files need, and the one command that helps. It compares texts: nothing is sent, and no
 * credential is chosen or made.
 */
import type { Auth, Explanation } from '../auth/auth.ts'
import { matchesAny, parseUrlPattern } from '../auth/url-pattern.ts'
import type { AuthError } from '../errors.ts'
import { urlOfHref } from '../http/url.ts'
import { urlSignature } from '../http/url-signature.ts'
import { plural } from '../lint/reporters/report.ts'
import type { Provider, Way } from '../providers/provider.ts'
import { createRecognizer, type UrlContext } from '../providers/recognize.ts'
import { providers } from '../providers/registry.ts'
import { type Target, targetsOf } from '../stac/target.ts'
import { nearMiss } from '../text/suggest.ts'
import type { ReadDocument } from './read-document.ts'

const recognizer = createRecognizer()

/** A target of a known provider, and whether the user can request it. */
export interface RecognizedTarget {
  readonly target: Target
  readonly provider: Provider
  /** `ready`: it can be requested; `missing`: no credential is used for it. */
  readonly state: 'ready' | 'login required' | 'missing'
  /** The credential with which it is requested by its URL, or that must log in. */
  readonly credential?: string
}

/** A target with its explanation, and its known provider if it is a file of one. */
export interface DescribedTarget {
  readonly target: Target
  readonly explanation: Explanation
  readonly recognized?: RecognizedTarget | undefined
}

/** Explains targets of a document; default: all that have a URL, of which definitions in `item_assets` have none. */
export async function describeTargets(
  read: ReadDocument,
  auth: Pick<Auth, 'explain'>,
  targets: Iterable<Target> = targetsOf(read.document, read),
  most = Number.POSITIVE_INFINITY,
): Promise<readonly DescribedTarget[]> {
  const { files } = recognizer.document(read.document, read)
  const providerOf = new Map(files.map((file) => [file.target.pointer, file.providers[0]]))
  const explained = [...targets].filter(({ kind }) => kind !== 'item_asset').slice(0, most)
  return Promise.all(
    explained.map(async (target) => {
      const explanation = await auth.explain(target)
      const provider = isFile(target) ? providerOf.get(target.pointer) : undefined
      return { target, explanation, recognized: provider && { target, provider, ...stateOf(explanation) } }
    }),
  )
}

/** Returns a target without a usable credential if it is a file of a known provider; undefined for one whose URL carries a signature. */
export function recognizedFile(target: Target): RecognizedTarget | undefined {
  const [provider] = urlSignature(target.href) ? [] : recognizer.target(target)
  return provider && { target, provider, state: 'missing' }
}

/** True for assets, and for links that lead to a file. */
function isFile({ kind, refs, object }: Target): boolean {
  return kind !== 'link' || refs.length > 0 || object.rel === 'enclosure'
}

function stateOf({ refs, byAddress, signature, code }: Explanation): Pick<RecognizedTarget, 'state' | 'credential'> {
  if (signature || refs.some((ref) => ref.code === undefined)) return { state: 'ready' }
  const [login] = [...refs, ...(byAddress ? [byAddress] : [])].filter((one) => one.code === 'LOGIN_REQUIRED')
  if (login) return { state: 'login required', ...(login.credential !== undefined && { credential: login.credential }) }
  const isUsed = code === undefined && byAddress?.used === true && byAddress.code === undefined && byAddress.credential !== undefined
  return isUsed ? { state: 'ready', credential: byAddress.credential } : { state: 'missing' }
}

/** Returns the command for files in that state. */
export function commandFor({ provider, target, state, credential }: RecognizedTarget): string {
  return state === 'login required' && credential !== undefined ? `stac-auth login ${credential}` : setupOf(provider, target.href)
}

/** Returns the command that sets up a provider for a URL: it names the way in unless that is the first one. */
function setupOf(provider: Provider, href: string): string {
  const way = wayTo(provider, href)
  return `stac-auth setup ${provider.id}${way === undefined || way === provider.ways[0] ? '' : ` --way ${way.id}`}`
}

/** Files of one provider, and what is known about them. */
export interface ProviderNeed {
  readonly provider: Provider
  readonly state: RecognizedTarget['state']
  /** `12 assets need a signature (no account)`, with the credentials that are used for them. */
  readonly text: string
  /** What to run; absent where nothing is missing. */
  readonly command?: string
}

/**
 * Returns what the files of each provider need: of those without a usable credential if there are any, else of those whose credential must
 * log in, else of those that are requested by their URL.
 */
export function needsOfProviders(recognized: readonly (RecognizedTarget | undefined)[]): readonly ProviderNeed[] {
  const known = recognized.filter((one) => one !== undefined)
  return [...new Set(known.map(({ provider }) => provider))].flatMap((provider): readonly ProviderNeed[] => {
    const all = known.filter((one) => one.provider === provider)
    const ofState = (state: RecognizedTarget['state']) => all.filter((one) => one.state === state)
    const [missing, waiting] = [ofState('missing'), ofState('login required')]
    const used = ofState('ready').filter(({ credential }) => credential !== undefined)
    const told = [missing, waiting, used].find((some) => some.length > 0)
    const [first] = told ?? []
    if (!told || !first) return []
    const ids = [...new Set(told.map(({ credential }) => credential))].filter((id) => id !== undefined)
    const what = `${countOf(told)} ${needOf(provider, told)}`
    const credentials = ids.map((id) => `"${id}"`).join(' and ')
    if (first.state === 'ready')
      return [
        { provider, state: 'ready', text: `${what}, and are requested with ${credentials}`.replace(/(^1 .*), and are /, '$1, and is ') },
      ]
    const text = ids.length === 0 ? what : `${what}; ${credentials} must log in`
    return [{ provider, state: first.state, text, command: commandFor(first) }]
  })
}

/** Returns the line about the files of a provider. */
export function providerLine({ provider, text, command }: ProviderNeed): string {
  return `${provider.title}: ${text}${command === undefined ? '' : `. ${command}`}`
}

function countOf(recognized: readonly RecognizedTarget[]): string {
  const isLink = recognized.some(({ target }) => target.kind === 'link')
  return plural(recognized.length, isLink ? 'target' : 'asset')
}

function needOf(provider: Provider, recognized: readonly RecognizedTarget[]): string {
  const texts = new Set(recognized.map(({ target }) => needText(wayTo(provider, target.href))))
  return `${recognized.length === 1 ? 'needs' : 'need'} ${[...texts].join(', or ')}`
}

/** Returns the best way in to a URL: object stores have keys of their own. */
function wayTo({ ways }: Provider, href: string): Way | undefined {
  const isObject = /^s3:/i.test(href)
  return ways.find(({ credentials }) => (credentials.at(-1)?.type === 's3') === isObject) ?? ways[0]
}

/** Returns what a person must have for a way in. */
function needText(way: Way | undefined): string {
  const holes = Object.values(way?.holes ?? {}).filter(({ optional }) => !optional)
  if (holes.length === 0) return way?.credentials.at(-1)?.type === 'signedUrl' ? 'a signature (no account)' : 'a login with your account'
  // Labels may say where to find the value.
  const labels = holes.map(({ label }) => label.replace(/ (?:of |\().*$/, '').replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase()))
  return `the ${labels.join(' and ')} of your account`
}

/** A request that failed. */
export interface FailedRequest {
  /** The target that was requested. */
  readonly target?: Target
  /** The URL that was requested, before redirects. */
  readonly url?: string
  /** What is known of that URL besides itself. */
  readonly context?: UrlContext
}

/**
 * Returns a hint that ends with the one command that helps with an error of a known provider; undefined for other errors. The requested URL
 * decides, not where a redirect led; where it is not known, only errors of authentication are recognized, by the URL that answered.
 */
export function providerHint(
  error: AuthError,
  { target, url = error.url, context }: FailedRequest,
  setUp: ReadonlySet<string>,
): string | undefined {
  const address = target
    ? urlOfHref(target.href, { objects: true, ...(target.scope.url !== undefined && { base: target.scope.url }) })
    : url
  const href = address instanceof URL ? address.href : typeof address === 'string' ? address : undefined
  // A URL that carries a signature gets no credential.
  if (href === undefined || urlSignature(href)) return undefined
  const provider = (target ? recognizer.target(target) : recognizer.file(href, context))[0] ?? providerOfApi(href)
  if (!provider) return undefined
  const said = /^the server names \S+(?=; )/.exec(error.hint ?? '')?.[0]
  const isSetUp = setUp.has(provider.id) || error.credential !== undefined
  if (isSetUp) return checkHint(error, provider, said)
  if (error.code === 'HTTP_404' && !isSigned(provider)) return undefined
  const lines = isReached(provider, href)
    ? [`${provider.title} needs ${needText(wayTo(provider, href))}: ${setupOf(provider, href)}`]
    : [...provider.notes.map((note) => `${provider.title}: ${note}`), setupOf(provider, href)]
  return [said, ...lines].filter(Boolean).join('\n')
}

/** Returns the provider of the URL of an API to which its credentials are sent. */
function providerOfApi(url: string): Provider | undefined {
  const provider = recognizer.catalog(url)
  return provider && isReached(provider, url) ? provider : undefined
}

/** True for a URL to which a credential of the provider is sent. */
function isReached({ ways }: Provider, href: string): boolean {
  const url = urlOfHref(href, { objects: true })
  const patterns = ways.flatMap(({ credentials }) => credentials.flatMap(({ sendTo }) => (Array.isArray(sendTo) ? sendTo : [])))
  return (
    url instanceof URL &&
    matchesAny(
      patterns.map((pattern) => parseUrlPattern(String(pattern))),
      url,
    )
  )
}

function isSigned({ ways }: Provider): boolean {
  return ways.some(({ credentials }) => credentials.some(({ type }) => type === 'signedUrl'))
}

/** Notes on what an account must have accepted, and on how long secrets are valid. */
const TO_CHECK = /\b(?:terms|licen[cs]e|valid|ends?|expires?)\b/i

/** Returns what to check where the user has a credential already; undefined where it does not explain the error. */
function checkHint(
  { code, hint, credential }: AuthError,
  { title, account, notes }: Provider,
  said: string | undefined,
): string | undefined {
  if (code === 'HTTP_404' || code === 'NO_CREDENTIAL') return undefined
  const known = code === 'AUTH_REJECTED' && credential !== undefined ? hint : said
  const checks = notes.filter((note) => TO_CHECK.test(note)).map((note) => `${title}: ${note}`)
  return [known, ...checks, `the account: ${account.url}`, 'stac-auth doctor'].filter(Boolean).join('\n')
}

/** Returns the id of the provider that a person may mean: a similar id, the initials of a title, or words of one that no other has. */
export function nearProvider(name: string): string | undefined {
  const words = name.toLowerCase()
  const meant = providers.filter(({ title }) => initialsOf(title) === words || title.toLowerCase().includes(words))
  const ids = providers.map(({ id }) => id)
  return meant.find(({ title }) => initialsOf(title) === words)?.id ?? (meant.length === 1 ? meant[0]?.id : nearMiss(words, ids))
}

function initialsOf(title: string): string {
  return [...title.matchAll(/\b[A-Z]/g)].join('').toLowerCase()
}
