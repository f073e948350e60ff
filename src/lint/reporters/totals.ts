import type { Summary } from './report.ts'

/** The totals of a run in one line. */
export function totals({ documents, errors, warnings, infos, baselined = 0, unlisted = 0, skipped = 0, incomplete }: Summary): string {
  const known = baselined > 0 ? `, ${baselined} in the baseline` : ''
  const counted = unlisted > 0 ? `, ${unlisted} findings not listed` : ''
  const left = incomplete.length > 0 ? `, ${incomplete.length} not read` : ''
  const skips = skipped > 0 ? `; ${plural(skipped, 'file')} skipped as no STAC document${skipped === 1 ? '' : 's'}` : ''
  return `${plural(documents, 'document')}: ${plural(errors, 'error')}, ${plural(warnings, 'warning')}, ${plural(infos, 'info')}${known}${counted}${left}${skips}`
}

/** The count with its word. */
export function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`
}
