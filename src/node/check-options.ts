/** Checks what a compiler checks in TypeScript: the options of an engine, and strategies of the caller. */
import type { EngineOptions } from '../auth/create-engine.ts'
import type { FieldKind } from '../auth/credential.ts'
import type { Strategy } from '../auth/strategy.ts'
import { ConfigurationError } from '../errors.ts'
import { isObject } from '../stac/document.ts'
import { nearMiss } from '../text/suggest.ts'

/** A value that an option accepts. */
export interface Expected {
  /** Its description in errors: "must be …". */
  readonly what: string
  fits(value: unknown): boolean
}

export const FUNCTION: Expected = { what: 'a function', fits: (value) => typeof value === 'function' }

export const ANYTHING: Expected = { what: '', fits: () => true }

export const oneOf = (...values: readonly unknown[]): Expected => ({
  what: values.map((value) => (typeof value === 'string' ? `"${value}"` : String(value))).join(' or '),
  fits: (value) => values.includes(value),
})

export const withMethods = (what: string, ...methods: readonly string[]): Expected => ({
  what: `${what} with ${methods.join(', ')}`,
  fits: (value) => (isObject(value) || typeof value === 'function') && methods.every((name) => typeof Object(value)[name] === 'function'),
})

const OPTIONS: { readonly [name in keyof EngineOptions]-?: Expected } = {
  credentials: ANYTHING,
  strategies: ANYTHING,
  transport: FUNCTION,
  typed: ANYTHING,
  anonymous: oneOf('allow'),
  byAddress: oneOf(true, false),
  minValidity: { what: 'a number of milliseconds', fits: (value) => typeof value === 'number' && value >= 0 },
  redirects: oneOf('follow', 'error'),
  onWarning: FUNCTION,
  onUse: FUNCTION,
  onSession: FUNCTION,
  clock: withMethods('an object', 'now'),
  session: withMethods('a token store', 'read', 'write', 'remove', 'exclusively'),
  memory: ANYTHING,
}

/** Refuses unknown options, which would do nothing, and values of another type. Errors: `CONFIG_INVALID`. */
export function checkOptions(options: EngineOptions): void {
  checkNamed('createAuth', options, OPTIONS)
}

/**
 * Checks named options.
 *
 * @param owner the function, class or option that has them, for errors
 */
export function checkNamed(owner: string, options: object, known: Readonly<Record<string, Expected>>): void {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue
    const expected = Object.hasOwn(known, name) ? known[name] : undefined
    if (!expected) {
      const near = nearMiss(name, Object.keys(known))
      throw invalid(
        `${owner} has no option "${name}"`,
        near === undefined ? `options: ${Object.keys(known).join(', ')}` : `did you mean "${near}"?`,
      )
    }
    if (!expected.fits(value)) throw invalid(`the option ${name} of ${owner} must be ${expected.what}`)
  }
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
  placement: true,
  function: true,
}

/** The class of `async` functions that do not yield, which has no global name. */
const AsyncFunction = (async () => {}).constructor as new () => unknown

const METHODS = ['identity', 'schemeOf', 'describe', 'authorize'] as const

/** Refuses strategies that lack what every strategy has. Errors: `CONFIG_INVALID`. */
export function checkStrategies(strategies: readonly Strategy[]): void {
  for (const strategy of strategies) checkStrategy(strategy)
}

function checkStrategy(strategy: unknown): void {
  if (!isObject(strategy) || typeof strategy.type !== 'string')
    throw invalid('a strategy has no type', 'load() of a strategy returns the strategy itself, not its module')
  const its = `the strategy "${strategy.type}"`
  for (const name of METHODS) if (typeof strategy[name] !== 'function') throw invalid(`${name} of ${its} must be a function`)
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
