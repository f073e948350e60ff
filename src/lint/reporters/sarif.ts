/** SARIF 2.1.0, as code scanning services read it. */
import type { Place, Problem, Severity } from '../problem.ts'
import type { CaseMeta, RuleMeta } from '../rule.ts'
import { rules } from '../rules/index.ts'
import { pages } from '../rules/pages.ts'
import { escapeJson, escapeLine, groupsOf, messageOf, type Report, type ReportOptions, unreadOf } from './report.ts'

/** Maximum number of results that services accept in one run; above it, findings with the same text become one result. */
const MOST = 25_000

const LEVELS: Readonly<Record<Severity, string>> = { error: 'error', warn: 'warning', info: 'note' }

const SCHEMA = 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json'

/** Returns one run with a rule for each code that has findings, as on the terminal. Columns count UTF-16 units; fingerprints are those of the baseline. */
export function sarif({ problems, summary }: Report, { version = '0.0.0' }: ReportOptions = {}, site: string = DOCS_SITE): string {
  const codes = new Set(problems.map(({ code }) => code))
  const used = rules.flatMap(({ meta, cases }) =>
    cases.filter(({ meta: { code } }) => codes.has(code)).map((item) => ruleOf(meta, item.meta, site)),
  )
  const indexes = new Map(used.map(({ id }, index) => [id, index]))
  const results = problems.length > MOST ? groupedResults(problems, indexes) : problems.map((problem) => resultOf(problem, indexes))
  const run = {
    tool: { driver: { name: 'stac-auth', version, ...(site && { informationUri: site }), rules: used } },
    columnKind: 'utf16CodeUnits',
    invocations: [
      {
        executionSuccessful: unreadOf(summary.incomplete).length === 0,
        toolExecutionNotifications: summary.incomplete.map(({ url, code, exit, message }) => ({
          level: exit === 0 ? 'note' : 'error',
          message: {
            text: plain(`${exit === 0 ? 'a limit of this run' : 'could not be read'}: ${url} (${code})${message ? `: ${message}` : ''}`),
          },
        })),
      },
    ],
    results,
  }
  return `${escapeJson({ $schema: SCHEMA, version: '2.1.0', runs: [run] }, 2)}\n`
}

function ruleOf({ id, section }: RuleMeta, { code, severity: { recommended, strict } }: CaseMeta, site: string) {
  const text = pages[code]?.why ?? ''
  const level = recommended === 'off' ? strict : recommended
  return {
    id: code,
    shortDescription: { text: code.replaceAll('-', ' ') },
    fullDescription: { text },
    help: { text },
    helpUri: pageOf(id, code, site),
    defaultConfiguration: { level: level === 'off' ? 'none' : LEVELS[level] },
    properties: { tags: [section] },
  }
}

function groupedResults(problems: readonly Problem[], indexes: ReadonlyMap<string, number>): readonly object[] {
  return groupsOf(problems)
    .slice(0, MOST)
    .flatMap(({ first: [problem], count }) => {
      if (!problem) return []
      const { count: _count, places: _places, ...first } = problem
      const text = count > 1 ? `${problem.message} (${count} places)` : problem.message
      return [{ ...resultOf({ ...first, message: text }, indexes), occurrenceCount: count }]
    })
}

function resultOf(problem: Problem, indexes: ReadonlyMap<string, number>): object {
  const { rule, code, severity, message: _message, fingerprint, count, places = [], ...place } = problem
  const index = indexes.get(code)
  const others = places.filter((other) => other.document !== undefined || other.pointer !== place.pointer)
  return {
    ruleId: code,
    ...(index !== undefined && { ruleIndex: index }),
    level: LEVELS[severity],
    message: { text: plain(messageOf(problem)) },
    locations: [locationOf(place)],
    ...(others.length > 0 && {
      relatedLocations: others.map((other) => locationOf({ ...other, document: other.document ?? place.document })),
    }),
    ...(count !== undefined && { occurrenceCount: count }),
    properties: { rule, ...(place.id !== undefined && { id: place.id }) },
    ...(fingerprint !== undefined && { partialFingerprints: { 'stacAuthFinding/v1': fingerprint } }),
  }
}

/** Escapes text in which braces would be placeholders, and brackets before parentheses links (SARIF §3.11.5, §3.11.6). */
function plain(text: string): string {
  return escapeLine(text)
    .replace(/[[\]\\]/g, '\\$&')
    .replaceAll('{', '{{')
    .replaceAll('}', '}}')
}

function locationOf({ document = 'document', pointer, line, column, ...end }: Located): object {
  const { endLine, endColumn } = end
  return {
    physicalLocation: {
      artifactLocation: { uri: uriOf(document) },
      ...(line !== undefined && { region: { startLine: line, startColumn: column, endLine, endColumn } }),
    },
    ...(pointer !== '' && { logicalLocations: [{ fullyQualifiedName: pointer, kind: 'value' }] }),
  }
}

type Located = Omit<Place, 'document'> & Pick<Problem, 'endLine' | 'endColumn'> & { readonly document?: string | undefined }

/** Returns a path as a reference relative to the root of the repository, an absolute one as a `file:` URL. */
function uriOf(document: string): string {
  if (/^https?:\/\//i.test(document))
    return document.replace(/[^\x21-\x7e]|["<>\\^`{|}]/gu, (char) => encodeURIComponent(char.toWellFormed()))
  const path = document
    .replace(/^\.\//, '')
    .split('/')
    .map((name) => encodeURIComponent(name.toWellFormed()))
    .join('/')
  return path.startsWith('/') ? `file://${path}` : path
}

/** Returns the URL of the page of a rule, at the part about one of its codes; that of the extension as long as the documentation has no site. */
export function pageOf(rule: string, code: string, site: string = DOCS_SITE): string {
  return site === '' ? EXTENSION_PAGE : `${site}rules/${rule}.html${code === rule ? '' : `#${code}`}`
}

const EXTENSION_PAGE = 'https://github.com/stac-extensions/authentication'

/** The field `homepage` of `package.json`, which `npm run generate` writes here: empty until the project has a site. */
const DOCS_SITE: string = ''
