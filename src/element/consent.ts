/** The consent form: the choice of hosts to which a credential may be sent. */
import type { FormModel } from '../browser/credential-form.ts'
import { address, type Child, element } from './dom.ts'
import type { Strings } from './strings.ts'

/** Returns the nodes that show where a new credential is sent; several URL patterns are shown as checkboxes, none of them checked. */
export function consentNodes(model: FormModel, id: string, strings: Strings): readonly Child[] {
  const { sendTo, secretTo, loginAt, carriedIn, credential } = model
  const list = (text: string, addresses: readonly string[]) => [element('p', {}, text), plainList([...new Set(addresses)])]
  if (loginAt !== undefined) {
    return [...list(strings['consent.login'], [loginAt, ...secretTo]), choiceNode(strings['consent.token'], sendTo, id)]
  }
  if (credential.type === 'signedUrl') {
    return [...list(strings['consent.signing'], secretTo), choiceNode(strings['consent.result'], sendTo, id)]
  }
  if (secretTo.length > 0) {
    return [...list(strings['consent.typedFirst'], secretTo), choiceNode(strings['consent.result'], sendTo, id)]
  }
  return [choiceNode(strings[carriedIn.place === 'signature' ? 'consent.signature' : 'consent.typed'], sendTo, id)]
}

/** Returns one pattern as text, several as checkboxes with the text as their legend. */
export function choiceNode(text: string, patterns: readonly string[], id: string): HTMLElement {
  if (patterns.length <= 1) return element('div', {}, element('p', {}, text), plainList(patterns))
  const boxes = patterns.map((pattern, index) => {
    const box = element('input', { type: 'checkbox', id: `${id}-place-${index}`, name: 'place', value: pattern })
    return element('div', { class: 'check' }, box, element('label', { for: `${id}-place-${index}` }, address(pattern)))
  })
  return element('fieldset', { part: 'hosts' }, element('legend', {}, text), ...boxes)
}

/** Returns the patterns that the person agrees to: the only one, or those that are checked. */
export function chosenPatterns(form: HTMLFormElement, patterns: readonly string[]): readonly string[] {
  if (patterns.length <= 1) return patterns
  const checked = [...form.querySelectorAll<HTMLInputElement>('input[name="place"]:checked')].map(({ value }) => value)
  return patterns.filter((pattern) => checked.includes(pattern))
}

function plainList(addresses: readonly string[]): HTMLElement {
  return element('ul', { class: 'addresses', part: 'hosts' }, ...addresses.map((text) => element('li', {}, address(text))))
}
