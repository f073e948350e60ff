/** Asks for a credential: what it is, which host it goes to, and whether the person agrees to that. */
import { entryFrom, type FormField, type FormModel } from 'stac-auth/browser'
import { announce } from '../announce.ts'
import { element, fill } from '../dom.ts'
import type { Client } from '../site.ts'
import type { Wallet } from '../wallet.ts'
import { credentialWords, placeWords, typeWords } from '../words.ts'
import { openDialog } from './dialog.ts'
import { openLoginDialog } from './login-dialog.ts'
import { refusalOf, refusalView } from './refusal.ts'

/** Opens it with a part for each scheme; what cannot be done here says why. */
export function openAccessDialog(title: string, forms: readonly FormModel[], wallet: Wallet, clients: readonly Client[]): void {
  const dialog = openDialog(`Access to ${title}`)
  const parts = forms.map((form, index) => formView(form, index, known(form, clients), wallet, () => dialog.close()))
  dialog.querySelector('.content')?.append(...parts)
  dialog.querySelector<HTMLElement>('input, select, textarea')?.focus()
}

function formView(model: FormModel, index: number, filled: Filled, wallet: Wallet, close: () => void): HTMLElement {
  const heading = element('h3', {}, credentialWords(model), ' ', element('span', { class: 'badge type' }, typeWords(model)))
  const about = model.description !== undefined && element('p', { class: 'quote' }, `The catalog says: ${model.description}`)
  if (model.obstacle) return element('section', {}, heading, about, refusalView(model.obstacle))
  const problem = element('div', { role: 'alert' })
  const form = element(
    'form',
    { class: 'entry', autocomplete: 'off' },
    heading,
    about,
    ...model.fields.map((field) => fieldView(field, `field-${index}-${field.name}`, filled[field.name] ?? '')),
    placesView(model, index),
    problem,
    element('p', { class: 'actions' }, element('button', { type: 'submit' }, model.loginAt === undefined ? 'Use it in this tab' : 'Continue to the login')),
  )
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    try {
      await keep(model, new FormData(form), wallet, close)
    } catch (error) {
      fill(problem, refusalView(refusalOf(error)))
    }
  })
  return form
}

async function keep(model: FormModel, data: FormData, wallet: Wallet, close: () => void): Promise<void> {
  const values = Object.fromEntries(model.fields.map(({ name }) => [name, String(data.get(`value:${name}`) ?? '')]))
  const entry = await entryFrom(model, values, { sendTo: data.getAll('place').map(String) })
  const holdsSecret = model.fields.some(({ secret, name }) => (secret || name === 'username') && values[name] !== '')
  const id = wallet.add(entry, !holdsSecret)
  close()
  announce(`Credential “${id}” is ready`)
  if (model.loginAt !== undefined) openLoginDialog(id, model.loginAt, wallet)
}

type Filled = Readonly<Record<string, string>>

/** What the site knows of itself at that provider: the client id, and the scopes to ask for. */
function known({ loginAt }: FormModel, clients: readonly Client[]): Filled {
  const client = clients.find(({ issuer }) => loginAt !== undefined && new URL(issuer).origin === new URL(loginAt).origin)
  return client ? { clientId: client.clientId, scopes: client.scopes.join(' ') } : {}
}

function fieldView({ name, label, type, required, autocomplete, options, several }: FormField, id: string, value: string): HTMLElement {
  const common = { id, name: `value:${name}`, required, autocomplete, spellcheck: 'false' }
  const caption = element('label', { for: id }, label, !required && element('span', { class: 'optional' }, ' (optional)'))
  const hint = several && element('span', { class: 'optional' }, ' Several with blanks between them.')
  if (type === 'select') {
    const choices = ['', ...(options ?? [])].map((option) => element('option', { value: option }, option || '—'))
    return element('div', { class: 'field' }, caption, element('select', common, ...choices))
  }
  if (type === 'textarea') return element('div', { class: 'field' }, caption, element('textarea', { ...common, rows: '4' }))
  if (type === 'checkbox') return element('div', { class: 'field check' }, element('input', { ...common, type, value: 'on' }), caption)
  return element('div', { class: 'field' }, caption, element('input', { ...common, type, value }), hint)
}

/** Each host by itself, to be agreed to: nothing is ticked beforehand. */
function placesView(model: FormModel, index: number): HTMLElement {
  const how = placeWords(model.carriedIn)
  const what = model.loginAt === undefined ? 'What you type goes' : 'The token of your login goes'
  return element(
    'fieldset',
    { class: 'places' },
    element('legend', {}, 'Where it goes'),
    model.loginAt !== undefined && element('p', {}, 'You log in at ', element('code', {}, new URL(model.loginAt).origin), '.'),
    model.secretTo.length > 0 &&
      model.loginAt === undefined &&
      element('p', {}, 'First to ', ...model.secretTo.map((place) => element('code', {}, place)), ' for a token.'),
    element('p', {}, `${what} ${how}, to:`),
    ...model.sendTo.map((place, at) => {
      const id = `place-${index}-${at}`
      const box = element('input', { type: 'checkbox', name: 'place', value: place, id, required: model.sendTo.length === 1 })
      return element('div', { class: 'field check' }, box, element('label', { for: id }, 'I trust ', element('code', {}, place), ' with it'))
    }),
    model.condition !== undefined && element('p', { class: 'optional' }, `Works if ${model.condition}.`),
  )
}
