/**
 * Writes the JSON of `fixtures/conformance`: the cases of `conformance-cases.ts`, and one pair of documents for each finding of the linter.
 */
import { lintText, rules } from '../../src/lint/index.ts'
import { pages } from '../../src/lint/rules/pages.ts'
import { authorizeCases } from './conformance-cases.ts'
import { type Files, ruleFixture } from './files.ts'

/** Raised when a reader of the old files would misread the new ones; a new case does not raise it. */
const VERSION = 1

const textOf = (document: unknown, text?: string) => text ?? JSON.stringify(document, null, 2)

/** What needs a server to be seen is not in the kit. */
const lintCases = rules.flatMap(({ meta: { id: rule, section }, cases }) =>
  section === 'crawl' || section === 'online'
    ? []
    : cases.map(({ meta: { code, severity } }) => {
        const { pointer, bad, badText, good, goodText } = ruleFixture(code)
        // A text that is no JSON has no places.
        const place = code === 'not-json' ? '' : pointer
        const passing = textOf(good, goodText)
        return {
          id: code,
          title: pages[code]?.why,
          rule,
          severity: severity.strict,
          pointer: place,
          bad: textOf(bad, badText),
          good: passing,
          // Something else is found there, which only the code tells apart.
          ...(lintText(passing, { preset: 'strict' }).some((problem) => problem.pointer === place) && { goodByCodeOnly: true }),
        }
      }),
)

const ids = [...authorizeCases, ...lintCases].map(({ id }) => id)
const twice = ids.find((id, index) => ids.indexOf(id) !== index)
if (twice) throw new Error(`two cases have the id ${twice}`)

const kit = { authorize: authorizeCases, lint: lintCases }
export const files: Files = Object.fromEntries(
  Object.entries(kit).map(([kind, cases]) => [
    `fixtures/conformance/${kind}.json`,
    `${JSON.stringify({ version: VERSION, kind, cases }, null, 2)}\n`,
  ]),
)
