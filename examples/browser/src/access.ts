/** Whether an asset can be read now, and if not, what is in the way. Nothing is sent to find out. */
import { isAuthError, type RefExplanation, type Target } from 'stac-auth'
import { describeRequirements, type FormModel } from 'stac-auth/browser'
import type { SiteSettings } from './site.ts'
import type { Wallet } from './wallet.ts'
import { needWords } from './words.ts'

export interface Refused {
  readonly code: string
  readonly message: string
  readonly hint?: string
  readonly pointer?: string
}

export interface Access {
  /**
   * `open`: asks for nothing; `ready`: a credential opens it; `site`: the service worker of this site does; `login`: a credential waits for its
   * login; `needs`: there is no credential; `refused`: the catalog asks for something that is not done.
   */
  readonly state: 'open' | 'ready' | 'site' | 'login' | 'needs' | 'refused'
  /** One sentence. */
  readonly words: string
  /** Id of the credential, for `ready` and `login`. */
  readonly credential?: string
  readonly forms: readonly FormModel[]
  readonly refusals: readonly Refused[]
}

/** For these the scheme is in order, and only a credential is missing. */
const MISSING = ['NO_CREDENTIAL', 'SCHEME_MISMATCH']

/** What the wallet can do for a target. */
export async function accessTo(target: Target, wallet: Wallet, { worker }: SiteSettings): Promise<Access> {
  const { refs, code, message = '', hint, pointer } = await wallet.auth.explain(target)
  if (code !== undefined) return refused([{ code, message, ...(hint && { hint }), ...(pointer && { pointer }) }])
  const usable = refs.find((ref) => ref.code === undefined)
  if (usable?.credential !== undefined) {
    return {
      state: 'ready',
      words: `Opens with your credential “${usable.credential}”`,
      credential: usable.credential,
      forms: [],
      refusals: [],
    }
  }
  if (usable || target.refs.length === 0) return { state: 'open', words: 'Open to everybody', forms: [], refusals: [] }
  if (worker && addressOf(target)?.startsWith(worker.covers)) {
    return { state: 'site', words: 'Opened by the service worker of this site', forms: [], refusals: [] }
  }
  if (refs.some((ref) => ref.code === 'LOGIN_REQUIRED')) {
    const credential = await waiting(target, wallet)
    if (credential !== undefined)
      return { state: 'login', words: `Waits for a login with “${credential}”`, credential, forms: [], refusals: [] }
  }
  return missing(await describeRequirements(target, { typed: wallet.named }), refs)
}

function missing(forms: readonly FormModel[], refs: readonly RefExplanation[]): Access {
  const refusals = refs.flatMap(({ code, message = '', hint, pointer, ref }) => {
    if (code === undefined || MISSING.includes(code)) return []
    return [{ code, message: message || `reference “${ref}”`, ...(hint && { hint }), ...(pointer && { pointer }) }]
  })
  const possible = forms.filter(({ obstacle }) => !obstacle)
  const obstacles = forms.flatMap(({ obstacle }) => obstacle ?? [])
  if (refusals.length > 0) return { ...refused([...refusals]), forms: possible }
  if (possible.length === 0) return refused(obstacles)
  return { state: 'needs', words: possible.map(needWords).join(' or '), forms, refusals: obstacles }
}

function refused(refusals: readonly Refused[]): Access {
  return { state: 'refused', words: 'Not opened', forms: [], refusals }
}

/** The credential that waits for a login: asking for a request says so, and sends nothing. */
async function waiting(target: Target, { auth }: Wallet): Promise<string | undefined> {
  try {
    await auth.authorize(target)
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
