/** Returns the rows that are named, in their order; all of them without a name. Throws a RangeError for a name that no row has. */
export function chosenRows<T>(rows: Readonly<Record<string, T>>, named: readonly string[]): readonly (readonly [string, T])[] {
  const unknown = named.filter((name) => !Object.hasOwn(rows, name))
  if (unknown.length > 0) throw new RangeError(`unknown row: ${unknown.join(', ')}. Rows: ${Object.keys(rows).join(', ')}`)
  return Object.entries(rows).filter(([name]) => named.length === 0 || named.includes(name))
}
