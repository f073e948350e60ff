/** The form of a credential: its fields, and the choice to keep what is typed. Typed values are removed from the document as soon as they are read. */
import type { FormField, FormModel } from '../browser/credential-form.ts'
import { actions, button, type Child, element } from './dom.ts'
import { type Strings, textFor } from './strings.ts'

/** Typed values by the name of their field. */
export type Typed = Readonly<Record<string, string | boolean>>

/**
 * Returns the fields that a person fills in. Logins have no secret fields, because a page cannot keep the secret of a client. If no field
 * is required, as for object stores, secret fields become required, because a page has no other source for secrets.
 */
export function fieldsOf({ fields, loginAt }: FormModel): readonly FormField[] {
  if (loginAt !== undefined) return fields.filter(({ secret }) => !secret)
  const isOpen = !fields.some(({ required }) => required)
  return fields.map((field) => (isOpen && field.secret ? { ...field, required: true } : field))
}

/** What a form asks. */
interface Form {
  /** Id of the heading of its card. */
  readonly id: string
  readonly fields: readonly FormField[]
  readonly values: Typed
  /** Whether the box to keep the secret is ticked; undefined where secrets cannot be kept. */
  readonly keep: boolean | undefined
  readonly strings: Strings
  submit(typed: Typed, keep: boolean): Promise<void>
  cancel(): void
}

/** Returns the form of a credential. */
export function formNode({ id, fields, values, keep, strings, submit, cancel }: Form): HTMLFormElement {
  const idOf = (name: string) => `${id}-${name}`
  const box = keep !== undefined && fields.some(({ secret }) => secret) && keepNode(`${id}-keep`, keep, strings)
  const form = element(
    'form',
    { part: 'form', autocomplete: 'off', 'aria-labelledby': id },
    ...fieldNodes(fields, values, idOf, strings),
    box,
    actions(
      element('button', { type: 'submit', part: 'button button-primary' }, strings.continue),
      button(strings.cancel, cancel, { class: 'second' }),
    ),
  )
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const typed = takeTyped(fields, idOf, form.getRootNode() as ShadowRoot)
    await submit(typed, form.querySelector<HTMLInputElement>('input[name="keep"]')?.checked === true)
  })
  return form
}

/** Returns the choice to keep what is typed, with what that means. */
function keepNode(id: string, isTicked: boolean, strings: Strings): HTMLElement {
  const hint = `${id}-hint`
  const box = element('input', { type: 'checkbox', id, name: 'keep', part: 'input', 'aria-describedby': hint })
  box.checked = isTicked
  const label = element('label', { for: id, part: 'label' }, strings.keep)
  return element(
    'div',
    {},
    element('div', { class: 'field check' }, box, label),
    element('p', { class: 'muted', id: hint }, strings.keepHint),
  )
}

/**
 * Returns the nodes of the fields; optional fields that are not secret are in a closed `details`. `values` are shown in fields that are not
 * secret.
 */
function fieldNodes(fields: readonly FormField[], values: Typed, idOf: (name: string) => string, strings: Strings): readonly Child[] {
  const isMain = ({ required, secret }: FormField) => required || secret
  const more = fields.filter((field) => !isMain(field))
  const nodeOf = (field: FormField) => fieldNode(field, values[field.name], idOf(field.name), strings)
  return [
    ...fields.filter(isMain).map(nodeOf),
    more.length > 0 && element('details', { part: 'more' }, element('summary', {}, strings.moreFields), ...more.map(nodeOf)),
  ]
}

function fieldNode(field: FormField, value: string | boolean | undefined, id: string, strings: Strings): HTMLElement {
  const { name, label, type, required, several } = field
  const isOptional = !required && type !== 'checkbox' && strings.optional !== ''
  const caption = element(
    'label',
    { for: id, part: 'label' },
    textFor(strings, `field.${name}`) ?? label,
    isOptional && element('span', { class: 'muted' }, ` (${strings.optional})`),
  )
  const hint = several && element('p', { class: 'muted', id: `${id}-hint` }, strings.severalValues)
  const input = inputNode(field, id, hint ? `${id}-hint` : undefined)
  if (!field.secret && typeof value === 'string') input.value = value
  if (input instanceof HTMLInputElement && typeof value === 'boolean') input.checked = value
  return type === 'checkbox'
    ? element('div', { class: 'field check', part: 'field' }, input, caption)
    : element('div', { class: 'field', part: 'field' }, caption, input, hint)
}

type Input = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement

function inputNode({ name, type, required, autocomplete, options = [] }: FormField, id: string, hint: string | undefined): Input {
  const common = { id, name, required, autocomplete, part: 'input', 'aria-describedby': hint }
  const plain = { ...common, spellcheck: 'false', autocapitalize: 'none' }
  switch (type) {
    case 'select':
      return element('select', common, ...['', ...options].map((option) => element('option', { value: option }, option || '–')))
    case 'textarea':
      return element('textarea', { ...plain, rows: '4' })
    case 'checkbox':
      return element('input', { ...common, type })
    case 'number':
      return element('input', { ...plain, type: 'text', inputmode: 'decimal' })
    default:
      return element('input', { ...plain, type })
  }
}

/** Returns the typed values and clears the fields. */
function takeTyped(fields: readonly FormField[], idOf: (name: string) => string, root: DocumentFragment): Typed {
  const typed: Record<string, string | boolean> = {}
  for (const { name } of fields) {
    const input = root.getElementById(idOf(name)) as Input | null
    if (!input) continue
    if (input instanceof HTMLInputElement && input.type === 'checkbox') typed[name] = input.checked
    // Pasted values often have surrounding spaces, which no secret may have.
    else if (input.value.trim() !== '') typed[name] = input.value.trim()
    input.value = ''
  }
  return typed
}

/** Returns the values that may be shown again. */
export function withoutSecrets(fields: readonly FormField[], typed: Typed): Typed {
  const shown = fields.filter(({ secret }) => !secret).map(({ name }) => name)
  return Object.fromEntries(Object.entries(typed).filter(([name]) => shown.includes(name)))
}
