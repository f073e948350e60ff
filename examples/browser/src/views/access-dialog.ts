/** Asks for a credential: what it is, which host it goes to, and whether the person agrees to that. */
import { credentialFrom, type FormField, type FormModel } from 'stac-auth/browser'
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
  dialog.querySelector<HTMLElement>('form > .field :is(input, select, textarea), .places input')?.focus()
}

function formView(model: FormModel, index: number, filled: Filled, wallet: Wallet, close: () => void): HTMLElement {
  const heading = element('h3', {}, credentialWords(model), ' ', element('span', { class: 'badge type' }, typeWords(model)))
  const about = model.description !== undefined && element('p', { class: 'quote' }, `The catalog says: ${model.description}`)
  if (model.obstacle) return element('section', {}, heading, about, refusalView(model.obstacle))
  const problem = element('div', { role: 'alert' })
  const fields = fieldsOf(model).map((field) => fieldView(field, `field-${index}-${field.name}`, filled[field.name] ?? ''))
  const settings = element('details', {}, element('summary', {}, 'Settings of the login'), ...fields)
  const submit = element('button', { type: 'submit' }, model.loginAt === undefined ? 'Use it in this tab' : 'Continue to the login')
  const form = element(
    'form',
    { class: 'credential', autocomplete: 'off' },
    heading,
    about,
    // What the site has filled in need not be looked at.
    ...(filled.clientId === undefined ? fields : [settings]),
    placesView(model, index),
    problem,
    element('p', { class: 'actions' }, submit),
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

/** A page has no place for the secret of a client: whoever opens it could read that. */
function fieldsOf({ fields, loginAt }: FormModel): readonly FormField[] {
  return fields.filter(({ secret }) => loginAt === undefined || !secret)
}

async function keep(model: FormModel, data: FormData, wallet: Wallet, close: () => void): Promise<void> {
  const values = Object.fromEntries(model.fields.map(({ name }) => [name, String(data.get(`value:${name}`) ?? '')]))
  const credential = await credentialFrom(model, values, {
    sendTo: data.getAll('place').map(String),
    secretTo: data.getAll('endpoint').map(String),
  })
  const holdsSecret = model.fields.some(({ secret, name }) => (secret || name === 'username') && values[name] !== '')
  const id = await wallet.add(credential, model.name, !holdsSecret)
  close()
  if (model.loginAt === undefined) announce(`Credential “${id}” is ready`)
  else openLoginDialog(id, model.loginAt, wallet)
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
  const { sendTo, secretTo, loginAt, carriedIn, condition, credential } = model
  const isLogin = loginAt !== undefined
  const isSigned = credential.type === 'signedUrl'
  const asked = isLogin
    ? ['I log in at ', '']
    : isSigned
      ? ['The address of the file may go to ', ' to be signed']
      : ['It may go to ', ' for a token']
  const [before = '', after = ''] = asked
  const what = isLogin ? 'The token of your login' : isSigned ? 'The signature' : 'What you type'
  return element(
    'fieldset',
    { class: 'places' },
    element('legend', {}, 'Where it goes'),
    isLogin && element('p', {}, 'What you type at the login is between you and them.'),
    ...secretTo.map((place, at) => agreement('endpoint', place, `endpoint-${index}-${at}`, true, before, after)),
    element('p', {}, `${what} goes ${placeWords(carriedIn)}, to:`),
    ...sendTo.map((place, at) => agreement('place', place, `place-${index}-${at}`, sendTo.length === 1, 'I trust ', ' with it')),
    condition !== undefined && element('p', { class: 'optional' }, `Works if ${condition}.`),
  )
}

function agreement(name: string, place: string, id: string, required: boolean, before: string, after: string): HTMLElement {
  const box = element('input', { type: 'checkbox', name, value: place, id, required })
  return element('div', { class: 'field check' }, box, element('label', { for: id }, before, element('code', {}, place), after))
}
