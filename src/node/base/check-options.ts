/** Checks what a compiler checks in TypeScript: options, and strategies of the caller. */
import type { EngineOptions } from '../../auth/create-engine.ts'
import type { FieldKind } from '../../auth/credential.ts'
import type { Strategy } from '../../auth/strategy.ts'
import { ConfigurationError } from '../../errors.ts'
import { isObject } from '../../stac/document.ts'
import { nearMiss } from '../../text/suggest.ts'

/** A value that an option accepts. */
export interface Expected {
  /** Its description in errors: "must be …". */
  readonly what: string
  fits(value: unknown): boolean
  /** True for an option that must be given. */
  readonly isRequired?: true
}

/** All options of a type: the compiler notices a missing one. */
export type Table<Options> = { readonly [Name in keyof Options]-?: Expected }

export const required = (expected: Expected): Expected => ({ ...expected, isRequired: true })

export const fits = (what: string, test: (value: unknown) => boolean): Expected => ({ what, fits: test })

const isAmount = (value: unknown) => typeof value === 'number' && value >= 0
const isPort = (value: unknown) => Number.isInteger(value) && isAmount(value) && Number(value) < 65_536
const hasListeners = (value: unknown) => value === null || typeof Object(value).addEventListener === 'function'

export const FUNCTION = fits('a function', (value) => typeof value === 'function')
export const ANYTHING = fits('', () => true)
export const TEXT = fits('a string', (value) => typeof value === 'string')
export const TEXTS = fits('a list of strings', (value) => Array.isArray(value) && value.every((item) => typeof item === 'string'))
export const AMOUNT = fits('a number of 0 or more', isAmount)
export const PORT = fits('a port: a whole number from 0 to 65535', isPort)
export const OBJECT = fits('an object', (value) => isObject(value) && !(Symbol.iterator in value))
export const SIGNAL = fits('an AbortSignal, such as controller.signal', hasListeners)
export const ENGINE = fits('an engine of createAuth', (value) => isObject(value) && typeof value.service === 'function')

export const oneOf = (...values: readonly unknown[]): Expected => ({
  what: values.map((value) => (typeof value === 'string' ? `"${value}"` : String(value))).join(' or '),
  fits: (value) => values.includes(value),
})

export const withMethods = (what: string, ...methods: readonly string[]): Expected => ({
  what: `${what} with ${methods.join(', ')}`,
  fits: (value) => (isObject(value) || typeof value === 'function') && methods.every((name) => typeof Object(value)[name] === 'function'),
})

export const FLAG = oneOf(true, false)

const OPTIONS: Table<EngineOptions> = {
  credentials: ANYTHING,
  strategies: ANYTHING,
  transport: FUNCTION,
  typed: ANYTHING,
  anonymous: oneOf('allow', 'refuse'),
  byAddress: FLAG,
  minValidity: fits('a number of milliseconds', isAmount),
  redirects: oneOf('follow', 'error'),
  onWarning: FUNCTION,
  onUse: FUNCTION,
  onSession: FUNCTION,
  clock: withMethods('an object', 'now'),
  session: withMethods('a token store', 'read', 'write', 'remove', 'exclusively'),
  memory: fits('the memory of another engine', (value) => isObject(value) && 'sessions' in value),
}

/** Refuses unknown options, which would do nothing, and values of another type. Errors: `CONFIG_INVALID`. */
export function checkOptions(options: EngineOptions): void {
  checkNamed('createAuth', options, OPTIONS)
}

/**
 * Checks named options. Errors: `CONFIG_INVALID` for anything but an object, an unknown option, a missing one and a value of another type.
 *
 * @param owner the function, class or option that has them, for errors
 */
export function checkNamed(owner: string, options: unknown, known: Readonly<Record<string, Expected>>): void {
  if (!isObject(options)) throw invalid(`the options of ${owner} must be an object`)
  for (const name of Object.keys(options)) {
    if (options[name] === undefined || Object.hasOwn(known, name)) continue
    const near = nearMiss(name, Object.keys(known))
    throw invalid(
      `${owner} has no option "${name}"`,
      near === undefined ? `options: ${Object.keys(known).join(', ')}` : `did you mean "${near}"?`,
    )
  }
  for (const [name, expected] of Object.entries(known)) {
    if (options[name] !== undefined) checkArgument(`the option ${name} of ${owner}`, options[name], expected)
    else if (expected.isRequired) throw invalid(`the option ${name} of ${owner} is missing`)
  }
}

/** Checks one argument. Errors: `CONFIG_INVALID`. */
export function checkArgument(what: string, value: unknown, expected: Expected): void {
  if (!expected.fits(value)) throw invalid(`${what} must be ${expected.what}`)
}

const KINDS: { readonly [kind in FieldKind]: true } = {
  text: true,
  secret: true,
  'text-or-secret': true,
  url: true,
  issuer: true,
  boolean: true,
  number: true,
  texts: true,
  patterns: true,
  'signed-url-patterns': true,
  id: true,
  parameters: true,
  members: true,
  places: true,
  placement: true,
  function: true,
}

/** The class of `async` functions that do not yield, which has no global name. */
const AsyncFunction = (async () => {}).constructor as new () => unknown

const METHODS = ['identity', 'schemeOf', 'describe', 'authorize'] as const

/** The methods that a strategy may lack. */
const OPTIONAL: readonly (keyof Strategy)[] = [
  ...(['isToken', 'answers', 'problem', 'identityOf', 'refine', 'addressProblem', 'covers', 'suits', 'reaches', 'endpoints'] as const),
  ...(['prepare', 'peek', 'open', 'token', 'loginRequired', 'login', 'logout', 'tokenState'] as const),
]

/** Refuses strategies that lack what every strategy has. Errors: `CONFIG_INVALID`. */
export function checkStrategies(strategies: readonly Strategy[]): void {
  for (const strategy of strategies) checkStrategy(strategy)
}

function checkStrategy(strategy: unknown): void {
  if (!isObject(strategy) || typeof strategy.type !== 'string')
    throw invalid('a strategy has no type', 'load() of a strategy returns the strategy itself, not its module')
  const its = `the strategy "${strategy.type}"`
  const given = OPTIONAL.filter((name) => strategy[name] !== undefined)
  for (const name of [...METHODS, ...given]) checkArgument(`${name} of ${its}`, strategy[name], FUNCTION)
  if (strategy.authorize instanceof AsyncFunction)
    throw invalid(`authorize of ${its} must be an async generator`, 'async *authorize(request, context), or singleStep of the function')
  const { forms } = strategy
  if (!Array.isArray(forms) || forms.length === 0) throw invalid(`forms of ${its} must be a list`, 'forms: [{ fields: {} }]')
  for (const form of forms) {
    if (!isObject(form) || !isObject(form.fields)) throw invalid(`each of the forms of ${its} must have fields`, 'forms: [{ fields: {} }]')
    for (const [name, field] of Object.entries(form.fields)) {
      if (!isObject(field) || !Object.hasOwn(KINDS, String(field.kind)))
        throw invalid(`the kind of the field ${name} of ${its} must be one of ${Object.keys(KINDS).join(', ')}`)
    }
  }
}

function invalid(message: string, hint?: string): ConfigurationError {
  return new ConfigurationError('CONFIG_INVALID', message, hint === undefined ? {} : { hint })
}
