import { usageError } from '../usage.ts'

/** What the arguments say about the fields of a record. */
export interface FieldOptions {
  readonly name?: string
  readonly set?: readonly string[]
}

/** The fields to write, as text. Errors: `USAGE` for none, for one that is given twice, and for what is no field. */
export function writtenFields({ name, set = [] }: FieldOptions): Readonly<Record<string, string>> {
  const pairs = set.map((text): [string, string] => {
    const equals = text.indexOf('=')
    if (equals < 1) throw usageError('--set wants FIELD=VALUE')
    return [text.slice(0, equals), text.slice(equals + 1)]
  })
  if (name !== undefined) pairs.unshift(['name', name])
  if (pairs.length === 0) throw usageError('what is to be written? Give --name NAME or --set FIELD=VALUE')
  const twice = pairs.find(([field], index) => pairs.findIndex(([other]) => other === field) < index)
  if (twice) throw usageError(`the field ${JSON.stringify(twice[0])} is given twice`)
  return Object.fromEntries(pairs)
}
