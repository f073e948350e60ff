import { isAuthError } from 'stac-auth'
import type { Refused } from '../access.ts'
import { element } from '../dom.ts'
import { icon } from '../icons.ts'

/** What happened, its code, and what to do next. */
export function refusalView({ code, message, hint, pointer }: Refused): HTMLElement {
  return element(
    'div',
    { class: 'refusal' },
    icon('warning'),
    element(
      'div',
      {},
      element('p', {}, element('strong', {}, code), ` ${message}`),
      hint !== undefined && element('p', { class: 'hint' }, hint),
      pointer !== undefined && element('p', { class: 'hint' }, 'at ', element('code', {}, pointer)),
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
