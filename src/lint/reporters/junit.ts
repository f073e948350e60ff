import { LEVELS, type Problem } from '../problem.ts'
import type { Report, ReportOptions } from './report.ts'
import { escapeLine, messageOf, plural, unreadOf } from './report.ts'

/**
 * A JUnit report: a test case for each document; findings of `failSeverity` and higher are failures, others its output. What could not be
 * read is an error of the suite, and a limit that the user set a skipped case. Clean documents are listed as far as their names are known.
 */
export function junit({ problems, summary }: Report, { names = [], failSeverity = 'error' }: ReportOptions = {}): string {
  const fails = ({ severity }: Problem) => LEVELS.indexOf(severity) >= LEVELS.indexOf(failSeverity)
  const cases = new Map<string, Problem[]>(names.map((name) => [name, []]))
  for (const problem of problems) {
    const name = problem.document ?? 'document'
    const found = cases.get(name)
    if (found) found.push(problem)
    else cases.set(name, [problem])
  }
  const failures = [...cases.values()].filter((found) => found.some(fails)).length
  const errors = unreadOf(summary.incomplete).length
  const counts = `tests="${cases.size + summary.incomplete.length}" failures="${failures}" errors="${errors}"`
  const unread = summary.incomplete.map(({ url, code, exit, message = 'could not be read' }) => {
    const outcome = exit === 0 ? '<skipped message="a limit of this run"/>' : `<error type="${xml(code)}" message="${xml(message)}"/>`
    return `    <testcase classname="stac-auth" name="${xml(url)}">\n      ${outcome}\n    </testcase>`
  })
  const suite = [
    `  <testsuite name="stac-auth lint" ${counts}>`,
    ...[...cases].map(([name, found]) => testCase(name, found, fails)),
    ...unread,
    '  </testsuite>',
  ]
  return ['<?xml version="1.0" encoding="UTF-8"?>', `<testsuites name="stac-auth" ${counts}>`, ...suite, '</testsuites>', ''].join('\n')
}

function testCase(name: string, found: readonly Problem[], fails: (problem: Problem) => boolean): string {
  const open = `    <testcase classname="stac-auth" name="${xml(name)}"`
  if (found.length === 0) return `${open}/>`
  const failed = found.filter(fails)
  const told = found.filter((problem) => !fails(problem))
  const noun = failed.every(({ severity }) => severity === 'error') ? 'error' : 'finding'
  return [
    `${open}>`,
    ...(failed.length > 0
      ? [`      <failure type="${xml(failed[0]?.code ?? '')}" message="${plural(failed.length, noun)}">${textOf(failed)}</failure>`]
      : []),
    ...(told.length > 0 ? [`      <system-out>${textOf(told)}</system-out>`] : []),
    '    </testcase>',
  ].join('\n')
}

function textOf(problems: readonly Problem[]): string {
  return problems
    .map((problem) => {
      const { line, column, pointer, code } = problem
      return xml(`${line === undefined ? '' : `${line}:${column} `}${messageOf(problem)} [${code}] ${pointer}`.trimEnd())
    })
    .join('\n')
}

/** `>` too, so that no text contains the end of a CDATA section. Characters that XML cannot contain are written as escapes. */
function xml(text: string): string {
  return escapeLine(text)
    .replace(/[\ufffe\uffff]/g, (char) => `\\u{${char.charCodeAt(0).toString(16)}}`)
    .replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`)
}
