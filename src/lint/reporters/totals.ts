import type { Summary } from './report.ts'

/** The totals of a run in one line. */
export function totals({ documents, errors, warnings, infos, incomplete, ...more }: Summary): string {
  const { places = 0, baselined = 0, unlisted = 0, skipped = 0, fixable = 0, suggestions = 0 } = more
  const counts = [
    plural(errors, 'error'),
    plural(warnings, 'warning'),
    `${plural(infos, 'info')}${places > 0 ? ` in ${places} places` : ''}`,
  ]
  const rest = [
    baselined > 0 && `${baselined} in the baseline`,
    unlisted > 0 && `${unlisted} findings not listed`,
    incomplete.length > 0 && `${incomplete.length} not read`,
    fixable > 0 && `${fixable} fixable with --fix`,
    suggestions > 0 && `${suggestions} ${fixable > 0 ? 'more ' : ''}with --fix-suggestions`.replace(/^(\d+) with/, '$1 fixable with'),
  ]
  const skips = skipped > 0 ? `; ${plural(skipped, 'file')} skipped as no STAC document${skipped === 1 ? '' : 's'}` : ''
  return `${plural(documents, 'document')}: ${[...counts, ...rest.filter((part) => part !== false)].join(', ')}${skips}`
}

/** The count with its word. */
export function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`
}
