/** Reading JSON that strangers wrote: own properties only, never a prototype's. */

export type JsonObject = { readonly [member: string]: unknown }

/** True for a JSON object; arrays and null are not objects here. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The object's own member of that name, else undefined: `toString` and `__proto__` are never found by accident. */
export function own(object: unknown, name: string): unknown {
  return isObject(object) && Object.hasOwn(object, name) ? object[name] : undefined
}

/** The own member when it is a string. */
export function ownString(object: unknown, name: string): string | undefined {
  const value = own(object, name)
  return typeof value === 'string' ? value : undefined
}

/** The own member when it is a JSON object. */
export function ownObject(object: unknown, name: string): JsonObject | undefined {
  const value = own(object, name)
  return isObject(value) ? value : undefined
}

/** Appends names to an RFC 6901 pointer, escaping `~` and `/`. */
export function pointer(base: string, ...names: readonly (string | number)[]): string {
  let path = base
  for (const name of names) path += `/${typeof name === 'number' ? name : escapeName(name)}`
  return path
}

function escapeName(name: string): string {
  return /[~/]/.test(name) ? name.replaceAll('~', '~0').replaceAll('/', '~1') : name
}

const MiB = 2 ** 20

/** Sizes beyond which a document is not looked at: bytes of an Item and of anything else, nesting, schemes, links. */
export const DOCUMENT_LIMITS = { item: 5 * MiB, other: 50 * MiB, depth: 64, schemes: 1000, links: 100_000 } as const
