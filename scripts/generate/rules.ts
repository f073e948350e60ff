/**
 * Writes a page for each rule of the linter, docs/rules/<id>.md, from the rule and the examples that its tests run, and their list.
 */
import { structuredPatch } from 'diff'
import { rules } from '../../src/lint/index.ts'
import type { Rule, RuleCase } from '../../src/lint/rule.ts'
import { pages } from '../../src/lint/rules/pages.ts'
import { type Files, fill, ruleFixture } from './files.ts'

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
  const parts = [...new Set(cases.map(({ meta: { code } }) => partOf(code)))]
  return `${[
    `# ${id}`,
    ...cases.map((one) => caseOf(id, one)),
    `Extension: ${parts.map((part) => `[${PARTS[part]}](${EXTENSION_TEXT}${part})`).join(', ')}.`,
  ].join('\n\n')}\n`
}

/** Returns the section of the extension's text, by its anchor. */
function partOf(code: string): string {
  const part = pages[code]?.part
  if (!part || !PARTS[part]) throw new Error(`fixtures/rules/${code}.json has no "why", or a "part" that the extension has not`)
  return part
}

function caseOf(id: string, { meta: { code, severity, fix } }: RuleCase): string {
  const { pointer, bad, badText, good, goodText }: Example = ruleFixture(code)
  const { why, repair } = pages[code] as (typeof pages)[string]
  return [
    ...(code === id ? [] : [`## ${code}`]),
    why,
    repair.length === 1 ? repair[0] : repair.map((step, index) => `${index + 1}. ${step}`).join('\n'),
    `${levelText(severity)}${FIXES[fix ?? 'none']} At \`${pointer || '/'}\`:`,
    difference(shown(badText, bad), shown(goodText, good)),
  ].join('\n\n')
}

/** Returns the level of the preset recommended, and those of the others that differ from it, or from off. */
function levelText({ recommended, strict, schema }: RuleCase['meta']['severity']): string {
  const others = [...(strict === recommended ? [] : [`strict: ${strict}`]), ...(schema === 'off' ? [] : [`schema: ${schema}`])]
  return `Level: ${[recommended, ...others].join(', ')}.`
}

const FIXES = {
  safe: ' Fix: `--fix`.',
  suggestion: ' Fix: `--fix-suggestions`.',
  none: '',
}

/** Returns the lines that the repair changes. */
function difference(bad: string, good: string): string {
  const { hunks } = structuredPatch('', '', bad, good, '', '', { context: 0 })
  const lines = hunks.flatMap((hunk, index) => [...(index > 0 ? [' …'] : []), ...hunk.lines.filter((line) => !line.startsWith('\\'))])
  return `\`\`\`diff\n${lines.join('\n')}\n\`\`\``
}

function shown(text: string | undefined, document: unknown): string {
  return text === undefined ? JSON.stringify(document, null, 2) : text.length > 200 ? `${text.slice(0, 200)}…` : text
}

/** A line for each rule, below what it is about. */
function ruleList(): string {
  const sections = [...new Set(rules.map(({ meta: { section } }) => section))]
  return sections
    .map(
      (section) =>
        `\n**${section}**\n\n${rules
          .filter(({ meta }) => meta.section === section)
          .map(ruleLine)
          .join('')}`,
    )
    .join('')
    .slice(1)
}

function ruleLine({ meta: { id }, cases }: Rule): string {
  const codes = cases.map(({ meta: { code } }) => `\`${code}\``)
  return `- [\`${id}\`](rules/${id}.md)${codes.length > 1 ? `: ${codes.join(', ')}` : ''}\n`
}

export const folder = 'docs/rules'
export const files: Files = {
  ...Object.fromEntries(rules.map((rule) => [`docs/rules/${rule.meta.id}.md`, page(rule)])),
  'docs/rules.md': fill({ rules: ruleList() }),
}
