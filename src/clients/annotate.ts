/** Says more about an error, where that is possible: one that is frozen, or is sealed in what it says, stays as it is. */
export function annotate(error: object, fields: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(fields)) Reflect.defineProperty(error, name, { value, enumerable: true, configurable: true })
}
