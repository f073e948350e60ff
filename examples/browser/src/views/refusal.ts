import { isAuthError } from 'stac-auth'
import type { Refused } from '../access.ts'
import { element } from '../dom.ts'
import { plain } from '../fields.ts'
import { icon } from '../icons.ts'

/** What to do on this page, where the library speaks of its command line or leaves it to the program. */
const HINTS: Readonly<Record<string, string>> = {
  HTTP_401: 'Open the document that leads there: it may say what is needed.',
  HTTP_403: 'Open the document that leads there: it may say what is needed.',
  HTTP_404: 'There is nothing at this address; there may be a letter wrong in it.',
  DOC_NOT_JSON: 'Give the address of the document itself, not that of a page about it.',
  AUTH_REJECTED: 'If what you typed was wrong, remove it under Credentials and give it again.',
  CREDENTIAL_TARGET_UNTRUSTED: 'If you trust that host as well, give it a credential of its own.',
  CREDENTIAL_ENDPOINT_UNTRUSTED: 'If you trust that host as well, give it a credential of its own.',
}

const MESSAGE_LENGTH = 500

/** What happened, its code, and what to do next. */
export function refusalView({ code, message, hint: given, pointer }: Refused): HTMLElement {
  const hint = HINTS[code] ?? given
  return element(
    'div',
    { class: 'refusal' },
    icon('warning'),
    element(
      'div',
      {},
      element('p', {}, element('strong', {}, code), ` ${plain(message, MESSAGE_LENGTH)}`),
      hint !== undefined && element('p', { class: 'hint' }, hint),
      pointer !== undefined && element('p', { class: 'hint' }, 'at ', element('code', {}, plain(pointer))),
    ),
  )
}

/** An error as a refusal; libraries of others have no code. */
export function refusalOf(error: unknown): Refused {
  if (isAuthError(error)) {
    const { code, message, hint, pointer } = error
    return { code, message, ...(hint !== undefined && { hint }), ...(pointer !== undefined && { pointer }) }
  }
  return { code: 'NOT_READ', message: error instanceof Error ? error.message : 'this could not be read' }
}
