/**
 * Writes a page for each rule of the linter, docs/rules/<id>.md, from the rule and the examples that its tests run, and their table.
 */
import { structuredPatch } from 'diff'
import { rules } from '../../src/lint/index.ts'
import type { Rule, RuleCase } from '../../src/lint/rule.ts'
import { pages } from '../../src/lint/rules/pages.ts'
import { type Files, fill, ruleFixture, table } from './files.ts'

/** The examples of a rule, as its tests run them. */
interface Example {
  readonly pointer: string
  readonly bad?: unknown
  readonly good?: unknown
  readonly badText?: string
  readonly goodText?: string
}

const EXTENSION_TEXT = 'https://github.com/stac-extensions/authentication#'

/** The titles of the sections in the text of the extension, by their anchors. */
const PARTS: Readonly<Record<string, string>> = {
  fields: 'Fields',
  'scheme-types': 'Scheme Types',
  'authentication-scheme-object': 'Authentication Scheme Object',
  'oauth2-flow-object': 'OAuth2 Flow Object',
  'signed-url-object': 'Signed URL Object',
  'parameter-object': 'Parameter Object',
}

function page({ meta: { id }, cases }: Rule): string {
  const codes = cases.map(({ meta: { code } }) => `[\`${code}\`](#${code})`).join(', ')
  return `${[
    `# ${id}`,
    ...(cases.length > 1 ? [`Codes: ${codes}. \`--rule ${id}=off|info|warn|error\` sets all of them, the code sets one.`] : []),
    ...cases.map((one) => caseOf(id, one)),
  ].join('\n\n')}\n`
}

function caseOf(id: string, { meta: { code, severity, messages, fix } }: RuleCase): string {
  const { recommended, strict, schema } = severity
  const { pointer, bad, badText, good, goodText }: Example = ruleFixture(code)
  const docs = pages[code]
  const title = docs && PARTS[docs.part]
  if (!docs || !title) throw new Error(`fixtures/rules/${code}.json has no "why", or a "part" that the extension has not`)
  const { part, why, repair } = docs
  const isOne = code === id
  const heading = isOne ? '##' : '###'
  return [
    ...(isOne ? [] : [`## ${code}`]),
    why,
    Object.values(messages)
      .map((message) => `- \`${message}\``)
      .join('\n'),
    `Presets: recommended ${recommended}, strict ${strict}, schema ${schema}. ${FIXES[fix ?? 'none']}Extension: [${title}](${EXTENSION_TEXT}${part}).`,
    `${heading} Repair\n\n${repair.map((step, index) => `${index + 1}. ${step}`).join('\n')}`,
    `${heading} Example\n\nThe finding is at \`${pointer || '/'}\`:\n\n${difference(shown(badText, bad), shown(goodText, good))}`,
  ].join('\n\n')
}

const FIXES = {
  safe: 'Fix: `--fix`. ',
  suggestion: 'Fix: `--fix-suggestions`, to be reviewed. ',
  none: '',
}

/** Returns the lines that the repair changes, with those around them. */
function difference(bad: string, good: string): string {
  const { hunks } = structuredPatch('', '', bad, good, '', '', { context: 1 })
  const lines = hunks.flatMap((hunk, index) => [...(index > 0 ? [' …'] : []), ...hunk.lines.filter((line) => !line.startsWith('\\'))])
  return `\`\`\`diff\n${lines.join('\n')}\n\`\`\``
}

function shown(text: string | undefined, document: unknown): string {
  return text === undefined ? JSON.stringify(document, null, 2) : text.length > 200 ? `${text.slice(0, 200)}…` : text
}

function ruleTable(): string {
  const rows = rules.flatMap(({ meta: { id, section }, cases }) => {
    const name = `[\`${id}\`](rules/${id}.md)`
    const levels = cases.map(({ meta: { code, severity } }) => ({ code, levels: [severity.recommended, severity.strict] }))
    if (levels.length === 1) return levels.map((one) => [name, ...one.levels, section])
    return [[name, '', '', section], ...levels.map((one) => [`– \`${one.code}\``, ...one.levels, ''])]
  })
  return table(['rule', 'recommended', 'strict', 'about'], rows)
}

export const folder = 'docs/rules'
export const files: Files = {
  ...Object.fromEntries(rules.map((rule) => [`docs/rules/${rule.meta.id}.md`, page(rule)])),
  'docs/rules.md': fill({ rules: ruleTable() }),
}
