/** The requirements of targets, one per provider: computed from the document and the credentials, without network access. */
import type { Auth, Explanation } from '../auth/auth.ts'
import { describeRequirements, type FormModel, formOfCredential } from '../browser/credential-form.ts'
import type { LiveCredentials } from '../browser/live-auth.ts'
import { isAuthError } from '../errors.ts'
import { own } from '../stac/document.ts'
import { isProtected, type Target } from '../stac/target.ts'
import { forLine } from '../text/sanitize.ts'
import { areDifferentSites, hostNameOf, type Parties, siteOf } from './sites.ts'

/** The reason why something is refused regardless of what the user does; safe to show. */
export interface Refusal {
  readonly code: string
  readonly message: string
}

/** A provider, which is the receiver of the same secret for some of the targets, and what is missing. */
export interface Provider {
  /** Equal for the same provider in later results. */
  readonly key: string
  /** Number of targets; 0 for a request that was no target of the document. */
  readonly count: number
  /** The form of its credential; absent if the scheme is missing or unsupported, or the reference is refused. */
  readonly model?: FormModel
  /** Ids of the credentials in use. */
  readonly ready: readonly string[]
  /** Id of the credential that needs a login. */
  readonly login?: string
  /** Id of the credential that the page offers. */
  readonly offer?: string
  /** The credential that may not be sent to these URL patterns yet. */
  readonly widen?: { readonly credential: string; readonly patterns: readonly string[] }
  /** True when a credential must be added. */
  readonly isMissing: boolean
  /** True when the user has a credential for the targets, but for another provider. */
  readonly endpointDiffers: boolean
  readonly refusal?: Refusal
  /** Present when the catalog, its files and the provider belong to different sites. */
  readonly parties?: Parties
}

export interface Needs {
  /** One group for each set of targets; any one of the providers in a group is enough. */
  readonly groups: readonly (readonly Provider[])[]
}

export interface NeedsOptions {
  /** Origins that the user typed, as for `createAuth`. */
  readonly typed?: readonly string[]
}

/** Returns what requests lacked beside what the document needs: one group for each. */
export async function wantedOf(
  { credentials }: { readonly credentials: Pick<LiveCredentials, 'needs' | 'list' | 'offer'> },
  { groups }: Needs,
): Promise<Needs['groups']> {
  const providers = groups.flat()
  const isShown = (id: string) => providers.some(({ ready, login, widen }) => [...ready, login, widen?.credential].includes(id))
  const wanted = credentials.needs().filter(({ credential }) => !isShown(credential))
  return Promise.all(
    wanted.map(async ({ credential: id, error }) => {
      const known = credentials.list().find((one) => one.id === id)
      const given = known ?? credentials.offer(id)
      const model = given && (await formOfCredential(given).catch(withoutForm))
      const isLogin = known !== undefined && model?.loginAt !== undefined && error.code === 'LOGIN_REQUIRED'
      return [
        {
          key: `wanted ${id}`,
          count: 0,
          ...(model && { model }),
          ready: known && !isLogin ? [id] : [],
          ...(isLogin && { login: id }),
          ...(!known && { offer: id }),
          isMissing: !known,
          endpointDiffers: false,
        },
      ]
    }),
  )
}

type Outcome =
  | { readonly kind: 'ready' | 'login' | 'widen'; readonly credential?: string }
  | { readonly kind: 'missing'; readonly endpointDiffers: boolean }
  | { readonly kind: 'refused'; readonly refusal: Refusal }

/** Targets of one document with the same reference and outcome. */
interface Bucket {
  readonly outcome: Outcome
  readonly targets: Target[]
}

/** Number of targets that are explained before the page may handle events again. */
const BATCH = 200

/** Returns the requirements of the targets. `signal` aborts the work. */
export async function needsOf(
  targets: Iterable<Target>,
  auth: Pick<Auth, 'explain' | 'authorize'>,
  options: NeedsOptions,
  signal: AbortSignal,
): Promise<Needs> {
  const buckets = new Buckets()
  const choices: { readonly bucket: Bucket }[][] = []
  let count = 0
  for (const target of targets) {
    if (target.kind === 'item_asset' || !isProtected(target)) continue
    choices.push(choicesOf(target, await auth.explain(target)).map(([ref, outcome]) => ({ bucket: buckets.add(target, ref, outcome) })))
    if (++count % BATCH === 0) await new Promise((resolve) => setTimeout(resolve))
    signal.throwIfAborted()
  }
  const collector = new Collector()
  for (const { ref, bucket } of buckets.all()) {
    const form = await formOf(bucket, ref, options)
    const credential = await credentialOf(bucket, ref, auth)
    collector.add(bucket, form, credential)
    signal.throwIfAborted()
  }
  return { groups: collector.groups(choices.map((choice) => choice.map(({ bucket }) => bucket))) }
}

