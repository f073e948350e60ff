/** Whether a target can be requested now, and if not, what is missing. Nothing is sent to find out. */
import { type ErrorCode, isAuthError, type RefExplanation, type Target } from 'stac-auth'
import { describeRequirements, type FormModel } from 'stac-auth/browser'
import type { SiteSettings } from './site.ts'
import type { Wallet } from './wallet.ts'
import { hostsOf, needOf, placeWords, typeWords } from './words.ts'

/** Why something was refused. */
export interface Refused {
  readonly code: string
  readonly message: string
  readonly hint?: string
  readonly pointer?: string
}

/** A reference of the target: what the catalog says of it, and why it cannot be used now. */
export interface Way {
  readonly ref: string
  readonly type?: string
  readonly carriedIn?: string
  readonly sendTo: readonly string[]
  readonly credential?: string
  readonly refused?: Refused
}

export interface Access {
  /**
   * `open`: nothing is needed; `ready`: a credential is there; `site`: the service worker of this site has one; `login`: a credential needs
   * a login; `widen`: a credential may not be sent to this host; `missing`: there is none; `refused`: the request is not made.
   */
  readonly state: 'open' | 'ready' | 'site' | 'login' | 'widen' | 'missing' | 'refused'
  /** What is needed, and whether the user has it. */
  readonly sentence: string
  readonly ways: readonly Way[]
}

/** For these the scheme is in order, and only a credential is missing. */
const MISSING: readonly (ErrorCode | undefined)[] = ['NO_CREDENTIAL', 'SCHEME_MISMATCH', 'CREDENTIAL_ENDPOINT_UNTRUSTED']

interface Candidate extends RefExplanation {
  readonly form: FormModel | undefined
}

/** Returns what the credentials in the wallet can do for a target; `subject` begins the sentence. */
export async function accessTo(target: Target, wallet: Wallet, { worker }: SiteSettings, subject = 'This file'): Promise<Access> {
  const { refs, code, message = '', hint } = await wallet.auth.explain(target)
  if (code !== undefined) {
    const refused = { code, message, ...(hint !== undefined && { hint }) }
    return { state: 'refused', sentence: `${subject} is not requested.`, ways: [{ ref: '', sendTo: [], refused }] }
  }
  if (target.refs.length === 0) return { state: 'open', sentence: `${subject} is open to everyone.`, ways: [] }
  const candidates: Candidate[] = []
  for (const ref of refs) {
    const [form] = await describeRequirements({ ...target, refs: [ref.ref] }, { typed: wallet.named })
    candidates.push({ ...ref, form })
  }
  const ways = candidates.map(wayOf)
  const usable = candidates.find((candidate) => candidate.code === undefined)
  if (usable?.credential !== undefined) return { state: 'ready', sentence: readySentence(usable, subject), ways }
  if (usable) return { state: 'open', sentence: `${subject} is open to everyone.`, ways }
  if (worker && addressOf(target)?.startsWith(worker.covers)) {
    return { state: 'site', sentence: `${subject} needs a session of this site. You have one.`, ways }
  }
  const possible = candidates.filter(({ form }) => form && !form.obstacle)
  const login = possible.find((candidate) => candidate.code === 'LOGIN_REQUIRED')
  if (login) return { state: 'login', sentence: needSentence([login], subject), ways }
  const wider = possible.find((candidate) => candidate.code === 'CREDENTIAL_TARGET_UNTRUSTED')
  if (wider) {
    const id = await selectedFor(target, wider.ref, wallet)
    const yours = id === undefined ? 'Your credential' : `Your credential “${id}”`
    return {
      state: 'widen',
      sentence: `${subject} needs ${needsIn([wider])}. ${yours} is not sent to ${hostsOf(wider.form?.sendTo ?? [])} without your consent.`,
      ways,
    }
  }
  const missing = possible.filter((candidate) => MISSING.includes(candidate.code))
  if (missing.length > 0) {
    const isOther = missing.some((candidate) => candidate.code === 'CREDENTIAL_ENDPOINT_UNTRUSTED')
    const other = isOther ? ' The credential that you have is for another provider.' : ''
    return { state: 'missing', sentence: needSentence(missing, subject) + other, ways }
  }
  return { state: 'refused', sentence: `${subject} cannot be opened in this page.`, ways }
}

function readySentence({ form, credential }: Candidate, subject: string): string {
  if (!form || form.obstacle) return `${subject} is opened with your credential “${credential}”.`
  const { what, present } = needOf(form)
  return `${subject} needs ${what}. ${present}`
}

function needSentence(candidates: readonly Candidate[], subject: string): string {
  const [first, second] = candidates
  const missing = second ? 'You have none of these yet.' : first?.form ? needOf(first.form).missing : ''
  return `${subject} needs ${needsIn(candidates)}. ${missing}`
}

function needsIn(candidates: readonly Candidate[]): string {
  const needs = candidates.flatMap(({ form }) => (form ? [needOf(form).what] : []))
  return [...new Set(needs)].join(' or ')
}

function wayOf({ ref, form, credential, code, message = '', hint, pointer }: Candidate): Way {
  const obstacle = form?.obstacle
  const isRefused = code !== undefined && !MISSING.slice(0, 2).includes(code) && code !== 'LOGIN_REQUIRED'
  const own = { code: code ?? '', message, ...(hint !== undefined && { hint }), ...(pointer !== undefined && { pointer }) }
  const refused = isRefused ? own : obstacle
  return {
    ref,
    ...(form && { type: typeWords(form.type, form.credential), carriedIn: placeWords(form.carriedIn) }),
    sendTo: form?.sendTo ?? [],
    ...(credential !== undefined && { credential }),
    ...(refused && { refused }),
  }
}

/** The credential that is selected for the reference and may not be used: authorizing the target says so, and sends nothing. */
async function selectedFor(target: Target, ref: string, { auth }: Wallet): Promise<string | undefined> {
  try {
    await auth.authorize({ ...target, refs: [ref] }, { anonymous: 'refuse' })
    return undefined
  } catch (error) {
    if (isAuthError(error)) return error.credential
    throw error
  }
}

/** Absolute, or undefined for what is no URL. */
export function addressOf({ href, scope }: Pick<Target, 'href' | 'scope'>): string | undefined {
  return URL.canParse(href, scope.url) ? new URL(href, scope.url).href : undefined
}
