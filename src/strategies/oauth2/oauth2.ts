/** Strategy `oauth2`: the credential names the flow, endpoints and scopes; the catalog's copy is never used. */
import { platform } from '#platform'
import type { Identity, IdentityMember, Strategy, Warning } from '../../auth/strategy.ts'
import { type AuthError, SelectionError } from '../../errors.ts'
import { isObject, own, ownString, pointer } from '../../stac/document.ts'
import type { OAuth2Flow, OAuth2Scheme } from '../../stac/scheme.ts'
import { bearer } from '../http/bearer.ts'
import type { OAuth2Credential } from './credential.ts'
import { credentialProblem, OAUTH2_FORMS, wanted } from './credential-form.ts'
import { fragmentsUnseen } from './implicit.ts'
import { byToken } from './present-token.ts'
import { hostsOf } from './server.ts'

/** Maximum number of scopes listed one by one. */
const MAX_TOLD = 20

const URLS = ['authorizationUrl', 'tokenUrl', 'refreshUrl'] as const

/** Obtains a token by the credential's grant (RFC 6749) and sends it as a bearer token (RFC 6750) or with a proof (RFC 9449); a 401 is retried once. */
export const oauth2: Strategy<OAuth2Scheme, OAuth2Credential> = {
  type: 'oauth2',
  acceptsToken: true,
  forms: OAUTH2_FORMS,
  problem,
  identity: ({ flows }) => Object.entries(flows).map(([name, flow]) => tuple(name, flow)),
  schemeOf: ({ flow, authorizationUrl, tokenUrl, refreshUrl }) => ({
    type: 'oauth2',
    flows: { [flow]: { ...(authorizationUrl && { authorizationUrl }), ...(tokenUrl && { tokenUrl }), ...(refreshUrl && { refreshUrl }) } },
  }),
  identityOf,
  refine(credential) {
    const fault = credentialProblem(credential)
    if (fault) throw fault
    return credential
  },
  describe({ flows }) {
    const form = OAUTH2_FORMS.find(({ when }) => when?.flow?.some((name) => own(flows, String(name)) !== undefined))
    const flow = String(form?.when?.flow?.[0])
    if (!form || flow === 'implicit') return { credential: { type: 'http', scheme: 'bearer' }, fields: bearer.fields }
    const urls = URLS.flatMap((name) => {
      const value = ownString(own(flows, flow), name)
      return value === undefined ? [] : [[name, value]]
    })
    const loginAt = flow === 'authorizationCode' ? ownString(own(flows, flow), 'authorizationUrl') : undefined
    return {
      credential: { type: 'oauth2', flow, ...Object.fromEntries(urls) },
      fields: wanted(form),
      ...(loginAt !== undefined && { loginAt }),
    }
  },
  prepare({ scheme, pointer: at, credential }) {
    if (credential.flow === 'implicit' && platform.connect) throw fragmentsUnseen(credential.id)
    return [...ungranted(scheme, at, credential)]
  },
  ...byToken,
}

/** Returns the identity: an issuer matches URLs below it and on the hosts that the credential adds; published endpoints are used, whatever the catalog copied. */
function identityOf(credential: OAuth2Credential): Identity {
  const [written = []] = oauth2.identity(oauth2.schemeOf(credential))
  if (credential.issuer === undefined) return written
  const places = [new URL(credential.issuer).href, ...hostsOf(credential)].map((place) => place.replace(/\/?$/, '/'))
  const missing = URLS.filter((name) => credential[name] === undefined)
  return [...written, ...missing.flatMap((name) => places.map((value) => ({ name, value, pointer: '', url: 'below' as const })))]
}

function problem(scheme: unknown, at: string): AuthError | undefined {
  const flows = own(scheme, 'flows')
  if (!isObject(flows)) {
    return new SelectionError('SCHEME_INVALID', 'an oauth2 scheme needs "flows", a map of flows', {
      pointer: flows === undefined ? at : `${at}/flows`,
    })
  }
  for (const [name, flow] of Object.entries(flows)) {
    const place = pointer(at, 'flows', name)
    if (!isObject(flow))
      return new SelectionError('FLOW_INVALID', `"${name}" is not a flow: flows is a map of flow names to flows`, { pointer: place })
    const bad = URLS.find((url) => own(flow, url) !== undefined && ownString(flow, url) === undefined)
    if (bad) return new SelectionError('FLOW_INVALID', `${bad} of flow "${name}" is not a string`, { pointer: pointer(place, bad) })
  }
  return undefined
}

function tuple(name: string, flow: OAuth2Flow): IdentityMember[] {
  const at = pointer('/flows', name)
  const urls = Object.keys(flow).flatMap((field): IdentityMember[] => {
    const value = ownString(flow, field)
    const isUrl = (URLS as readonly string[]).includes(field)
    return isUrl && value !== undefined ? [{ name: field, value, pointer: pointer(at, field), url: 'absolute' }] : []
  })
  return [...urls, { name: 'flow', value: name, pointer: at }]
}

/** Yields scopes that the catalog lists and the credential does not: they are not requested, which is reported. */
function* ungranted({ flows }: OAuth2Scheme, at: string, { id, flow, scopes = [] }: OAuth2Credential): Generator<Warning> {
  const place = pointer(at, 'flows', flow, 'scopes')
  const listed = Object.keys((own(own(flows, flow), 'scopes') as object | undefined) ?? {}).filter((scope) => !scopes.includes(scope))
  for (const scope of listed.slice(0, MAX_TOLD)) {
    const message = `the catalog lists the scope "${scope}", credential "${id}" does not: it is not requested`
    yield { code: 'SCOPE_NOT_GRANTED', message, pointer: pointer(place, scope) }
  }
  if (listed.length <= MAX_TOLD) return
  const message = `the catalog lists ${listed.length - MAX_TOLD} more scopes than credential "${id}": they are not requested`
  yield { code: 'SCOPE_NOT_GRANTED', message, pointer: place }
}
