import { type Problem, refuse } from './answers.ts'
import type { FormValue } from './nested-form.ts'
import type { Switches } from './options.ts'
import type { Row, TimeTrackingState } from './state.ts'

/** Reads the text of a field; undefined when it does not fit. */
type Reader = (text: string) => unknown

const text: Reader = (value) => value
const nullable =
  (read: Reader): Reader =>
  (value) =>
    value === '' ? null : read(value)
const flag: Reader = (value) => ({ '1': true, true: true, '0': false, false: false })[value]
const digits: Reader = (value) => (/^\d{1,15}$/.test(value) ? Number(value) : undefined)
const decimal: Reader = (value) => (/^-?\d+(\.\d+)?$/.test(value) ? Number(value) : undefined)
const oneOf =
  (...values: readonly string[]): Reader =>
  (value) =>
    values.includes(value) ? Number(value) : undefined

/** Fields that may be written. */
const WRITABLE: Readonly<Record<string, Reader>> = {
  name: text,
  description: nullable(text),
  active: flag,
  template: flag,
  privacy: oneOf('1', '2'),
  customer_id: nullable(digits),
  required_task: flag,
  billable: flag,
  bill_by: text,
  rate: nullable(decimal),
}

/** What only the read of one project holds. */
const SINGLE_ONLY = ['rate', 'value_total', 'time_total', 'total_members', 'total_active_tasks']

/** The fields that a form writes. 422 for values that do not fit. */
export function projectFields(switches: Switches, form: Readonly<Record<string, FormValue>>): Row {
  const fields: Row = {}
  const problems: Problem[] = []
  for (const [field, value] of Object.entries(form)) {
    const read = WRITABLE[field]
    if (!read) {
      if (!switches.allowExtra) refuse(switches, 400, `Unknown field ${field}`, { violation: `the unknown field ${field}` })
      continue
    }
    const known = typeof value === 'string' ? read(value) : undefined
    if (known === undefined) problems.push({ field, message: 'has an invalid value' })
    else fields[field] = known
  }
  if ('name' in fields && String(fields.name).trim() === '') problems.push({ field: 'name', message: 'is required' })
  if (problems.length > 0) refuse(switches, 422, 'Validation failed', { problems })
  return fields
}

/** A project as it is answered. Flags are written as true and false and come back as 1 and 0 in two of the fields. */
export function projectView({ switches, collections }: TimeTrackingState, row: Row, single: boolean): Row {
  const { created, changed, seconds, rate, billable, required_task, ...plain } = row
  const customer = collections.get('customers')?.get(String(row.customer_id))
  const view: Row = {
    ...plain,
    ...{ billable: Number(billable), required_task: Number(required_task), rate: decimalOf(rate, switches) },
    ...{ date_created: dateOf(created), [switches.changedField]: dateOf(changed), created_by: 3, deleted_by: null },
    ...{ privacy_s: row.privacy === 1 ? 'public' : 'private', status: row.active ? 'active' : 'archived' },
    ...{ customer_name: customer?.name ?? null, is_member: true, is_manager: false },
    ...{ value_total: null, time_total: durationOf(Number(seconds)), total_members: 2, total_active_tasks: 0 },
  }
  return single ? view : Object.fromEntries(Object.entries(view).filter(([name]) => !SINGLE_ONLY.includes(name)))
}

function decimalOf(rate: unknown, { rateAs }: Switches): unknown {
  return rate === null || rateAs === 'number' ? rate : Number(rate).toFixed(2)
}

/** The offset has no colon. */
function dateOf(milliseconds: unknown): string | null {
  return typeof milliseconds === 'number' ? `${new Date(milliseconds).toISOString().slice(0, 19)}+0000` : null
}

/** Hours do not end at 24. */
function durationOf(seconds: number): string {
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0')
  return `${two(seconds / 3600)}:${two((seconds / 60) % 60)}:${two(seconds % 60)}`
}
