/**
 * Notes what leaves the library by its public functions: errors that are not its own (I3), and files that work has left unfinished where it
 * has ended (I7).
 */
import { fileURLToPath } from 'node:url'
import { isAuthError } from '../../src/errors.ts'
import { forgetUnfinished, unfinishedFiles } from './observed-files.ts'

interface Observations {
  readonly foreign: string[]
  readonly functions: WeakSet<object>
  readonly left: string[]
  /** Calls that write files and have not ended. */
  readonly writing: Set<object>
}

/** What writes files for its caller. What else writes (tokens, keys) may still do so in the background when a call has ended. */
const WRITING = new Set(['download', 'downloadByQueue', 'verifyFolder', 'workDownloads'])

declare global {
  var observedCalls: Observations | undefined
}

/** Messages of the language itself: a fault of ours, not an argument that we refuse. */
const OF_THE_LANGUAGE =
  /^(?:Cannot |Class constructor|Invalid URL|Assignment to|Reduce of empty|Converting |Found non-callable|fetch failed|.* is not (?:a function|a constructor|iterable|an object|defined|valid JSON)|.* must be (?:a|an) (?:object|function|number|valid))/

/** What left the library since the last call. */
export function foreignErrors(): readonly string[] {
  return observations().foreign.splice(0)
}

/** Returns the files that work has left since the last call although they can neither be used nor resumed. */
export function leftFiles(): readonly string[] {
  // A generator that its test has dropped never ends.
  observations().writing.clear()
  return observations().left.splice(0)
}

/** Runs what writes files. Once all such calls have ended, nothing unfinished may be left but what can be resumed. */
export async function whileWriting<Value>(work: () => Promise<Value>): Promise<Value> {
  const call = {}
  begun(call)
  try {
    return await work()
  } finally {
    ended(call)
  }
}

function begun(call: object): void {
  const { writing } = observations()
  if (writing.size === 0) forgetUnfinished()
  writing.add(call)
}

function ended(call: object): void {
  const { writing, left } = observations()
  if (writing.delete(call) && writing.size === 0) left.push(...unfinishedFiles())
}

/** True for a function or class whose errors are noted. */
export function isObserved(work: object): boolean {
  return observations().functions.has(work)
}

/** Once in a process, whatever number of copies of this module it has. */
function observations(): Observations {
  globalThis.observedCalls ??= { foreign: [], functions: new WeakSet(), left: [], writing: new Set() }
  return globalThis.observedCalls
}

/** Returns the function, observed: what it throws, and what its promises, generators and objects throw later. */
export function observed<Work extends (...given: never[]) => unknown>(name: string, work: Work): Work {
  const observing = function (this: unknown, ...given: never[]): unknown {
    try {
      return watched(name, Reflect.apply(work, this, given))
    } catch (error) {
      note(name, error)
      throw error
    }
  }
  observations().functions.add(observing)
  return Object.defineProperty(observing, 'name', { value: work.name }) as unknown as Work
}

/** Observes the methods of a class in place; those that are inherited are the matter of the class that has them. */
export function observeMethods(name: string, type: { readonly prototype: object }): void {
  const { prototype } = type
  observations().functions.add(type)
  for (const [key, { value, ...rest }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
    if (typeof value !== 'function' || key === 'constructor') continue
    Object.defineProperty(prototype, key, { ...rest, value: observed(`${name}.${key}`, value) })
  }
}

function watched(name: string, result: unknown): unknown {
  if (result instanceof Promise) {
    return result.then(
      (value) => watched(name, value),
      (error: unknown) => {
        note(name, error)
        throw error
      },
    )
  }
  if (typeof result !== 'object' || result === null || Object.isFrozen(result)) return result
  const isGenerator = 'next' in result && typeof result.next === 'function'
  const keys = isGenerator ? ['next', 'return', 'throw'] : Object.getPrototypeOf(result) === Object.prototype ? Object.keys(result) : []
  for (const key of keys) observeMember(name, result as Record<string, unknown>, key)
  if (isGenerator && WRITING.has(name)) observeWriting(result as unknown as AsyncGenerator)
  return result
}

function observeMember(name: string, result: Record<string, unknown>, key: string): void {
  const { value, writable } = Object.getOwnPropertyDescriptor(result, key) ?? { value: result[key], writable: true }
  if (typeof value === 'function' && writable) result[key] = observed(`${name}().${key}`, value as () => unknown)
}

/** A generator begins with its first value, and ends with its last one, a failure, or `return`. */
function observeWriting(generator: AsyncGenerator): void {
  const { next, return: finish } = generator
  const end = () => ended(generator)
  generator.next = (...given) => {
    begun(generator)
    const result = next.apply(generator, given)
    result.then(({ done }) => done && end(), end)
    return result
  }
  generator.return = (value) => {
    const result = finish.call(generator, value)
    result.then(end, end)
    return result
  }
}

/** True for an error that the library must not throw: neither one of its own, nor a refused argument, nor one of the caller's function. */
export function isForeign(error: unknown): boolean {
  return !isOurs(error) && !isRefusedArgument(error) && !isOfTest(error)
}

function note(name: string, error: unknown): void {
  if (!isForeign(error)) return
  observations().foreign.push(`${name}: ${error instanceof Error ? error.stack : String(error)}`)
}

function isOurs(error: unknown): boolean {
  return isAuthError(error) && typeof error.code === 'string' && typeof error.retryable === 'boolean'
}

function isRefusedArgument(error: unknown): boolean {
  return error instanceof TypeError && !OF_THE_LANGUAGE.test(error.message)
}

const TESTS = fileURLToPath(new URL('..', import.meta.url))

/** Functions of the caller may throw what they like: a strategy of its own, a callback, the reason of its signal. */
function isOfTest(error: unknown): boolean {
  const [, first = ''] = (error instanceof Error && /\n\s+at (.*)/.exec(error.stack ?? '')) || []
  return first.includes(TESTS)
}
