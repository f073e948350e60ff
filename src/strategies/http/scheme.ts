/** The interface of an HTTP authentication scheme of the IANA registry. */

import { platform } from '#platform'
import type { Credential, CredentialFields, Field } from '../../auth/credential.ts'
import type { AuthContext, AuthFlow, AuthStep, PeekContext } from '../../auth/strategy.ts'
import { type AuthError, UnsupportedError } from '../../errors.ts'
import type { HttpRequest } from '../../http/message.ts'
import type { HttpScheme } from '../../stac/scheme.ts'

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
export function formsOf({ name, fields, alternative }: HttpAuthScheme): readonly CredentialFields[] {
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
