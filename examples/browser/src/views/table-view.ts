import type { Auth, Target } from 'stac-auth'
import { readTable } from '../data/table.ts'
import { element } from '../dom.ts'

/** The first rows of a Parquet file. */
export async function tableView(auth: Auth, target: Target): Promise<HTMLElement> {
  const { rows, columns, first } = await readTable(auth, target)
  const caption = `${rows.toLocaleString()} rows, ${columns.length} columns; the first ${first.length}:`
  return element(
    'div',
    { class: 'table', tabindex: '0', role: 'region', 'aria-label': 'First rows' },
    element(
      'table',
      {},
      element('caption', {}, caption),
      element('thead', {}, element('tr', {}, ...columns.map((name) => element('th', { scope: 'col' }, name)))),
      element('tbody', {}, ...first.map((row) => element('tr', {}, ...columns.map((name) => element('td', {}, wordsFor(row[name])))))),
    ),
  )
}

function wordsFor(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (value instanceof Date) return value.toISOString()
  if (value instanceof Uint8Array) return `${value.length} bytes`
  return typeof value === 'object'
    ? JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'bigint' ? String(inner) : inner))
    : String(value)
}
