/** OAuth 2.0: the flow that the entry names; its endpoints and scopes are the entry's, never the catalog's copy. */
import type { EntryForm } from '../auth/credential.ts'
import { authorized } from '../auth/flow.ts'
import type { IdentityMember, Strategy, Warning } from '../auth/strategy.ts'
import { type AuthError, SelectionError } from '../errors.ts'
import { isObject, own, ownString, pointer } from '../stac/json.ts'
import type { OAuth2Flow, OAuth2Scheme } from '../stac/scheme.ts'
import { bearer } from './http/bearer.ts'
import { clientFields } from './oauth2/client-fields.ts'
import { loginRequired } from './oauth2/login-required.ts'
import { cachedToken, type OAuth2Credential, placeToken, renewToken, resolveToken } from './oauth2/token.ts'

const URLS = ['authorizationUrl', 'tokenUrl', 'refreshUrl'] as const

const GRANT = { flow: { kind: 'text', label: 'Flow', required: true } } as const
const ENDPOINTS = {
  tokenUrl: { kind: 'url', label: 'Token endpoint', required: true },
  refreshUrl: { kind: 'url', label: 'Endpoint that redeems refresh tokens' },
} as const
const CLIENT = { ...clientFields, clientId: { ...clientFields.clientId, required: true } }

const CLIENT_CREDENTIALS: EntryForm = {
  when: { flow: ['clientCredentials'] },
  fields: { ...GRANT, ...ENDPOINTS, ...CLIENT, clientSecret: { ...clientFields.clientSecret, required: true } },
}

/** Understood so that it can be compared with schemes; logging in is not part of this version. */
const AUTHORIZATION_CODE: EntryForm = {
  when: { flow: ['authorizationCode'] },
  fields: { ...GRANT, authorizationUrl: { kind: 'url', label: 'Authorization endpoint', required: true }, ...ENDPOINTS, ...CLIENT },
}

/** Gets a token by the entry's grant (RFC 6749) and sends it as a bearer token (RFC 6750); a 401 is retried once. */
export const oauth2: Strategy<OAuth2Scheme, OAuth2Credential> = {
  type: 'oauth2',
  acceptsToken: true,
  forms: [CLIENT_CREDENTIALS, AUTHORIZATION_CODE],
  problem,
  identity: ({ flows }) => Object.entries(flows).map(([name, flow]) => tuple(name, flow)),
  schemeOf: ({ flow, authorizationUrl, tokenUrl, refreshUrl }) => ({
    type: 'oauth2',
    flows: { [flow]: { ...(authorizationUrl && { authorizationUrl }), ...(tokenUrl && { tokenUrl }), ...(refreshUrl && { refreshUrl }) } },
  }),
  describe({ flows }) {
    const tokenUrl = ownString(own(flows, 'clientCredentials'), 'tokenUrl')
    if (tokenUrl === undefined) return { entry: { type: 'http', scheme: 'bearer' }, fields: bearer.fields }
    return { entry: { type: 'oauth2', flow: 'clientCredentials', tokenUrl }, fields: CLIENT_CREDENTIALS.fields }
  },
  endpoints: ({ tokenUrl, refreshUrl }) => [tokenUrl, refreshUrl].filter((url) => url !== undefined),
  prepare({ scheme, pointer: at, credential }) {
    if (credential.flow !== 'clientCredentials') throw loginRequired(credential.id)
    return [...ungranted(scheme, at, credential)]
  },
  peek(request, context) {
    const token = cachedToken(context)
    return token && authorized(placeToken(request, context.credential, token.value), token.expiresAt)
  },
  async *authorize(request, context) {
    const token = await resolveToken(context)
    const response = yield authorized(placeToken(request, context.credential, token.value), token.expiresAt)
    if (response.status !== 401) return
    const renewed = await renewToken(context, token)
    yield authorized(placeToken(request, context.credential, renewed.value), renewed.expiresAt)
  },
  token: resolveToken,
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
    if (bad) return new SelectionError('FLOW_INVALID', `${bad} of flow "${name}" is not a text`, { pointer: pointer(place, bad) })
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

/** Scopes that the catalog lists and the entry does not: they are not asked for, and that is worth telling. */
function* ungranted({ flows }: OAuth2Scheme, at: string, { id, flow, scopes = [] }: OAuth2Credential): Generator<Warning> {
  for (const scope of Object.keys((own(own(flows, flow), 'scopes') as object | undefined) ?? {})) {
    if (scopes.includes(scope)) continue
    const message = `the catalog lists the scope "${scope}", entry "${id}" does not: it is not requested`
    yield { code: 'SCOPE_NOT_GRANTED', message, pointer: pointer(at, 'flows', flow, 'scopes', scope) }
  }
}
