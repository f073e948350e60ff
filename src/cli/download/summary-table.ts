import { plural } from '../../lint/reporters/totals.ts'
import { forLine } from '../../text/sanitize.ts'
import type { Style } from '../style.ts'
import { bytesText, timeText } from './amounts.ts'
import type { Count, Totals } from './totals.ts'

/** The strongest first. */
const WAYS = {
  checksum: 'by checksum',
  digest: 'by hash of the server',
  server: 'by their server',
  manifest: 'by manifest',
  size: 'by size',
  length: 'by length',
  nothing: 'unchecked',
} as const

/** What came of a download, as lines for people. */
export function summaryTable(totals: Totals, folder: string, style: Style): string {
  const { written, kept, skipped, failed, stopped, documents, received, retries, milliseconds } = totals
  const rows = [
    row('written', written.files, style.green, written),
    row('kept', kept.files, style.green, kept),
    row('skipped', skipped, style.green),
    row('failed', failed, style.red),
    row('stopped', stopped, style.yellow),
    row('items', documents, style.green),
  ].filter((text) => text !== '')
  const rate = received > 0 ? ` (${bytesText((received * 1000) / Math.max(1, milliseconds))}/s)` : ''
  const again = retries > 0 ? `, ${plural(retries, 'attempt')} repeated` : ''
  const last = `${bytesText(received)} received in ${milliseconds < 59_950 ? `${(milliseconds / 1000).toFixed(1)} s` : timeText(milliseconds)}${rate}${again}, in ${forLine(folder)}`
  return [...rows, last, ''].join('\n')
}

function row(name: string, files: number, paint: (text: string) => string, count?: Count): string {
  if (files === 0) return ''
  const verified = Object.entries(WAYS).flatMap(([way, words]) => {
    const number = count?.verified.get(way as keyof typeof WAYS) ?? 0
    return number === 0 ? [] : number === files ? words : `${number} ${words}`
  })
  const bytes = count ? bytesText(count.bytes) : ''
  return `${paint(name.padEnd(8))}${String(files).padStart(7)}  ${bytes.padStart(10)}  ${verified.join(', ')}`.trimEnd()
}
