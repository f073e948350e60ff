/**
 * Writes a page for each rule of the linter, docs/rules/<id>.md, from the rule and the examples that its tests run.
 * `--check` compares only.
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { rules } from '../src/lint/index.ts'
import type { Rule, RuleCase, RuleMeta } from '../src/lint/rule.ts'
import { pages } from '../src/lint/rules/pages.ts'
import { checkOnly, emit } from './emit.ts'

const FIXTURES = new URL('../fixtures/rules/', import.meta.url)
const PAGES = new URL('../docs/rules/', import.meta.url)

/** The examples of a rule, as its tests run them. */
interface Example {
  readonly pointer: string
  readonly bad?: unknown
  readonly good?: unknown
  readonly badText?: string
  readonly goodText?: string
}

/** The part of the extension's own text that the rules of a section hold documents against. */
const EXTENSION_TEXT = 'https://github.com/stac-extensions/authentication#'
const PARTS: Readonly<Record<RuleMeta['section'], readonly [anchor: string, title: string]>> = {
  placement: ['fields', 'Fields'],
  references: ['fields', 'Fields'],
  schemes: ['authentication-scheme-object', 'Authentication Scheme Object'],
  flows: ['oauth2-flow-object', 'OAuth2 Flow Object and Signed URL Object'],
  run: ['authentication-extension-specification', 'Authentication Extension Specification'],
  crawl: ['authentication-extension-specification', 'Authentication Extension Specification'],
  online: ['simple-s3-authentication', 'Simple S3 authentication'],
}

function page({ meta: { id, section }, cases }: Rule): string {
  const [anchor, title] = PARTS[section]
  const codes = cases.map(({ meta: { code } }) => `[\`${code}\`](#${code})`).join(', ')
  return `${[
    `# ${id}`,
    ...(cases.length > 1 ? [`Codes: ${codes}. \`--rule ${id}=off|info|warn|error\` sets all of them, the code sets one.`] : []),
    `The text of the extension: [${title}](${EXTENSION_TEXT}${anchor}).`,
    ...cases.map((one) => caseOf(id, one)),
  ].join('\n\n')}\n`
}

function caseOf(id: string, { meta: { code, severity, messages, fix } }: RuleCase): string {
  const { recommended, strict, schema } = severity
  const { pointer, bad, badText, good, goodText }: Example = JSON.parse(readFileSync(new URL(`${code}.json`, FIXTURES), 'utf8'))
  return [
    ...(code === id ? [] : [`## ${code}`]),
    `**Why it matters.** ${pages[id]?.[code]}`,
    `**What it says**, and how to repair it:\n\n${Object.values(messages)
      .map((message) => `- \`${message}\``)
      .join('\n')}`,
    REPAIRS[fix ?? 'none'],
    `Preset recommended: ${recommended}, strict: ${strict}, schema: ${schema}.`,
    `### Before\n\nFound at \`${pointer || '/'}\`:\n\n${whole(badText, bad)}`,
    `### After\n\n${whole(goodText, good)}`,
  ].join('\n\n')
}

const REPAIRS = {
  safe: '`--fix` repairs it where only one meaning is possible.',
  suggestion: '`--fix-suggestions` repairs it where the meaning can be guessed; look at the result.',
  none: 'No fix repairs it: only its author knows what was meant.',
}

/** The whole document: a fragment does not say what is around it. */
function whole(text: string | undefined, document: unknown): string {
  return fence(text === undefined ? JSON.stringify(document, null, 2) : text.length > 200 ? `${text.slice(0, 200)}…` : text)
}

function fence(text: string): string {
  return `\`\`\`json\n${text}\n\`\`\``
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const check = checkOnly()
  for (const rule of rules) emit(new URL(`${rule.meta.id}.md`, PAGES), page(rule), check)
  for (const name of readdirSync(PAGES).filter((file) => !rules.some(({ meta }) => `${meta.id}.md` === file))) {
    console.error(`docs/rules/${name} has no rule`)
    if (check) process.exitCode = 1
    else rmSync(new URL(name, PAGES))
  }
}
