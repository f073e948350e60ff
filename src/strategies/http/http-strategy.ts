import { platform } from '#platform'
import type { Credential, CredentialFields, Field, Secret } from '../../auth/credential.ts'
import {
  type AuthContext,
  type AuthFlow,
  type AuthStep,
  authorized,
  type PeekContext,
  type Strategy,
  singleStep,
} from '../../auth/strategy.ts'
import { type AuthError, ConfigurationError, SelectionError, UnsupportedError } from '../../errors.ts'
import { spellingOf } from '../../http/challenge.ts'
import { isToken } from '../../http/headers.ts'
import { type HttpRequest, withHeader } from '../../http/message.ts'
import { type HttpScheme, isHttpScheme } from '../../stac/scheme.ts'
import { accessToken, atHand, invalidField, reveal, unfit, whenThere } from '../credential-values.ts'
import { bearer, requestsToken } from './bearer.ts'

export type HttpContext = AuthContext<HttpScheme, Credential>

/** One HTTP authentication scheme: the fields of its credentials, and its flow. */
export interface HttpAuthScheme {
  /** Lower case; requests use the registry's spelling. */
  readonly name: string
  /** Fields of a credential besides `scheme`. */
  readonly fields: { readonly [name: string]: Field }
  /** Another form: credentials that have one of the fields `by`. */
  readonly alternative?: { readonly by: readonly string[]; readonly fields: { readonly [name: string]: Field } }
  /** For the table of the README. */
  readonly about: SchemeFacts
  /** Returns the problem of a credential across its fields, with the pointer of the field. */
  check?(credential: Credential): AuthError | undefined
  /** Returns the URLs that may receive the secret of the credential, or of the one in `with`. */
  endpoints?(credential: Credential): readonly string[]
  /** Returns why this runtime does not support it; undefined when it does. Reported by `explain`, before anything is sent. */
  unsupported?(credential: Credential): AuthError | undefined
  /** Returns the request when everything it needs is known, without waiting. */
  peek?(request: HttpRequest, context: PeekContext<HttpScheme, Credential>): AuthStep | undefined
  /** Returns the steps of one request. */
  authorize(request: HttpRequest, context: HttpContext): AuthFlow
}

interface SchemeFacts {
  /** The document that defines the scheme. */
  readonly standard: string
  /** `yes`; `if exposed`: servers must expose the headers of the challenge; `never`. */
  readonly browsers: 'yes' | 'if exposed' | 'never'
  /** `h` negotiates, `a` carries the authorization. */
  readonly steps: string
  /** A server by others, or what replaces one. */
  readonly testedAgainst: string
}

/** Returns the forms of a credential of that scheme, the usual one first; ready-made values (`credentials`) have a form of their own. */
function formsOf({ name, fields, alternative }: HttpAuthScheme): readonly CredentialFields[] {
  const when = { scheme: [name], credentials: [undefined] }
  const scheme = { kind: 'text', label: 'HTTP authentication scheme', required: true } as const
  if (!alternative) return [{ when, fields: { scheme, ...fields } }]
  const absent = Object.fromEntries(alternative.by.map((field) => [field, [undefined]]))
  return [
    { when: { ...when, ...absent }, fields: { scheme, ...fields } },
    { when, fields: { scheme, ...alternative.fields } },
  ]
}

type Flow = (request: HttpRequest, context: HttpContext) => AuthFlow

/** Returns a flow that is loaded with the first request: most programs use one or two HTTP authentication schemes. */
export function loadedFlow(load: () => Promise<Flow>): HttpAuthScheme['authorize'] {
  return async function* (request, context) {
    const flow = await load()
    return yield* flow(request, context)
  }
}

/** Returns `UNSUPPORTED_IN_BROWSER` where no connection can be kept, for schemes whose authorization is bound to one. */
export function withoutConnections(scheme: string, hint: string): UnsupportedError | undefined {
  if (platform.connect) return undefined
  return new UnsupportedError(
    'UNSUPPORTED_IN_BROWSER',
    `${scheme} is unsupported in web pages: its authorization is bound to a connection`,
    { hint },
  )
}

/** The field that `signingKey` reads. */
export const privateKeyField = { kind: 'secret', label: 'Private key (PEM PKCS #8, or JWK)', lines: true } as const satisfies Field

/** A ready-made value for any HTTP authentication scheme, registered or not. */
const readyMadeForm: CredentialFields = {
  fields: {
    scheme: { kind: 'text', label: 'HTTP authentication scheme', required: true },
    credentials: { kind: 'secret', label: 'Value that follows the scheme name in the Authorization header', required: true },
  },
}

/**
 * Returns a strategy that authenticates by the credential's HTTP authentication scheme (RFC 9110 §11), if it is one of these; a credential
 * with a ready-made value sends that for any scheme.
 */
