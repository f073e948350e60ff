import { isAuthError } from 'stac-auth'
import type { Refused } from '../access.ts'
import { element } from '../dom.ts'
import { plain } from '../fields.ts'
import { icon } from '../icons.ts'
import { blockedByPolicy } from '../policy.ts'
import { sentenceOf } from './access-line.ts'

/** What to do on this page, where the library speaks of its command line or leaves it to the program. */
const HINTS: Readonly<Record<string, string>> = {
  HTTP_401: 'Open the document that leads there: it may say what is needed.',
  HTTP_403: 'Open the document that leads there: it may say what is needed.',
  HTTP_404: 'Nothing was found at this URL. Check it for typing mistakes.',
  DOC_NOT_JSON: 'Enter the URL of the JSON document, not of a web page about it.',
  AUTH_REJECTED: 'If what you typed was wrong, remove it under Access and enter it again.',
  NO_CREDENTIAL: 'Enter it under Access.',
  SCHEME_MISMATCH: 'Enter the credential that is needed under Access.',
  LOGIN_REQUIRED: 'Log in under Access.',
  CREDENTIAL_TARGET_UNTRUSTED: 'If you trust that host as well, allow it under Access.',
  CREDENTIAL_ENDPOINT_UNTRUSTED: 'If you trust that host as well, give it a credential of its own.',
}

const MESSAGE_LENGTH = 500

/** What happened and what to do next, in words; its code is folded below. */
export function refusalView({ code, message, hint: given, pointer }: Refused): HTMLElement {
  const hint = HINTS[code] ?? given
  return element(
    'div',
    { class: 'refusal' },
    icon('warning'),
    element(
      'div',
      {},
      element('p', {}, sentenceOf(plain(message, MESSAGE_LENGTH))),
      hint !== undefined && element('p', { class: 'hint' }, sentenceOf(hint)),
      element(
        'details',
        {},
        element('summary', {}, 'Code'),
        element('p', {}, element('code', {}, code), ...(pointer === undefined ? [] : [' at ', element('code', {}, plain(pointer))])),
      ),
    ),
  )
}

/** The same for an error that has just happened: it may be the page's own policy that blocked the request. */
export async function failureView(error: unknown): Promise<HTMLElement> {
  return refusalView((await blockedByPolicy()) ?? refusalOf(error))
}

/** An error as a refusal; libraries of others have no code. */
export function refusalOf(error: unknown): Refused {
  if (isAuthError(error)) {
    const { code, message, hint, pointer } = error
    return { code, message, ...(hint !== undefined && { hint }), ...(pointer !== undefined && { pointer }) }
  }
  return { code: 'NOT_READ', message: error instanceof Error ? error.message : 'this could not be read' }
}
