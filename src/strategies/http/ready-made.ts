import type { Credential, EntryForm } from '../../auth/credential.ts'
import { authorized, oneLeg } from '../../auth/flow.ts'
import type { Secret } from '../../auth/secret.ts'
import type { PeekContext } from '../../auth/strategy.ts'
import { spellingOf } from '../../http/auth-scheme.ts'
import { type HttpRequest, withHeader } from '../../http/message.ts'
import type { HttpScheme } from '../../stac/scheme.ts'
import { atHand, reveal, unfit } from '../reveal.ts'

/** Ready-made text for any word, of the registry or outside it. */
export const readyMadeForm: EntryForm = {
  fields: {
    scheme: { kind: 'text', label: 'HTTP authentication scheme', required: true },
    credentials: { kind: 'secret', label: 'Text that follows the scheme name in the Authorization header', required: true },
  },
}

/** The scheme's name and the entry's text (RFC 9110 §11.4). */
export const readyMade = {
  peek(request: HttpRequest, { credential }: PeekContext<HttpScheme, Credential>) {
    const value = atHand(credential) ? header(credential) : undefined
    return typeof value === 'string' ? authorized(withHeader(request, 'authorization', value)) : undefined
  },
  authorize: oneLeg(async (request: HttpRequest, { credential }: { readonly credential: Credential }) =>
    withHeader(request, 'authorization', await header(credential)),
  ),
}

function header(credential: Credential): string | Promise<string> {
  const text = reveal(credential.credentials as Secret, 'credentials', credential)
  return typeof text === 'string' ? written(text, credential) : text.then((value) => written(value, credential))
}

function written(text: string, { id, scheme }: Credential): string {
  if (!/^[\x20-\x7e]+$/.test(text)) throw unfit('credentials', id, 'has characters that a header cannot carry')
  return `${spellingOf(String(scheme))} ${text}`
}
