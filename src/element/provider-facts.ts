/** The texts and nodes about a provider: its name, state, origin, warnings and details. */
import type { FormModel } from '../browser/credential-form.ts'
import { isAuthError } from '../errors.ts'
import { forLine } from '../text/sanitize.ts'
import { address, type Child, element, icon, isolated, sentence } from './dom.ts'
import type { Provider } from './needs.ts'
import { plainText } from './plain-text.ts'
import type { Parties } from './sites.ts'
import { filled, listInWords, type StringName, type Strings, textFor } from './strings.ts'

/** The state of a provider, by what is missing. */
export type ProviderState = 'needed' | 'login' | 'widen' | 'ready' | 'unsupported' | 'refused'

export function stateOf({ model, isMissing, login, widen, refusal }: Provider): ProviderState {
  if (refusal) return refusal.code === 'SCHEME_UNSUPPORTED' ? 'unsupported' : 'refused'
  if (model?.obstacle || (!model && (isMissing || login !== undefined))) return 'unsupported'
  if (isMissing) return 'needed'
  if (login !== undefined) return 'login'
  return widen ? 'widen' : 'ready'
}

/** Returns the kind of credential and the hosts that receive it; never text of the catalog. */
export function titleOf({ model }: Provider, lang: string, strings: Strings): string {
  if (!model) return strings['kind.unknown']
  const { loginAt, secretTo, sendTo } = model
  const places = loginAt !== undefined ? [loginAt] : secretTo.length > 0 ? secretTo : sendTo
  const hosts = [...new Set(places.map(hostOf))]
  if (hosts.length === 0) return strings['kind.unknown']
  return filled(strings[kindOf(model)], { hosts: listInWords(hosts, lang, strings) })
}

const PASSWORDS = /^(?:basic|digest|mutual|scram-)/

function kindOf({ credential: { type, scheme }, loginAt }: FormModel): StringName {
  switch (type) {
    case 'apiKey':
      return 'kind.key'
    case 'http':
      return scheme === 'bearer' ? 'kind.token' : PASSWORDS.test(String(scheme)) ? 'kind.password' : 'kind.other'
    case 'oauth2':
    case 'openIdConnect':
      return loginAt === undefined ? 'kind.client' : 'kind.login'
    case 'signedUrl':
      return 'kind.signed'
    case 's3':
      return 'kind.keys'
    default:
      return 'kind.other'
  }
}

/** Returns the titles that several providers have whose schemes have different names: those names tell them apart. */
export function ambiguousTitles(providers: readonly Provider[], lang: string, strings: Strings): ReadonlySet<string> {
  const names = new Map<string, Set<string | undefined>>()
  for (const provider of providers) {
    const title = titleOf(provider, lang, strings)
    names.set(title, (names.get(title) ?? new Set()).add(provider.model?.name))
  }
  return new Set([...names].flatMap(([title, all]) => (all.size > 1 ? [title] : [])))
}

/** Returns the name of the scheme in the catalog, quoted. */
export function nameNode({ model }: Provider, id: string, strings: Strings): HTMLElement | undefined {
  if (!model) return undefined
  return element('p', { class: 'muted', part: 'name', id }, ...sentence(strings.named, { name: isolated(short(model.name)) }))
}

/** Returns what a scheme that signs asks for, what for, and which hosts receive it: the title alone does not tell. */
export function askedNode({ model, login, isMissing }: Provider, lang: string, strings: Strings): HTMLElement | undefined {
  if (!model || model.obstacle || !(isMissing || login !== undefined)) return undefined
  const { type, secretTo } = model
  if (type !== 'signedUrl' && type !== 's3') return undefined
  const hosts = type === 's3' ? storeHosts(model) : secretTo.map(hostOf)
  const text = strings[`asked.${type === 's3' ? 'keys' : 'signed'}${isMissing ? '' : 'Login'}`]
  const values = { hosts: isolated(listInWords([...new Set(hosts)], lang, strings)), id: isolated(login ?? '') }
  return element('p', { part: 'asked' }, ...sentence(text, values))
}

/** Returns the hosts of an object store: its endpoint, else those of Amazon for buckets (`s3://`), and those of its https URLs. */
function storeHosts({ sendTo, secretTo, credential: { region } }: FormModel): readonly string[] {
  const amazon = `*.amazonaws.com${String(region).startsWith('cn-') ? '.cn' : ''}`
  return sendTo.flatMap((place) => (!place.startsWith('s3:') ? [hostOf(place)] : secretTo.length > 0 ? secretTo.map(hostOf) : [amazon]))
}