export function httpStrategy(schemes: readonly HttpAuthScheme[]): Strategy<HttpScheme> {
  const byName = new Map(schemes.map((scheme) => [scheme.name, scheme]))

  /** Returns the HTTP authentication scheme of the credential, or undefined when its value is ready-made. */
  function authSchemeOf({ scheme, credentials }: Credential): HttpAuthScheme | undefined {
    return credentials === undefined ? byName.get(String(scheme)) : undefined
  }

  return {
    type: 'http',
    forms: [...schemes.flatMap(formsOf), readyMadeForm],
    isToken: ({ scheme }) => scheme === 'bearer',
    problem,
    identity: ({ scheme }) => [[{ name: 'scheme', value: scheme.toLowerCase(), pointer: '/scheme' }]],
    schemeOf: ({ scheme }) => ({ type: 'http', scheme: String(scheme) }),
    refine: (credential) => refined(credential, authSchemeOf(credential)),
    describe({ scheme }) {
      const name = scheme.toLowerCase()
      const known = byName.get(name)
      const form = (known && formsOf(known)[0]) ?? readyMadeForm
      const browsers = known?.about.browsers ?? 'yes'
      return { credential: { type: 'http', scheme: name }, fields: form.fields, ...(browsers !== 'yes' && { inPages: browsers }) }
    },
    endpoints: (credential) => authSchemeOf(credential)?.endpoints?.(credential) ?? [],
    prepare({ credential }) {
      const fault = authSchemeOf(credential)?.unsupported?.(credential)
      if (fault) throw fault
      return []
    },
    peek: (request, context) => {
      const scheme = authSchemeOf(context.credential)
      return scheme ? scheme.peek?.(request, context) : readyMade.peek(request, context)
    },
    async token(context) {
      const { credential } = context
      if (requestsToken(credential)) {
        const { value, expiresAt } = await (await tokenRequest()).requestedToken(context)
        return { value, tokenType: 'Bearer', ...(expiresAt !== undefined && { expiresAt }) }
      }
      if (authSchemeOf(credential) === bearer) return { value: await accessToken(credential), tokenType: 'Bearer' }
      throw new ConfigurationError('CONFIG_INVALID', `"${credential.id}" cannot provide a token: only bearer credentials can`, {
        credential: credential.id,
      })
    },
    login: async (context) => (await tokenRequestOf(context.credential)).login(context),
    logout: async (context, choice) => (await tokenRequestOf(context.credential)).logout(context, choice),
    tokenState: async (context) => (requestsToken(context.credential) ? (await tokenRequest()).tokenState(context) : undefined),
    authorize: (request, context) => (authSchemeOf(context.credential) ?? readyMade).authorize(request, context),
  }
}

/** Loaded with the first credential that requests its token: most are given one. */
const tokenRequest = () => import('./token-request.ts')

/** Errors: `CONFIG_INVALID` for a credential that is given its secret. */
async function tokenRequestOf(credential: Credential): ReturnType<typeof tokenRequest> {
  if (requestsToken(credential)) return tokenRequest()
  const { id } = credential
  const message = `credential "${id}" of type http has no login: it needs only its secret`
  throw new ConfigurationError('CONFIG_INVALID', message, { credential: id })
}

function problem(scheme: unknown, at: string): AuthError | undefined {
  if (!isHttpScheme(scheme)) {
    return new SelectionError('SCHEME_INVALID', 'an http scheme needs "scheme", the name of the authentication', { pointer: at })
  }
  if (isToken(scheme.scheme)) return undefined
  return new SelectionError('SCHEME_INVALID', `"${scheme.scheme}" is not a valid authentication scheme name`, { pointer: `${at}/scheme` })
}

function refined(credential: Credential, known: HttpAuthScheme | undefined): Credential {
  const scheme = String(credential.scheme)
  if (!isToken(scheme)) throw invalidField('scheme', 'is not a valid authentication scheme name')
  const fault = known?.check?.(credential)
  if (fault) throw fault
  return { ...credential, scheme: scheme.toLowerCase() }
}

/** Sends the scheme's name and the credential's value (RFC 9110 §11.4). */
const readyMade = {
  peek(request: HttpRequest, { credential }: PeekContext<HttpScheme, Credential>) {
    const value = atHand(credential) ? header(credential) : undefined
    return typeof value === 'string' ? authorized(withHeader(request, 'authorization', value)) : undefined
  },
  authorize: singleStep(async (request: HttpRequest, { credential }: { readonly credential: Credential }) =>
    withHeader(request, 'authorization', await header(credential)),
  ),
}

function header(credential: Credential): string | Promise<string> {
  const { id, scheme } = credential
  return whenThere(reveal(credential.credentials as Secret, 'credentials', credential), (text) => {
    if (!/^[\x20-\x7e]+$/.test(text)) throw unfit('credentials', id, 'contains characters that are not allowed in a header')
    return `${spellingOf(String(scheme))} ${text}`
  })
}
