import type { Summary } from './report.ts'

/** The totals of a run in one line. */
export function totals({ documents, errors, warnings, infos, baselined = 0, incomplete }: Summary): string {
  const known = baselined > 0 ? `, ${baselined} in the baseline` : ''
  const left = incomplete.length > 0 ? `, ${incomplete.length} not read` : ''
  return `${plural(documents, 'document')}: ${plural(errors, 'error')}, ${plural(warnings, 'warning')}, ${plural(infos, 'info')}${known}${left}`
}

/** The count with its word. */
export function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`
}
