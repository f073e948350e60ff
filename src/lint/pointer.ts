/** RFC 6901 pointers, taken apart. */

/** The names of a pointer, unescaped. */
export function namesOf(pointer: string): string[] {
  const names = pointer.split('/').slice(1)
  return pointer.includes('~') ? names.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~')) : names
}

/** The member or element of that name, else undefined; own ones only. */
export function inside(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined
}

/** What the pointer leads to, or undefined. */
export function valueAt(value: unknown, pointer: string): unknown {
  return namesOf(pointer).reduce(inside, value)
}

/**
 * Returns the pointer of the scheme of a finding about a type: the finding is at the `type`, or at the scheme that has none, which
 * may be named "type" itself.
 */
export function schemeOfType(pointer: string): string {
  return pointer.replace(/((?:\/summaries\/auth:schemes\/\d+|(?<!\/summaries)\/auth:schemes)\/[^/]*)\/type$/, '$1')
}