/** Returns the references that a user can choose from: the first usable one, else those that are not refused, else the first one. */
function choicesOf(target: Target, { refs, code, message = '' }: Explanation): readonly (readonly [ref: string, outcome: Outcome])[] {
  if (code !== undefined) return [[target.refs[0] ?? '', { kind: 'refused', refusal: refusalOf(code, message) }]]
  const all = refs.map((ref): readonly [string, Outcome] => [ref.ref, outcomeOf(ref)])
  const usable = all.find(([, { kind }]) => kind === 'ready')
  if (usable) return [usable]
  const possible = all.filter(([, { kind }]) => kind !== 'refused')
  return possible.length > 0 ? possible : all.slice(0, 1)
}

function outcomeOf({ code, message = '', credential }: Explanation['refs'][number]): Outcome {
  switch (code) {
    case undefined:
      return { kind: 'ready', ...(credential !== undefined && { credential }) }
    case 'LOGIN_REQUIRED':
      return { kind: 'login', ...(credential !== undefined && { credential }) }
    case 'CREDENTIAL_TARGET_UNTRUSTED':
      return { kind: 'widen' }
    case 'NO_CREDENTIAL':
    case 'SCHEME_MISMATCH':
    case 'CREDENTIAL_ENDPOINT_UNTRUSTED':
      return { kind: 'missing', endpointDiffers: code === 'CREDENTIAL_ENDPOINT_UNTRUSTED' }
    default:
      return { kind: 'refused', refusal: refusalOf(code, message) }
  }
}

const MAX_MESSAGE = 300

function refusalOf(code: string, message: string): Refusal {
  return { code, message: forLine(message.slice(0, MAX_MESSAGE)) }
}

/** Buckets by document, reference and outcome. */
class Buckets {
  readonly #documents = new Map<object, Map<string, { readonly ref: string; readonly bucket: Bucket }>>()

  add(target: Target, ref: string, outcome: Outcome): Bucket {
    const { document } = target.scope
    const known = this.#documents.get(document) ?? new Map<string, { ref: string; bucket: Bucket }>()
    this.#documents.set(document, known)
    // An asset may define its own schemes.
    const place = own(target.object, 'auth:schemes') === undefined ? '' : target.pointer
    const key = JSON.stringify([ref, place, outcome])
    const bucket: Bucket = known.get(key)?.bucket ?? { outcome, targets: [] }
    known.set(key, { ref, bucket })
    bucket.targets.push(target)
    return bucket
  }

  *all(): Generator<{ readonly ref: string; readonly bucket: Bucket }> {
    for (const buckets of this.#documents.values()) yield* buckets.values()
  }
}

async function formOf({ outcome, targets }: Bucket, ref: string, options: NeedsOptions): Promise<FormModel | undefined> {
  if (outcome.kind === 'refused') return undefined
  const [model] = await describeRequirements(
    targets.map((target) => ({ ...target, refs: [ref] })),
    options,
  )
  return model
}

/**
 * Returns the id of the credential. For a credential that is not allowed for the target yet, the id is taken from the error of `authorize`,
 * which sends nothing.
 */
async function credentialOf({ outcome, targets }: Bucket, ref: string, auth: Pick<Auth, 'authorize'>): Promise<string | undefined> {
  if (outcome.kind === 'ready' || outcome.kind === 'login') return outcome.credential
  const [target] = targets
  if (outcome.kind !== 'widen' || !target) return undefined
  try {
    await auth.authorize({ ...target, refs: [ref] }, { anonymous: 'refuse' })
    return undefined
  } catch (error) {
    if (isAuthError(error)) return error.credential
    throw error
  }
}

interface Collected extends Omit<Provider, 'count' | 'parties'> {
  readonly ready: readonly string[]
  readonly catalog?: string
}

/** Merges buckets by their provider. */
class Collector {
  readonly #providers = new Map<string, Collected>()
  readonly #keys = new Map<Bucket, string>()

