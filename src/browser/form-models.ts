import {
  type Credential,
  type CredentialForm,
  type CredentialObject,
  type CredentialSet,
  type Field,
  type UncheckedCredential,
  uncheckedCredential,
} from '../auth/credential.ts'
import { readCredentials } from '../auth/parse-credentials.ts'
import { patternFor, type Requirement, requirementOf } from '../auth/requirement.ts'
import { givenTarget } from '../auth/resource.ts'
import { loadStrategies, type Strategy } from '../auth/strategy.ts'
import { ConfigurationError, isAuthError, UnsupportedError } from '../errors.ts'
import { addressOf, isAddressProblem } from '../http/url.ts'
import { ownString } from '../stac/document.ts'
import type { Target } from '../stac/target.ts'
import { defaultStrategies } from '../strategies/index.ts'
import { canParseUrl } from '../text/can-parse-url.ts'
import { forLine, forTerminal } from '../text/sanitize.ts'
import type { Consent, DescribeOptions, FormField, FormModel } from './credential-form.ts'

/** Maximum number of URL patterns in a form; users do not read longer lists. */
const MAX_PLACES = 12

const MAX_TEXT = 500

/** Builds the forms for `describeRequirements`. */
export async function formModels(
  targets: Target | Iterable<Target> | undefined,
  { strategies = defaultStrategies, typed = [] }: DescribeOptions = {},
): Promise<readonly FormModel[]> {
  const known = await loadStrategies(strategies)
  const named = new Set(typed.map((url) => new URL(url).origin))
  const needs = new Map<object, Requirement[]>()
  for (const target of targets && Symbol.iterator in targets ? targets : [givenTarget(targets)]) {
    if (target.kind === 'item_asset') continue
    for (const ref of target.refs) {
      const need = canParseUrl(target.href, target.scope.url) ? requirementOf(target, ref, known) : undefined
      if (!need) continue
      const others = needs.get(need.written)
      if (others) others.push(need)
      else needs.set(need.written, [need])
    }
  }
  return [...needs.values()].flatMap(([first, ...others]) => (first ? [modelOf(first, [first, ...others], named)] : []))
}

function modelOf(first: Requirement, needs: readonly Requirement[], named: ReadonlySet<string>): FormModel {
  const { name, pointer, scheme, strategy } = first
  const description = ownString(scheme, 'description')
  const base = {
    name: shown(name),
    ...(description !== undefined && { description: forTerminal(description.slice(0, MAX_TEXT)) }),
    type: shown(scheme.type),
  }
  const problem = strategy.problem?.(scheme, pointer) ?? addressProblem(first, named)
  if (problem) return { ...base, ...NOTHING, credential: { type: strategy.type }, obstacle: toObstacle(problem) }
  const form = strategy.describe(scheme, { url: first.url, target: first.target })
  const places = needs.map(({ url }) => placeOf(url, named))
  const sendTo = [...new Set(places.flatMap((place) => (typeof place === 'string' ? [place] : [])))].slice(0, MAX_PLACES)
  const refused = places.find((place) => typeof place !== 'string')
  return completed(form, strategy, { ...base, sendTo }, sendTo.length === 0 ? refused : undefined)
}

/** @param refused the obstacle, if the form itself has none */
function completed(
  form: CredentialForm,
  strategy: Strategy,
  base: Pick<FormModel, 'name' | 'type' | 'sendTo'>,
  refused?: Obstacle,
): FormModel {
  const carriedIn = carrierOf(form)
  const obstacle = obstacleOf(form, carriedIn) ?? refused
  return {
    ...base,
    fields: Object.entries(form.fields).flatMap(([member, field]) => fieldOf(member, field, form)),
    carriedIn,
    secretTo: endpointsOf(form, strategy),
    ...(form.loginAt !== undefined && { loginAt: plainAddress(form.loginAt) }),
    ...(form.inPages === 'if exposed' && { condition: EXPOSED }),
    ...(obstacle && { obstacle }),
    credential: form.credential,
  }
}

