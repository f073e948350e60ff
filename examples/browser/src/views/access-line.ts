/** One sentence about what a file needs, and the details of its request folded below it. */
import type { Target } from 'stac-auth'
import { type Access, addressOf, type Way } from '../access.ts'
import { element } from '../dom.ts'
import { plain, textIn } from '../fields.ts'
import { type Icon, icon } from '../icons.ts'

const ICONS: Readonly<Record<Access['state'], Icon>> = {
  open: 'open',
  ready: 'check',
  site: 'check',
  login: 'lock',
  missing: 'lock',
  widen: 'warning',
  refused: 'warning',
}

const URL_LENGTH = 500
const MESSAGE_LENGTH = 500

/** The sentence; where the file is refused, with the reason of the first reference. */
export function accessLine({ state, sentence, ways }: Access): HTMLElement {
  const reason = state === 'refused' ? ways.find(({ refused }) => refused)?.refused?.message : undefined
  const words = reason === undefined ? sentence : `${sentence} ${sentenceOf(reason)}`
  return element('p', { class: `access is-${state}` }, icon(ICONS[state]), element('span', {}, plain(words, MESSAGE_LENGTH)))
}

/** Closed until somebody wants to know: URL and type of the file, and of each reference where a credential goes or why it does not. */
export function requestDetails(target: Target, { ways }: Access): HTMLDetailsElement {
  const address = addressOf(target)
  const isWeb = address !== undefined && /^https?:/.test(address)
  return element(
    'details',
    { class: 'request' },
    element('summary', {}, 'Request'),
    element(
      'dl',
      { class: 'request-facts' },
      ...fact('URL', isWeb ? code(address, URL_LENGTH) : undefined),
      ...fact('Media type', textIn(target.object, 'type')),
      ...ways.flatMap(wayFacts),
    ),
  )
}

function wayFacts({ ref, type, carriedIn, sendTo, credential, refused }: Way): readonly HTMLElement[] {
  return [
    ...fact('Scheme', ref === '' ? undefined : `${plain(ref)}${type === undefined ? '' : ` (${plain(type)})`}`),
    ...fact('Credential', credential === undefined ? undefined : plain(credential)),
    ...fact('Sent in', carriedIn === undefined ? undefined : plain(carriedIn)),
    ...fact('Sent to', ...sendTo.map((pattern) => code(pattern))),
    ...fact('Refused', refused && code(refused.code)),
    ...fact('Reason', refused && plain(refused.message, MESSAGE_LENGTH)),
    ...fact('Advice', refused?.hint && plain(refused.hint, MESSAGE_LENGTH)),
    ...fact('In the document', refused?.pointer && code(refused.pointer)),
  ]
}

function fact(name: string, ...values: readonly (Node | string | undefined | false)[]): readonly HTMLElement[] {
  const present = values.filter((value) => value !== undefined && value !== false && value !== '')
  return present.length === 0 ? [] : [element('dt', {}, name), ...present.map((value) => element('dd', {}, value))]
}

function code(text: string, length?: number): HTMLElement {
  return element('code', {}, plain(text, length))
}

/** A message of the library as a sentence: with a capital letter and a full stop. */
export function sentenceOf(message: string): string {
  // A URL at the beginning stays as it is.
  const text = /^https?:/.test(message) ? message : message.slice(0, 1).toUpperCase() + message.slice(1)
  return /[.!?…]$/.test(text) ? text : `${text}.`
}