function hostOf(place: string): string {
  return /^[a-z0-9]+:\/\/([^/]+)/i.exec(place)?.[1] ?? place
}

/** Returns the description of the catalog as a quotation. */
export function quoteNode(description: string, strings: Strings): HTMLElement | undefined {
  const text = plainText(description)
  if (text === '') return undefined
  const says = element('p', { class: 'muted' }, strings.catalogSays)
  return element('div', { part: 'description' }, says, element('blockquote', {}, isolated(text)))
}

/** Returns the warning that the parties belong to different sites. */
export function sitesNode({ catalog, files, provider }: Parties, strings: Strings): HTMLElement {
  const row = (name: string, hosts: readonly string[]) =>
    hosts.length === 0 ? [] : [element('dt', {}, name), ...hosts.map((host) => element('dd', {}, address(host)))]
  return element(
    'div',
    { part: 'sites', role: 'note' },
    icon('warning'),
    element(
      'div',
      {},
      element('p', {}, element('strong', {}, strings['sites.title'])),
      element('p', {}, strings['sites.text']),
      element(
        'dl',
        {},
        ...row(strings['sites.catalog'], catalog === undefined ? [] : [catalog]),
        ...row(strings['sites.files'], files),
        ...row(strings['sites.provider'], provider),
      ),
    ),
  )
}

const MAX_MESSAGE = 300

/** Returns the node of an error, with the code and message of the library below it; `isNew` announces it to screen readers. */
export function problemNode(problem: unknown, strings: Strings, isNew = true): HTMLElement {
  const { code, message } = isAuthError(problem) || isRefusal(problem) ? problem : { code: undefined, message: undefined }
  // What is not new is a reason, and nothing was tried.
  const text = textFor(strings, `error.${code}`) ?? strings[isNew ? 'error.unknown' : 'error.refused']
  const facts = [
    ...(code === undefined ? [] : fact(strings['detail.code'], element('code', {}, code))),
    ...(message === undefined ? [] : fact(strings['detail.message'], english(forLine(message.slice(0, MAX_MESSAGE))))),
  ]
  return element(
    'div',
    { part: 'error', role: isNew && 'alert' },
    icon('warning'),
    element(
      'div',
      {},
      element('p', {}, text),
      facts.length > 0 && element('details', {}, element('summary', {}, strings.details), element('dl', {}, ...facts)),
    ),
  )
}

function isRefusal(problem: unknown): problem is { readonly code: string; readonly message?: string } {
  return typeof problem === 'object' && problem !== null && !(problem instanceof Error) && 'code' in problem
}

/** Messages of the library are English. */
function english(text: string): HTMLElement {
  return element('bdi', { lang: 'en' }, text)
}

/** Maximum number of characters of a name in the catalog. */
const MAX_NAME = 80

/** Returns the facts that few people need. */
export function detailsNode({ model }: Provider, strings: Strings): HTMLElement | undefined {
  if (!model || model.obstacle) return undefined
  const { name, type, credential, sendTo, secretTo, loginAt, carriedIn } = model
  const carrier = isolated(short(carriedIn.name ?? ''))
  const scheme = typeof credential.scheme === 'string' ? `${type} ${credential.scheme}` : type
  return element(
    'details',
    { part: 'details' },
    element('summary', {}, strings.details),
    element(
      'dl',
      {},
      ...fact(strings['detail.name'], isolated(short(name))),
      ...fact(strings['detail.type'], isolated(short(scheme))),
      ...fact(strings['detail.loginAt'], ...(loginAt === undefined ? [] : [address(loginAt)])),
      ...fact(strings['detail.secretTo'], ...secretTo.map(address)),
      ...fact(strings['detail.sendTo'], ...sendTo.map(address)),
      ...fact(strings['detail.carriedIn'], element('span', {}, ...sentence(strings[`carried.${carriedIn.place}`], { name: carrier }))),
    ),
  )
}

function fact(name: string, ...values: readonly Child[]): readonly HTMLElement[] {
  return values.length === 0 ? [] : [element('dt', {}, name), ...values.map((value) => element('dd', {}, value))]
}

function short(text: string): string {
  return text.length > MAX_NAME ? `${text.slice(0, MAX_NAME)}…` : text
}
