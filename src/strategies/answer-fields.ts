/** Fields in the JSON answers of services, at places that the user's credential names. */

/** True for a place: the name of a member, or a JSON Pointer (RFC 6901). */
export function isPlaceInAnswer(place: string): boolean {
  return place !== '' && (!place.startsWith('/') || !/~(?![01])/.test(place))
}

/**
 * Returns the value at a place of an answer: a JSON Pointer (RFC 6901) when it begins with a slash, else the name of a member of the
 * whole. Only own members count; undefined where there is none.
 */
export function fieldAt(answer: unknown, place: string): unknown {
  const names = place.startsWith('/') ? place.slice(1).split('/').map(unescapedName) : [place]
  let value = answer
  for (const name of names) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    if (Array.isArray(value) && !/^(?:0|[1-9]\d{0,9})$/.test(name)) return undefined
    value = (value as Readonly<Record<string, unknown>>)[name]
  }
  return value
}

function unescapedName(name: string): string {
  return name.replaceAll('~1', '/').replaceAll('~0', '~')
}
