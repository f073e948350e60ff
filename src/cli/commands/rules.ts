import { readFile } from 'node:fs/promises'
import type { Command } from 'commander'
import type { CaseMeta, RuleMeta } from '../../lint/rule.ts'
import { forJson, forTerminal } from '../../text/sanitize.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-code.ts'
import { packageFile, write } from '../io.ts'
import { unknownRule } from '../lint/lint-options.ts'
import { aligned } from '../units.ts'

interface RulesOptions {
  readonly json?: boolean
}

/** A rule with its cases and their documentation. */
interface Listed extends RuleMeta {
  /** Its cases, each with a code of its own. */
  readonly cases: readonly ListedCase[]
}

interface ListedCase extends CaseMeta {
  /** Why the case exists. */
  readonly docs: string
  /** Steps of the repair. */
  readonly repair: readonly string[]
}

/** `rules [ID]`: prints the rule catalogue, or the page of one rule. */
export function addRules(program: Command, context: Context): void {
  program
    .command('rules [id]')
    .description('list the lint rules, or explain one')
    .option('--json', 'print JSON')
    .action(context.run((id: string | undefined, options: RulesOptions) => show(id, options, context)))
}

async function show(id: string | undefined, { json }: RulesOptions, { io }: Context): Promise<number> {
  const [{ rules }, { pages }] = await Promise.all([import('../../lint/index.ts'), import('../../lint/rules/pages.ts')])
  const all = rules.map(({ meta, cases }): Listed => {
    const listed = cases.map((item) => {
      const { why = '', repair = [] } = pages[item.meta.code] ?? {}
      return { ...item.meta, docs: why, repair }
    })
    return { ...meta, cases: listed }
  })
  const one = all.find((rule) => rule.id === id || rule.cases.some(({ code }) => code === id))
  if (id !== undefined && !one) {
    const known = all.flatMap((rule) => [rule.id, ...rule.cases.map(({ code }) => code)])
    throw unknownRule(id, known)
  }
  if (json) await write(io.stdout, `${forJson(one ?? all, 2)}\n`)
  else await write(io.stdout, one && id !== undefined ? await pageOf(one.id, id) : tableOf(all))
  return EXIT.done
}

/** Formats one line per case, after a line with the rule if it has several cases. */
function tableOf(all: readonly Listed[]): string {
  const rows = all.flatMap(({ id, cases }) =>
    cases.length === 1 ? cases.map(rowOf) : [[id], ...cases.map(rowOf).map(([name, ...others]) => [`  ${name}`, ...others])],
  )
  return aligned([['rule', 'recommended', 'strict', 'schema', 'fix'], ...rows])
    .map((line) => `${line}\n`)
    .join('')
}

function rowOf({ code, severity: { recommended, strict, schema }, fix }: CaseMeta): readonly string[] {
  return [code, recommended, strict, schema, fix ?? '']
}

/** Reads the page of a rule, or its part about one code, without code fences. */
async function pageOf(rule: string, code: string): Promise<string> {
  const page = (await readFile(packageFile(`docs/rules/${rule}.md`), 'utf8')).replace(/^```.*\n/gm, '')
  const part = page.split(/^(?=## )/m).find((one) => one.startsWith(`## ${code}\n`))
  return forTerminal(
    part === undefined ? page : `${part.replace(/^##/gm, '#').trimEnd()}\n\nstac-auth rules ${rule} explains the whole rule.\n`,
  )
}
