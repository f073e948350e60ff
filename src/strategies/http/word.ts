/** What each word of the IANA registry of HTTP authentication schemes brings along. */
import type { Credential, EntryForm, Field } from '../../auth/credential.ts'
import type { AuthFlow, Leg } from '../../auth/flow.ts'
import type { AuthContext, PeekContext } from '../../auth/strategy.ts'
import type { AuthError } from '../../errors.ts'
import type { HttpRequest } from '../../http/message.ts'
import type { HttpScheme } from '../../stac/scheme.ts'

export type HttpContext = AuthContext<HttpScheme, Credential>

/** One registered word: what its entries hold, and how it answers. */
export interface HttpWord {
  /** Lower case; the wire has the registry's spelling. */
  readonly word: string
  /** Fields of an entry besides `scheme`. */
  readonly fields: { readonly [name: string]: Field }
  /** For the table of the README. */
  readonly about: WordFacts
  /** What is wrong with an entry across its fields, with the pointer of the field. */
  check?(entry: Credential): AuthError | undefined
  /** Why this runtime cannot do it; undefined when it can. Told by `explain`, before anything is sent. */
  unsupported?(entry: Credential): AuthError | undefined
  /** The request from what is at hand, without waiting. */
  peek?(request: HttpRequest, context: PeekContext<HttpScheme, Credential>): Leg | undefined
  /** The legs of one request. */
  authorize(request: HttpRequest, context: HttpContext): AuthFlow
}

export interface WordFacts {
  /** Where it is defined. */
  readonly standard: string
  /** `yes`; `if exposed`: servers must expose the headers of the challenge; `never`. */
  readonly browsers: 'yes' | 'if exposed' | 'never'
  /** `h` negotiates, `a` carries the authorization. */
  readonly legs: string
  /** A server that we did not write, or what stands in for one. */
  readonly testedAgainst: string
}

/** The shape of an entry of that word; ready-made text (`credentials`) has a shape of its own. */
export function formOf({ word, fields }: HttpWord): EntryForm {
  return {
    when: { scheme: [word], credentials: [undefined] },
    fields: { scheme: { kind: 'text', label: 'HTTP authentication scheme', required: true }, ...fields },
  }
}
