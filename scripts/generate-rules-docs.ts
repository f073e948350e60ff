/**
 * Writes a page for each rule of the linter, docs/rules/<id>.md, from the rule and the examples that its tests run.
 * `--check` compares only.
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { rules } from '../src/lint/index.ts'
import type { Rule, RuleCase } from '../src/lint/rule.ts'
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

function page({ meta: { id, section }, cases }: Rule): string {
  return `${[`# ${id}`, `Section: ${section}`, ...cases.map((one) => caseOf(id, one))].join('\n\n')}\n`
}

function caseOf(id: string, { meta: { code, severity, messages, fix } }: RuleCase): string {
  const { recommended, strict, schema } = severity
  const example: Example = JSON.parse(readFileSync(new URL(`${code}.json`, FIXTURES), 'utf8'))
  return [
    ...(code === id ? [] : [`## ${code}`]),
    pages[id]?.[code],
    `Preset recommended: ${recommended}, strict: ${strict}, schema: ${schema}. Fix: ${fix ?? 'none'}.`,
    `### Messages\n\n${Object.values(messages)
      .map((message) => `- \`${message}\``)
      .join('\n')}`,
    `### Found\n\n${fragment(example.badText, example.bad, example.pointer)}`,
    `### Not found\n\n${fragment(example.goodText, example.good, example.pointer)}`,
  ].join('\n\n')
}

/** The object around the place, or the first one around it that the document has. */
function fragment(text: string | undefined, document: unknown, pointer: string): string {
  if (text !== undefined) return fence(text.length > 200 ? `${text.slice(0, 200)}…` : text)
  const names = pointer.split('/').slice(1, -1)
  while (names.length > 0 && at(document, names) === undefined) names.pop()
  const shown = names.length > 0 ? { [names.at(-1) ?? '']: at(document, names) } : document
  return `At \`/${names.join('/')}\`:\n\n${fence(JSON.stringify(shown, null, 2))}`
}

function at(value: unknown, names: readonly string[]): unknown {
  return names.reduce<unknown>((inner, name) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, name) : undefined), value)
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
