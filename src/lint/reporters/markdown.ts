import type { Problem, Severity } from '../problem.ts'
import type { Report, ReportOptions } from './report.ts'
import { escapeLine, type Group, groupsOf, idOf, plural, totals, unreadOf } from './report.ts'

const SIGNS: Readonly<Record<Severity, string>> = { error: '🔴', warn: '🟡', info: '🔵' }

/** A report for job summaries and comments: the totals, then one entry for equal findings. Text of documents is shown as code. */
export function markdown({ problems, summary }: Report, { limit = 100 }: ReportOptions = {}): string {
  const groups = groupsOf(problems)
  const lines = ['## stac-auth lint', '', totals(summary), '']
  for (const group of groups.slice(0, limit)) lines.push(...entry(group))
  if (groups.length > limit) lines.push(`… and ${groups.length - limit} more kinds of findings`)
  const unread = unreadOf(summary.incomplete)
  if (unread.length > 0) lines.push(...(groups.length > 0 ? [''] : []), '### Not read', '')
  for (const { url, code, message } of unread.slice(0, limit))
    lines.push(`- ${codeSpan(url)} ${codeSpan(code)}${message === undefined ? '' : `: ${codeSpan(message)}`}`)
  return `${lines.join('\n').trimEnd()}\n`
}

function entry({ code, severity, message, count, first }: Group): readonly string[] {
  const shown = first.flatMap(placesOf).slice(0, SHOWN)
  const places = shown.map((problem) => `  - ${codeSpan(placeOf(problem))}`)
  const more = count > shown.length ? [`  - … ${plural(count - shown.length, 'more place')}`] : []
  return [`- ${SIGNS[severity]} **${severity}** ${codeSpan(message)} ${codeSpan(code)}${count > 1 ? ` ×${count}` : ''}`, ...places, ...more]
}

/** Maximum number of places of an entry. */
const SHOWN = 3

/** Returns a finding for each of its places. */
function placesOf(problem: Problem): readonly Problem[] {
  return problem.places?.map((place) => ({ ...problem, ...place, document: place.document ?? problem.document })) ?? [problem]
}

function placeOf(problem: Problem): string {
  const { document = 'document', line, column, pointer } = problem
  return `${document}${line === undefined ? '' : `:${line}:${column}`} ${pointer}`.trimEnd() + idOf(problem)
}

/** Returns a code span, which contains no links, mentions, markup or HTML; its fence is longer than any run of backticks in it. */
function codeSpan(text: string): string {
  const content = escapeLine(text)
  const longest = Math.max(0, ...[...content.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return longest > 0 || content.trim() === '' ? `${fence} ${content} ${fence}` : `${fence}${content}${fence}`
}
