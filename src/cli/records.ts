/** Prints the records of a service: JSON, one line for each record of a list, or one line for each field. */

import { isObject } from '../stac/document.ts'
import { forJson, forLine } from '../text/sanitize.ts'

/** Returns a value as the JSON that `--json` prints; null for nothing. */
export function jsonText(value: unknown): string {
  return `${forJson(value ?? null, 2)}\n`
}

/** Returns one line for each field; nothing for an empty response. */
export function recordText(record: unknown): string {
  if (record === undefined) return ''
  if (!isObject(record)) return recordLine([record])
  return Object.entries(record)
    .map(([name, value]) => recordLine([`${name}: ${valueText(value)}`]))
    .join('')
}

/** Returns a line of the values that there are. */
export function recordLine(values: readonly unknown[]): string {
  const present = values.filter((value) => value !== undefined && value !== null && value !== '')
  return `${forLine(present.map(valueText).join('  '))}\n`
}

function valueText(value: unknown): string {
  return typeof value === 'string' ? value : forJson(value ?? null)
}
