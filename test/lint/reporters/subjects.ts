/** Reports for the tests of the formats. */
import type { Problem } from '../../../src/lint/index.ts'
import { type Report, reportOf } from '../../../src/lint/reporters/report.ts'

/** A finding with a place; overrides lie over it. */
export function problemWith(over: Partial<Problem> = {}): Problem {
  const place = { line: 4, column: 9, endLine: 4, endColumn: 15 }
  const what = { rule: 'dangling-ref', code: 'dangling-ref', severity: 'error', message: '"gone" is not defined in auth:schemes' } as const
  return {
    ...what,
    document: 'items/a.json',
    id: 'a',
    pointer: '/assets/data/auth:refs/0',
    ...place,
    fingerprint: 'dangling-ref a /x',
    ...over,
  }
}

/** Everything that somebody could try: escapes, line ends, commands, markup, ends of sections, directions, halves. */
export const HOSTILE =
  '\u001b[2J\r\n::error::pwned\u2028::stop-commands::x\n##[add-mask]x ##vso[task.setvariable]y ##teamcity[z]%0A::error::q ' +
  ']]></failure><script>alert(1)</script><!-- `code` ``two`` | a | @someone [link](javascript:x) ![i](http://x) {0} \u202egnp.exe\u0000\ufffe\ud800'

/** A report in which every text is hostile, document names and addresses too. */
export function hostileReport(): Report {
  const texts = { message: HOSTILE, document: HOSTILE, id: HOSTILE, pointer: `/${HOSTILE}`, fingerprint: HOSTILE }
  const problems = (['error', 'warn', 'info'] as const).map((severity) => problemWith({ ...texts, severity }))
  return reportOf([...problems, problemWith({ ...texts, document: `::error::${HOSTILE}` })], 2, [
    { url: HOSTILE, code: 'FILE_ACCESS', message: HOSTILE },
  ])
}
