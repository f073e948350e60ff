import { forLine } from '../../text/sanitize.ts'
import type { Problem, Severity } from '../problem.ts'
import type { Incomplete, Report } from './report.ts'
import { escapeLine, messageOf, totals, unreadBesides, worstFirst } from './report.ts'

/** Maximum number of annotations of each kind that GitHub shows for one step. */
const SHOWN = 10

const COMMANDS: Readonly<Record<Severity, string>> = { error: 'error', warn: 'warning', info: 'notice' }

/**
 * Workflow commands that become annotations on GitHub: inputs that could not be read and the most severe findings, as many as GitHub
 * shows, then the totals. The complete list belongs into the job summary: `--format markdown="$GITHUB_STEP_SUMMARY"`.
 */
export function github(report: Report): string {
  const { problems, summary } = report
  const failures = unreadBesides(report).slice(0, SHOWN).map(failure)
  const room: Record<Severity, number> = { error: SHOWN - failures.length, warn: SHOWN, info: SHOWN - 1 }
  const shown = worstFirst(problems).filter(({ severity }) => room[severity]-- > 0)
  const left = problems.length - shown.length + (summary.unlisted ?? 0)
  const rest = left > 0 ? `; ${left} findings have no annotation` : ''
  return `${[...failures, ...shown.map(annotation), `::notice title=stac-auth::${data(totals(summary) + rest)}`].join('\n')}\n`
}

function failure({ url, code, message }: Incomplete): string {
  const file = isLocal(url) ? `file=${property(url)},` : ''
  return `::error ${file}title=${property(`stac-auth ${code}`)}::${data(message ?? `${url}: could not be read`)}`
}

/** True for a document that is a file, to which GitHub can attach an annotation. */
function isLocal(document: string): boolean {
  return document !== '' && document !== '-' && !document.includes('://')
}

function annotation(problem: Problem): string {
  const { severity, code, document = '', pointer, ...place } = problem
  const local = isLocal(document)
  const { line, column, endLine, endColumn } = place
  // GitHub refuses columns for ranges of several lines; on one line the end column is inclusive.
  const columns =
    line === endLine ? { col: column, endColumn: endColumn === undefined ? undefined : Math.max(column ?? 1, endColumn - 1) } : {}
  const properties = { ...(local && { file: document, line, endLine, ...columns }), title: `stac-auth ${code}` }
  const written = Object.entries(properties).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${property(String(value))}`]))
  const where = local ? pointer : `${document} ${pointer}`
  return `::${COMMANDS[severity]} ${written.join(',')}::${data(`${messageOf(problem)}${where.trim() && ` (${where.trim()})`}`)}`
}

/** Escapes data: it ends at the line end, and `%` starts an escape. Control characters are escaped before, so nothing else ends it. */
function data(text: string): string {
  return escapeLine(forLine(text)).replaceAll('%', '%25')
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
