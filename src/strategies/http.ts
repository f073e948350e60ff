/** Simple HTTP authentication: the word of the entry decides what the `Authorization` header says. */
import type { Credential, CredentialForm, EntryForm } from '../auth/credential.ts'
import { authorized, oneLeg } from '../auth/flow.ts'
import { Secret } from '../auth/secret.ts'
import type { Strategy } from '../auth/strategy.ts'
import { type AuthError, ConfigurationError, SelectionError, UnsupportedError } from '../errors.ts'
import { isToken } from '../http/field-name.ts'
import { withHeader } from '../http/message.ts'
import { type HttpScheme, isHttpScheme } from '../stac/scheme.ts'
import { accountForm, needsChallenge } from './http/account.ts'
import { basic, basicForm } from './http/basic.ts'
import { bearer, bearerForm } from './http/bearer.ts'
import { staticText, staticTextForm } from './http/static-text.ts'

/** Words whose text is computed; every other one takes `credentials`, the ready-made text. */
const WORDS: {
  readonly [word: string]: { readonly form: EntryForm; readonly value: (credential: Credential) => string | Promise<string> }
} = {
  basic: { form: basicForm, value: basic },
  bearer: { form: bearerForm, value: bearer },
}

/** Sends what the entry's word asks for in the `Authorization` header (RFC 9110 §11). */
export const http: Strategy<HttpScheme> = {
  type: 'http',
  forms: [basicForm, bearerForm, accountForm, staticTextForm],
  isToken: ({ scheme }) => scheme === 'bearer',
  problem,
  identity: ({ scheme }) => [[{ name: 'scheme', value: scheme.toLowerCase(), pointer: '/scheme' }]],
  schemeOf: ({ scheme }) => ({ type: 'http', scheme: String(scheme) }),
  refine,
  describe,
  prepare({ credential }) {
    if (needsChallenge(credential)) throw unanswerable(credential)
    return []
  },
  peek(request, { credential }) {
    if (!isAtHand(credential)) return undefined
    const value = headerOf(credential)
    return typeof value === 'string' ? authorized(withHeader(request, 'authorization', value)) : undefined
  },
  authorize: oneLeg(async (request, { credential }) => withHeader(request, 'authorization', await headerOf(credential))),
}

/** Functions and sources are asked once per request, so not for a look ahead. */
function isAtHand(credential: Credential): boolean {
  return Object.values(credential).every((value) => !(value instanceof Secret) || value.isText)
}

function headerOf(credential: Credential): string | Promise<string> {
  if (needsChallenge(credential)) throw unanswerable(credential)
  const word = String(credential.scheme)
  const known = credential.credentials === undefined && Object.hasOwn(WORDS, word) ? WORDS[word] : undefined
  return known ? known.value(credential) : staticText(credential)
}

function unanswerable({ id, scheme }: Credential): UnsupportedError {
  return new UnsupportedError('SCHEME_UNSUPPORTED', `"${id}" is for ${String(scheme)}, whose challenges this version cannot answer`, {
    credential: id,
  })
}

function problem(scheme: unknown, at: string): AuthError | undefined {
  if (!isHttpScheme(scheme))
    return new SelectionError('SCHEME_INVALID', 'an http scheme needs "scheme", the name of the authentication', { pointer: at })
  if (isToken(scheme.scheme)) return undefined
  return new SelectionError('SCHEME_INVALID', `"${scheme.scheme}" is no authentication scheme name`, { pointer: `${at}/scheme` })
}

function refine(entry: Credential): Credential {
  if (!isToken(String(entry.scheme)))
    throw new ConfigurationError('CONFIG_INVALID', 'scheme is no authentication scheme name', { pointer: '/scheme' })
  return { ...entry, scheme: String(entry.scheme).toLowerCase() }
}

function describe({ scheme }: HttpScheme): CredentialForm {
  const word = scheme.toLowerCase()
  const { fields } = (Object.hasOwn(WORDS, word) ? WORDS[word]?.form : undefined) ?? staticTextForm
  return { entry: { type: 'http', scheme: word }, fields }
}
