import { type AuthError, isAuthError } from '../errors.ts'
import { endedAt, type UrlSignature, urlSignature } from '../http/url-signature.ts'
import { isObject } from '../stac/document.ts'
import type { MalformedRef, Target } from '../stac/target.ts'
import type { ByAddressExplanation, Explanation, RefExplanation, SignatureExplanation } from './auth.ts'
import { inputIdOf } from './credential.ts'
import type { ByAddress, Selection, Selector } from './credential-selection.ts'
import { RejectedReference } from './scheme-matching.ts'
import type { Warning } from './strategy.ts'

interface Explainer {
  readonly selector: Selector
  readonly byAddress: ByAddress
  readonly addressOf: (target: Target) => URL
  /** Returns why the credential needs a login. */
  readonly loginRequired: (selection: Selection) => Promise<AuthError | undefined>
  /** Epoch milliseconds. */
  readonly now: number
}

/** Explains why a target can or cannot be requested: by reference, or by URL when it has none. */
export async function explain(target: Target, explainer: Explainer): Promise<Explanation> {
  const { selector, addressOf, loginRequired } = explainer
  const { pointer, href } = target
  let url: URL
  try {
    url = addressOf(target)
  } catch (error) {
    if (!isAuthError(error)) throw error
    const names = [...target.refs, ...(target.malformedRefs ?? []).map(textOf)]
    const refs = names.map((ref) => ({ ref, ...reason(error) }))
    return { ...reason(error), pointer, href, refs, warnings: [] }
  }
  const signature = urlSignature(url.href)
  if (signature) {
    const refs = target.refs.map((ref) => ({ ref }))
    return { pointer, href, refs, signature: signed(signature, explainer.now), warnings: [] }
  }
  const warnings: Warning[] = []
  const refs = await Promise.all(
    target.refs.map(async (ref): Promise<RefExplanation> => {
      const outcome = selector.consider(target, ref, url)
      if (outcome instanceof RejectedReference) return { ref, ...schemeType(target, ref, selector), ...reason(await outcome.error()) }
      warnings.push(...outcome.warnings)
      const lacking = isLogin(outcome) ? await loginRequired(outcome) : undefined
      if (lacking) return { ref, scheme: outcome.type, ...reason(lacking), ...loginOf(lacking) }
      return { ref, scheme: outcome.type, ...(outcome.match && { credential: outcome.match.credential.id }) }
    }),
  )
  const malformed = (target.malformedRefs ?? []).map(async (ref): Promise<RefExplanation> => {
    return { ref: textOf(ref), ...reason(await selector.malformed(target, ref).error()) }
  })
  const all = [...refs, ...(await Promise.all(malformed))]
  const byAddress = all.length === 0 ? await explainByAddress(target, url, explainer, warnings) : undefined
  return { pointer, href, refs: all, ...(byAddress && { byAddress }), warnings }
}

function signed(signature: UrlSignature, now: number): SignatureExplanation {
  const { kind, expiresAt } = signature
  const end = expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt).toISOString() }
  return { kind, ...end, expired: endedAt(signature, now) !== undefined }
}

const MAX_TEXT = 40

/** Returns a malformed reference as JSON without nested values, because nesting in a catalog may be unlimited. */
function textOf({ value }: MalformedRef): string {
  const flat = (inner: unknown) => (typeof inner === 'object' && inner !== null && Object.keys(inner).length > 0 ? '…' : inner)
  const shown = Array.isArray(value)
    ? value.slice(0, MAX_TEXT).map(flat)
    : isObject(value)
      ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, flat(inner)]))
      : value
  const text = JSON.stringify(shown)
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text
}

async function explainByAddress(
  target: Target,
  url: URL,
  { byAddress, loginRequired }: Explainer,
  warnings: Warning[],
): Promise<ByAddressExplanation | undefined> {
  const credential = byAddress.possible(target, url)
  const outcome = byAddress.select(target, url)
  if (!outcome) return credential === undefined ? undefined : { credential, used: false }
  if (outcome instanceof RejectedReference) return { used: true, ...reason(await outcome.error()) }
  warnings.push(...outcome.warnings)
  const lacking = isLogin(outcome) ? await loginRequired(outcome) : undefined
  if (lacking) return { used: true, ...reason(lacking), ...loginOf(lacking) }
  return { used: true, ...(outcome.match && { credential: outcome.match.credential.id }) }
}

/** True when the credential has a login. */
function isLogin({ match }: Selection): boolean {
  return match !== undefined && (match.strategy.loginRequired ?? inputIdOf(match.credential)) !== undefined
}

function schemeType(target: Target, ref: string, selector: Selector): { scheme?: string } {
  const type = selector.typeOf(target, ref)
  return type === undefined ? {} : { scheme: type }
}

/** Returns the id of the credential that must log in first. */
function loginOf({ code, credential }: AuthError): { credential?: string } {
  return code === 'LOGIN_REQUIRED' && credential !== undefined ? { credential } : {}
}

/** Returns the fields of the error without the id of its credential, which is named for `LOGIN_REQUIRED` only. */
function reason({ code, message, hint, pointer }: AuthError) {
  return { code, message, ...(hint && { hint }), ...(pointer && { pointer }) }
}
