/** Records of a service, which may hold anything, for people. */
import { forJson, forLine } from '../../text/sanitize.ts'

/** One line for each record: id, name, and what else tells them apart. */
export function listText(records: readonly unknown[]): string {
  return records.map((record) => `${forLine(columns(record).join('  '))}\n`).join('')
}

/** One line for each field; an empty answer is nothing. */
export function recordText(record: unknown): string {
  if (record === undefined) return ''
  if (!isRecord(record)) return `${forLine(valueText(record))}\n`
  return Object.entries(record)
    .map(([name, value]) => `${forLine(`${name}: ${valueText(value)}`)}\n`)
    .join('')
}

function columns(record: unknown): string[] {
  if (!isRecord(record)) return [valueText(record)]
  const { id, name, status, customer_name } = record
  return [id, name, status, customer_name].filter((value) => value !== undefined && value !== null).map(valueText)
}

function valueText(value: unknown): string {
  return typeof value === 'string' ? value : forJson(value ?? null)
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