  add(bucket: Bucket, model: FormModel | undefined, credential: string | undefined): void {
    const { outcome, targets } = bucket
    const key = keyOf(model, outcome)
    this.#keys.set(bucket, key)
    const known = this.#providers.get(key)
    const ready = outcome.kind === 'ready' && credential !== undefined ? [credential] : []
    const isLogin = outcome.kind === 'login' && credential !== undefined
    const isWider = outcome.kind === 'widen' && credential !== undefined
    const catalog = known?.catalog ?? hostNameOf(targets[0]?.scope.url ?? '')
    this.#providers.set(key, {
      ...known,
      key,
      ...((model || known?.model) && { model: merged(known?.model, model) }),
      ready: [...new Set([...(known?.ready ?? []), ...ready])],
      ...(isLogin && { login: credential }),
      ...(isWider && {
        widen: { credential, patterns: [...new Set([...(known?.widen?.patterns ?? []), ...(model?.sendTo ?? [])])] },
      }),
      isMissing: known?.isMissing === true || outcome.kind === 'missing',
      endpointDiffers: known?.endpointDiffers === true || (outcome.kind === 'missing' && outcome.endpointDiffers),
      ...(outcome.kind === 'refused' && { refusal: outcome.refusal }),
      ...(catalog !== undefined && { catalog }),
    } as Collected)
  }

  /**
   * Returns the providers of the targets in groups. If one of the alternatives of a target is required by another target anyway, only that
   * one is listed.
   */
  groups(choices: readonly (readonly Bucket[])[]): readonly (readonly Provider[])[] {
    const sets = choices.map((buckets) => [...new Set(buckets.flatMap((bucket) => this.#keys.get(bucket) ?? []))])
    const alone = new Set(sets.flatMap((keys) => (keys.length === 1 ? keys : [])))
    const groups = new Map<string, { readonly keys: readonly string[]; count: number }>()
    for (const keys of sets) {
      const anyway = keys.find((key) => alone.has(key))
      const shown = anyway === undefined ? keys : [anyway]
      const id = JSON.stringify([...shown].sort())
      const group = groups.get(id) ?? { keys: shown, count: 0 }
      group.count++
      groups.set(id, group)
    }
    return [...groups.values()].map(({ keys, count }) => keys.flatMap((key) => this.#provider(key, count)))
  }

  #provider(key: string, count: number): readonly Provider[] {
    const known = this.#providers.get(key)
    if (!known) return []
    const { catalog, ...provider } = known
    const parties = provider.model && partiesOf(provider.model, catalog)
    return [{ ...provider, count, ...(parties && areDifferentSites(parties) && { parties }) }]
  }
}

/** Returns the same key for forms whose secret has the same receiver. */
function keyOf(model: FormModel | undefined, outcome: Outcome): string {
  if (!model) return JSON.stringify(outcome.kind === 'refused' ? outcome.refusal.code : outcome.kind)
  const { credential, loginAt, secretTo, sendTo, obstacle, type } = model
  const host = hostNameOf(sendTo[0] ?? '')
  const receiver = loginAt ?? (secretTo.length > 0 ? secretTo : host === undefined ? sendTo[0] : siteOf(host))
  return JSON.stringify([type, credential, receiver, obstacle?.code])
}

/** Maximum number of URL patterns, as in a form. */
const MAX_PLACES = 12

function merged(known: FormModel | undefined, model: FormModel | undefined): FormModel | undefined {
  if (!known || !model) return model ?? known
  return { ...known, sendTo: [...new Set([...known.sendTo, ...model.sendTo])].slice(0, MAX_PLACES) }
}

function partiesOf({ sendTo, secretTo, loginAt }: FormModel, catalog: string | undefined): Parties {
  const hosts = (addresses: readonly string[]) => [...new Set(addresses.flatMap((address) => hostNameOf(address) ?? []))]
  return {
    ...(catalog !== undefined && { catalog }),
    files: hosts(sendTo),
    provider: hosts([...(loginAt === undefined ? [] : [loginAt]), ...secretTo]),
  }
}

/** A credential for a strategy of the page itself has no form here. */
function withoutForm(error: unknown): undefined {
  if (!isAuthError(error)) throw error
}
