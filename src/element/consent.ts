/** The consent form: the choice of hosts to which a credential may be sent. */
import type { FormModel } from '../browser/credential-form.ts'
import { actions, address, button, type Child, element } from './dom.ts'
import type { StringName, Strings } from './strings.ts'

/** Returns the nodes that show where a new credential is sent; several URL patterns are shown as checkboxes, none of them checked. */
export function consentNodes(model: FormModel, id: string, strings: Strings): readonly Child[] {
  const { sendTo, secretTo, loginAt, carriedIn, credential } = model
  const receivers = (name: StringName, addresses: readonly string[]) =>
    addresses.length > 0 && element('div', {}, element('p', {}, strings[name]), plainList([...new Set(addresses)]))
  const choice = (name: StringName) => choiceNode(strings[name], sendTo, id)
  if (loginAt !== undefined) return [receivers('consent.login', [loginAt, ...secretTo]), choice('consent.token')]
  if (credential.type === 'signedUrl') return [receivers('consent.signing', secretTo), choice('consent.signed')]
  // The endpoint of an object store receives signatures; its secret is never sent.
  if (carriedIn.place === 'signature') return [receivers('consent.signedTo', secretTo), choice('consent.signature')]
  return [receivers('consent.typedFirst', secretTo), choice(secretTo.length > 0 ? 'consent.result' : 'consent.typed')]
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

/** What a consent form asks. */
interface Question {
  /** Id of the heading of its card. */
  readonly id: string
  readonly headingLevel: number
  readonly nodes: readonly Child[]
  readonly patterns: readonly string[]
  readonly strings: Strings
  back(): void
  allow(patterns: readonly string[]): Promise<void>
}

/** Returns a consent form; nothing is allowed before the person presses its button. */
export function questionNode({ id, headingLevel, nodes, patterns, strings, back, allow }: Question): HTMLFormElement {
  const question = element(
    'div',
    { role: 'heading', 'aria-level': String(headingLevel), part: 'question', tabindex: '-1', id: `${id}-question` },
    strings['consent.title'],
  )
  const form = element(
    'form',
    { part: 'consent', 'aria-labelledby': `${id} ${question.id}` },
    question,
    ...nodes,
    actions(
      element('button', { type: 'submit', part: 'button button-primary' }, strings['consent.allow']),
      button(strings.back, back, { class: 'second' }),
    ),
  )
  let isAnswered = false
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const chosen = chosenPatterns(form, patterns)
    if (chosen.length === 0) {
      form.querySelector('[role="alert"]')?.remove()
      form.append(element('p', { role: 'alert', part: 'caution', id: `${id}-choose` }, strings['consent.choose']))
      form.querySelector('fieldset')?.setAttribute('aria-describedby', `${id}-choose`)
      form.querySelector('input')?.focus()
      return
    }
    if (isAnswered) return
    isAnswered = true
    await allow(chosen)
  })
  return form
}

/** Returns the patterns that the person agrees to: the only one, or those that are checked. */
function chosenPatterns(form: HTMLFormElement, patterns: readonly string[]): readonly string[] {
  if (patterns.length <= 1) return patterns
  const checked = [...form.querySelectorAll<HTMLInputElement>('input[name="place"]:checked')].map(({ value }) => value)
  return patterns.filter((pattern) => checked.includes(pattern))
}

function plainList(addresses: readonly string[]): HTMLElement {
  return element('ul', { class: 'addresses', part: 'hosts' }, ...addresses.map((text) => element('li', {}, address(text))))
}
