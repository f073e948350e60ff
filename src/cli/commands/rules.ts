import { readFile } from 'node:fs/promises'
import type { Command } from 'commander'
import type { RuleMeta } from '../../lint/rule.ts'
import { forJson, forTerminal } from '../../text/sanitize.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-code.ts'
import { write } from '../io.ts'
import { usageError } from '../usage.ts'

interface RulesOptions {
  readonly json?: boolean
}

/** A rule and why it exists. */
interface Listed extends RuleMeta {
  readonly docs: string
}

/** `rules [ID]`: the rule catalogue, or one rule's page. */
export function addRules(program: Command, context: Context): void {
  program
    .command('rules [id]')
    .description('list the rules of lint, or explain one')
    .option('--json', 'print JSON')
    .action(context.run((id: string | undefined, options: RulesOptions) => show(id, options, context)))
}

async function show(id: string | undefined, { json }: RulesOptions, { io }: Context): Promise<number> {
  const [{ rules }, { pages }] = await Promise.all([import('../../lint/index.ts'), import('../../lint/rules/pages.ts')])
  const all = rules.map(({ meta }): Listed => ({ ...meta, docs: pages[meta.id] ?? '' }))
  const one = all.find((meta) => meta.id === id)
  if (id !== undefined && !one) throw usageError(`there is no rule "${id}"`, 'stac-auth rules lists them')
  if (json) await write(io.stdout, `${forJson(one ?? all, 2)}\n`)
  else await write(io.stdout, one ? pageOf(one) + (await examplesOf(one.id)) : tableOf(all))
  return EXIT.done
}

function tableOf(all: readonly Listed[]): string {
  const width = Math.max(...all.map(({ id }) => id.length))
  const head = `${'rule'.padEnd(width)}  recommended  strict  schema  fix`
  const rows = all.map(({ id, severity: { recommended, strict, schema }, fix = '' }) =>
    `${id.padEnd(width)}  ${recommended.padEnd(11)}  ${strict.padEnd(6)}  ${schema.padEnd(6)}  ${fix}`.trimEnd(),
  )
  return `${[head, ...rows].join('\n')}\n`
}

function pageOf({ id, section, severity: { recommended, strict, schema }, docs, messages, fix }: Listed): string {
  const levels = `recommended: ${recommended}   strict: ${strict}   schema: ${schema}${fix ? `   fix: ${fix}` : ''}`
  const texts = Object.values(messages).map((message) => `  ${message}`)
  return forTerminal([`${id} (${section})`, '', docs, '', levels, '', 'It says:', ...texts, ''].join('\n'))
}

/** What is found and what is not, from the rule's page in the package; the tests of the rule run the same examples. */
async function examplesOf(id: string): Promise<string> {
  const page = await readFile(new URL(`../../../docs/rules/${id}.md`, import.meta.url), 'utf8').catch(() => '')
  const [, examples] = page.split('\n## Found\n')
  if (examples === undefined) return ''
  const text = `Found:\n${examples}`.replace('## Not found', 'Not found:').replace(/^```.*\n/gm, '')
  return `\n${forTerminal(text)}`
}
