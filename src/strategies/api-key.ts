/** Strategy `apiKey`: a key in a header, a query parameter or a cookie. */
import type { Credential, Secret } from '../auth/credential.ts'
import { authorized, type Strategy, singleStep } from '../auth/strategy.ts'
import { type AuthError, ConfigurationError, SelectionError } from '../errors.ts'
import { isForbiddenHeader, isToken } from '../http/headers.ts'
import { type HttpRequest, withHeader } from '../http/message.ts'
import { own } from '../stac/document.ts'
import { type ApiKeyScheme, isApiKeyScheme } from '../stac/scheme.ts'
import { invalidField, reveal, unfit, withQuerySecret } from './credential-values.ts'

type Place = ApiKeyScheme['in']
type ApiKeyCredential = Credential & { readonly in: Place; readonly name: string; readonly prefix?: string; readonly value: Secret }

/** Sends the key as the credential says: header, query or cookie (OpenAPI 3 Security Scheme, type `apiKey`). */
export const apiKey: Strategy<ApiKeyScheme, ApiKeyCredential> = {
  type: 'apiKey',
  forms: [
    {
      fields: {
        in: { kind: 'text', label: 'Where the key is sent', required: true, values: ['header', 'query', 'cookie'] },
        name: { kind: 'text', label: 'Name of the header, query parameter or cookie', required: true },
        prefix: { kind: 'text', label: 'Prefix of the key in a header, followed by a blank' },
        value: { kind: 'secret', label: 'Key', required: true },
      },
    },
  ],
  problem(scheme, at) {
    if (isApiKeyScheme(scheme)) return nameProblem(scheme.in, scheme.name, `${at}/name`)
    const field = typeof own(scheme, 'name') === 'string' ? 'in' : 'name'
    return new SelectionError('SCHEME_INVALID', 'an apiKey scheme needs "name" and "in" (header, query or cookie)', {
      pointer: own(scheme, field) === undefined ? at : `${at}/${field}`,
    })
  },
  identity: (scheme) => [
    Object.keys(scheme).flatMap((field) => {
      if (field === 'in') return [{ name: 'in', value: scheme.in, pointer: '/in' }]
      return field === 'name' ? [{ name: 'name', value: canonicalName(scheme.in, scheme.name), pointer: '/name' }] : []
    }),
  ],
  schemeOf: ({ in: place, name }) => ({ type: 'apiKey', in: place, name }),
  refine(credential) {
    if (credential.prefix !== undefined && (credential.in !== 'header' || !isToken(credential.prefix)))
      throw invalidField('prefix', 'must be one word, and is only for a key in a header')
    const problem = nameProblem(credential.in, credential.name, '/name')
    if (problem) throw new ConfigurationError('CONFIG_INVALID', problem.message, { pointer: '/name' })
    return credential
  },
  describe({ in: place, name }) {
    return {
      credential: { type: 'apiKey', in: place, name },
      fields: { value: { kind: 'secret', label: `Key (${place} ${name})`, required: true } },
    }
  },
  peek(request, context) {
    if (!context.credential.value.isText) return undefined
    const value = reveal(context.credential.value, 'value', context.credential)
    return typeof value === 'string' ? authorized(placed(request, context.credential, value)) : undefined
  },
  authorize: singleStep(async (request, context) =>
    placed(request, context.credential, await reveal(context.credential.value, 'value', context.credential)),
  ),
}

function placed(request: HttpRequest, credential: ApiKeyCredential, value: string): HttpRequest {
  const { id, in: place, name, prefix } = credential
  switch (place) {
    case 'header':
      if (!/^[\x20-\x7e]+$/.test(value)) throw unfit('value', id, 'contains characters that are not allowed in a header')
      return withHeader(request, name.toLowerCase(), prefix === undefined ? value : `${prefix} ${value}`)
    case 'cookie':
      if (!/^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]+$/.test(value))
        throw unfit('value', id, 'contains characters that are not allowed in a cookie')
      return withHeader(request, 'cookie', request.headers.cookie ? `${request.headers.cookie}; ${name}=${value}` : `${name}=${value}`)
    case 'query':
      return withQuerySecret(request, name, value, credential)
  }
}

/** The text is not shown: it may be the key, written in the wrong field. */
const NO_NAME = 'a field whose name contains characters that are not allowed'

function nameProblem(place: Place, name: string, pointer: string): AuthError | undefined {
  if (place === 'header' && isForbiddenHeader(name)) {
    const what = isToken(name) ? `the header "${name}"` : NO_NAME
    return new SelectionError('HEADER_NAME_FORBIDDEN', `a key must not be sent as ${what}`, { pointer })
  }
  if (place === 'cookie' && !isToken(name)) {
    return new SelectionError('COOKIE_NAME_INVALID', `a key must not be sent as ${NO_NAME}`, { pointer })
  }
  return name === '' ? new SelectionError('SCHEME_INVALID', 'the name of the key is empty', { pointer }) : undefined
}

function canonicalName(place: Place, name: string): string {
  return place === 'header' ? name.toLowerCase() : name
}
