/** The signing calls that a scheme describes: their shape, their identity, and the one that an entry stands for. */
import type { IdentityMember } from '../../auth/strategy.ts'
import { type AuthError, SelectionError } from '../../errors.ts'
import { isObject, own, ownString, pointer } from '../../stac/json.ts'
import type { SignedUrlFlow, SignedUrlScheme } from '../../stac/scheme.ts'
import type { SignedUrlCredential } from './credential.ts'

/** What is wrong with the shape of a scheme. Errors: `SCHEME_INVALID`, `FLOW_INVALID`. */
export function flowsProblem(scheme: unknown, at: string): AuthError | undefined {
  const flows = own(scheme, 'flows')
  if (!isObject(flows) || Object.keys(flows).length === 0) {
    return new SelectionError('SCHEME_INVALID', 'a signedUrl scheme needs "flows", a map of signing calls', {
      pointer: flows === undefined ? at : `${at}/flows`,
    })
  }
  for (const [name, flow] of Object.entries(flows)) {
    const place = pointer(at, 'flows', name)
    if (!isObject(flow))
      return new SelectionError('FLOW_INVALID', `"${name}" is not a flow: flows is a map of names to signing calls`, { pointer: place })
    if (!/^(?:GET|POST)$/i.test(ownString(flow, 'method') ?? '')) {
      return new SelectionError('FLOW_INVALID', 'the method of a signing call must be GET or POST', {
        pointer: Object.hasOwn(flow, 'method') ? `${place}/method` : place,
      })
    }
    const api = own(flow, 'authorizationApi')
    if (api !== undefined && typeof api !== 'string')
      return new SelectionError('FLOW_INVALID', 'authorizationApi is not a text', { pointer: `${place}/authorizationApi` })
  }
  return undefined
}

/** The tuple of one flow: its API, where it states one, and its method. */
export function flowIdentity(name: string, flow: SignedUrlFlow): IdentityMember[] {
  const at = pointer('/flows', name)
  const method: IdentityMember = { name: 'method', value: methodOf(flow), pointer: `${at}/method` }
  if (flow.authorizationApi === undefined) return [method]
  return [{ name: 'authorizationApi', value: flow.authorizationApi, pointer: `${at}/authorizationApi`, url: 'relative' }, method]
}

/** The flow that says what the entry says; schemes may have several. */
export function flowFor({ flows }: SignedUrlScheme, { method, authorizationApi }: SignedUrlCredential): [string, SignedUrlFlow] {
  const entries = Object.entries(flows)
  const fits = ([, flow]: [string, SignedUrlFlow]) =>
    methodOf(flow) === method && (flow.authorizationApi === undefined || sameUrl(flow.authorizationApi, authorizationApi))
  return entries.find(fits) ?? entries.find(([, flow]) => methodOf(flow) === method) ?? ['', { method }]
}

/** The HTTP method of a signing call, in upper case. */
export function methodOf(flow: SignedUrlFlow | undefined): 'GET' | 'POST' {
  return flow?.method?.toUpperCase() === 'POST' ? 'POST' : 'GET'
}

function sameUrl(one: string, other: string): boolean {
  return URL.canParse(one) && new URL(one).href === other
}
