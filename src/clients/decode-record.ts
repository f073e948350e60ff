/** What reads each known field; undefined is a value that does not fit. */
export type FieldReaders = Readonly<Record<string, (value: unknown) => unknown>>

/** A field whose value does not fit, and stays as it came. */
export interface DecodeIssue {
  readonly field: string
  readonly message: string
}

/** A record, and what of it could not be read. `decodeIssues` is not enumerable: it is not sent back. */
export type Decoded<T> = T & { readonly decodeIssues: readonly DecodeIssue[] }

/** A copy of a record with its known fields read. Others, null and what is absent stay as they are. Never throws. */
export function decodeRecord<T extends object>(record: T, readers: FieldReaders): Decoded<T> {
  const issues: DecodeIssue[] = []
  const entries = Object.entries(record).map(([field, value]) => {
    const read = Object.hasOwn(readers, field) ? readers[field] : undefined
    if (!read || value === null || value === undefined) return [field, value] as const
    const decoded = read(value)
    if (decoded === undefined) issues.push({ field, message: `has an unexpected value of type ${typeof value}` })
    return [field, decoded === undefined ? value : decoded] as const
  })
  return Object.defineProperty(Object.fromEntries(entries), 'decodeIssues', { value: issues, enumerable: false }) as Decoded<T>
}