/** Builds the form for `formOfCredential`. */
export async function formFor(
  { id = '', sendTo = [], added: _added, kept: _kept, ...known }: CredentialObject,
  { strategies = defaultStrategies }: Pick<DescribeOptions, 'strategies'> = {},
): Promise<FormModel> {
  const [strategy] = await loadStrategies(strategies.filter(({ type }) => type === known.type))
  if (!strategy) throw new ConfigurationError('CONFIG_INVALID', `"${id}" has the unsupported type "${known.type}"`)
  const described = strategy.describe(strategy.schemeOf({ id, sendTo: [], preference: 0, ...known }))
  const form = { ...described, credential: { ...described.credential, ...known } }
  return completed(form, strategy, { name: shown(id), type: shown(known.type), sendTo: [sendTo].flat() })
}

/** Reads credentials as the engine does, with the strategies of their types only. */
export async function readSet(
  set: CredentialSet<CredentialObject>,
  { strategies = defaultStrategies }: Pick<DescribeOptions, 'strategies'>,
): Promise<readonly Credential[]> {
  const types = new Set(set.credentials.map(({ type }) => type))
  return readCredentials(set, await loadStrategies(strategies.filter(({ type }) => types.has(type))))
}

const NOTHING = { fields: [], sendTo: [], secretTo: [], carriedIn: { place: 'header' } } as const

const EXPOSED = 'the server must let pages read its challenge: Access-Control-Expose-Headers: WWW-Authenticate, Authentication-Info'

/** Reports a forbidden endpoint before a secret is typed for it. */
function addressProblem({ strategy, scheme, target }: Requirement, named: ReadonlySet<string>): Obstacle | undefined {
  for (const { name, value, url: kind } of strategy.identity(scheme).flat()) {
    const base = kind === 'relative' ? target.scope.url : undefined
    const url = kind ? addressOf(value, { secure: true, named, ...(base !== undefined && { base }) }) : undefined
    if (url && isAddressProblem(url)) return { code: url.code, message: `${name} of the scheme ${url.message}` }
  }
  return undefined
}

type Obstacle = NonNullable<FormModel['obstacle']>

function toObstacle({ code, message, hint }: Obstacle): Obstacle {
  return { code, message: shown(message), ...(hint !== undefined && { hint: shown(hint) }) }
}

/** Returns the narrowest pattern, or the obstacle if there is none. */
function placeOf(address: string, named: ReadonlySet<string>): string | Obstacle {
  const url = addressOf(address, { secure: true, named })
  if (isAddressProblem(url)) return toObstacle({ code: url.code, message: `the URL of the file ${url.message}` })
  return patternFor(url) ?? { code: 'CONFIG_INVALID', message: `${url.host} is shared by many owners and cannot be allowed as a whole` }
}

function carrierOf({ credential, carriedIn }: CredentialForm): FormModel['carriedIn'] {
  if (carriedIn) return { place: carriedIn }
  const { in: place, name } = credential
  if ((place === 'header' || place === 'query' || place === 'cookie') && typeof name === 'string') return { place, name: shown(name) }
  return { place: 'header', name: 'authorization' }
}

function obstacleOf({ inPages }: CredentialForm, { place, name }: FormModel['carriedIn']): Obstacle | undefined {
  if (place !== 'cookie' && inPages !== 'never') return undefined
  const what =
    place === 'cookie' ? `browsers do not let a page send the cookie "${name}" to another site` : 'this login is unsupported in web pages'
  return { code: 'UNSUPPORTED_IN_BROWSER', message: what, hint: 'use the command line, or a program outside the browser' }
}

/** Returns the endpoints of the credential, as far as it is known. */
function endpointsOf({ credential }: CredentialForm, strategy: Strategy): readonly string[] {
  if (credential.type !== strategy.type) return []
  const partial = { id: '', sendTo: [], preference: 0, ...credential } satisfies Credential
  return (strategy.endpoints?.(partial) ?? []).map((endpoint) => plainAddress(typeof endpoint === 'string' ? endpoint : endpoint.origin))
}

