/** What each word of the IANA registry of HTTP authentication schemes brings along. */

import { platform } from '#platform'
import type { Credential, CredentialFields, Field } from '../../auth/credential.ts'
import type { AuthFlow, AuthStep } from '../../auth/flow.ts'
import type { AuthContext, PeekContext } from '../../auth/strategy.ts'
import { type AuthError, UnsupportedError } from '../../errors.ts'
import type { HttpRequest } from '../../http/message.ts'
import type { HttpScheme } from '../../stac/scheme.ts'

export type HttpContext = AuthContext<HttpScheme, Credential>

/** One registered word: what its entries hold, and how it answers. */
export interface HttpAuthScheme {
  /** Lower case; the wire has the registry's spelling. */
  readonly name: string
  /** Fields of an entry besides `scheme`. */
  readonly fields: { readonly [name: string]: Field }
  /** Another shape: that of entries which have one of the fields `by`. */
  readonly alternative?: { readonly by: readonly string[]; readonly fields: { readonly [name: string]: Field } }
  /** For the table of the README. */
  readonly about: SchemeFacts
  /** What is wrong with an entry across its fields, with the pointer of the field. */
  check?(credential: Credential): AuthError | undefined
  /** Addresses of the entry that may receive its secret, or that of the entry in `with`. */
  endpoints?(credential: Credential): readonly string[]
  /** Why this runtime cannot do it; undefined when it can. Told by `explain`, before anything is sent. */
  unsupported?(credential: Credential): AuthError | undefined
  /** The request from what is at hand, without waiting. */
  peek?(request: HttpRequest, context: PeekContext<HttpScheme, Credential>): AuthStep | undefined
  /** The legs of one request. */
  authorize(request: HttpRequest, context: HttpContext): AuthFlow
}

interface SchemeFacts {
  /** Where it is defined. */
  readonly standard: string
  /** `yes`; `if exposed`: servers must expose the headers of the challenge; `never`. */
  readonly browsers: 'yes' | 'if exposed' | 'never'
  /** `h` negotiates, `a` carries the authorization. */
  readonly steps: string
  /** A server that we did not write, or what stands in for one. */
  readonly testedAgainst: string
}

/** The shapes of an entry of that word, the usual one first; ready-made text (`credentials`) has a shape of its own. */
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

/** A flow that is loaded when the first request needs it: most programs know one or two of the words. */
export function loadedFlow(load: () => Promise<Flow>): HttpAuthScheme['authorize'] {
  return async function* (request, context) {
    const flow = await load()
    return yield* flow(request, context)
  }
}

/** `UNSUPPORTED_IN_BROWSER` where no connection can be held, for words whose authorization belongs to one. */
export function withoutConnections(scheme: string, hint: string): UnsupportedError | undefined {
  if (platform.connect) return undefined
  return new UnsupportedError('UNSUPPORTED_IN_BROWSER', `${scheme} belongs to one connection, which a web page cannot hold`, { hint })
}

/** The field that `signingKey` reads. */
export const privateKeyField = { kind: 'secret', label: 'Private key (PEM PKCS #8, or JWK)', lines: true } as const satisfies Field