/** Returns the input field; none for fields that a user cannot type, such as functions and ids of other credentials. */
function fieldOf(
  name: string,
  { kind, label, required = false, values, lines }: Field,
  { credential }: CredentialForm,
): readonly FormField[] {
  const type = values ? 'select' : lines ? 'textarea' : TYPES[kind]
  // `sendTo` is confirmed, not typed.
  if (type === undefined || credential[name] !== undefined || name === 'sendTo') return []
  const secret = kind === 'secret'
  const autocomplete = name === 'username' ? 'username' : name === 'password' ? 'current-password' : 'off'
  const several = kind === 'texts' || kind === 'signed-url-patterns' || kind === 'patterns'
  const more = { ...(values && { options: values }), ...(several && ({ several: true } as const)) }
  return [{ name, label: shown(label), type, required, autocomplete, secret, ...more }]
}

const TYPES: Readonly<Partial<Record<Field['kind'], FormField['type']>>> = {
  text: 'text',
  secret: 'password',
  'text-or-secret': 'text',
  url: 'url',
  issuer: 'url',
  boolean: 'checkbox',
  number: 'number',
  texts: 'text',
  patterns: 'text',
  'signed-url-patterns': 'text',
}

/** Returns the URL with its host in ASCII, so that similar letters differ. */
function plainAddress(address: string): string {
  return shown(canParseUrl(address) ? new URL(address).href : address)
}

function shown(text: string): string {
  return forLine(text.slice(0, MAX_TEXT))
}

/** Builds the credential for `credentialFrom`. */
export async function credentialOfForm(
  model: FormModel,
  values: Readonly<Record<string, string | boolean>>,
  { sendTo, secretTo = [], id }: Consent,
  { strategies = defaultStrategies }: Pick<DescribeOptions, 'strategies'> = {},
): Promise<UncheckedCredential> {
  const { obstacle, credential: known, fields } = model
  if (obstacle) throw new UnsupportedError(obstacle.code, obstacle.message, obstacle.hint === undefined ? {} : { hint: obstacle.hint })
  if (sendTo.length === 0) throw invalid('sendTo', 'sendTo must contain at least one of the URLs shown')
  const further = sendTo.find((pattern) => !model.sendTo.includes(pattern))
  if (further !== undefined) throw invalid('sendTo', `"${further}" is not in this form: a credential is sent only to URLs that were shown`)
  const unseen = model.secretTo.find((endpoint) => !secretTo.includes(endpoint))
  if (unseen !== undefined) throw invalid('secretTo', `"${unseen}" would receive a secret, and the user did not agree to it`)
  const unknown = Object.keys(values).find((name) => !fields.some((field) => field.name === name))
  if (unknown !== undefined) throw invalid(unknown, `"${unknown}" is not a field of this form`)
  const typed = fields.flatMap((field) => {
    const value = typedValue(field, Object.hasOwn(values, field.name) ? values[field.name] : undefined)
    if (value === undefined && field.required) throw invalid(field.name, `"${field.label}" is missing`)
    return value === undefined ? [] : [[field.name, value]]
  })
  const credential = uncheckedCredential({ ...(id !== undefined && { id }), ...Object.fromEntries(typed), ...known, sendTo: [...sendTo] })
  const loaded = await loadStrategies(strategies)
  checkCredential(() => readCredentials(credential, loaded))
  return credential
}

/** Returns a string, a list, a number or a boolean; nothing for an empty value. */
function typedValue({ type, several, secret, name }: FormField, value: string | boolean | undefined): unknown {
  if (type === 'checkbox') return value === true || value === 'on' ? true : undefined
  if (value === undefined || value === '') return undefined
  if (typeof value !== 'string') throw invalid(name, `"${name}" must be a string`)
  if (several) return value.split(/[\s,]+/).filter((text) => text !== '')
  if (type === 'number') return Number(value)
  return secret ? value : value.trim()
}

/** Reports errors with the pointer of the field alone, because there is one credential. */
function checkCredential(check: () => unknown): void {
  try {
    check()
  } catch (error) {
    if (!isAuthError(error)) throw error
    const pointer = error.pointer?.replace(/^\/credentials\/0/, '')
    throw new ConfigurationError(error.code, error.message, {
      ...(error.hint !== undefined && { hint: error.hint }),
      ...(pointer && { pointer }),
    })
  }
}

function invalid(field: string, message: string): ConfigurationError {
  return new ConfigurationError('CONFIG_INVALID', message, { pointer: `/${field}` })
}
