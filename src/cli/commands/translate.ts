import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { usageError } from '../exit-code.ts'
import { withCredentialsOption } from '../options.ts'
import type { AccountOptions } from '../translate/account.ts'
import type { TranslateOptions } from '../translate/open-client.ts'

const KEY = `
The API key is STAC_AUTH_TRANSLATION_KEY, else a credential whose sendTo allows the service. An argument that is the name of a file
stands for that file. Without arguments the text is read from stdin; to translate the word "catalog" or the name of another subcommand,
send it to stdin.`

/** Options of `translate` that name the service and the output. */
const SERVICE = ['--credentials', '--base-url', '--plan', '--allow-insecure', '--json']

const TEXTS = ['--to', '--from', '--formality', '--glossary', '--style', '--context']

/** `translate TEXT…|FILE…` and its subcommands: translates texts, documents and catalogs, and shows the account. */
export function addTranslate(program: Command, context: Context): void {
  const command = program.command('translate [texts-or-files...]').description('translate texts, documents or the texts of a catalog')
  withTranslateOptions(command)
    .addHelpText('after', KEY)
    .action(
      context.run(async (names: readonly string[], options: TranslateOptions) =>
        (await import('../translate/translate.ts')).translate(names, options, context),
      ),
    )
  addCatalog(command, context)
  addAccount(command, context)
}

function addCatalog(translate: Command, context: Context): void {
  const used = [...TEXTS, ...SERVICE, '--output', '--resume', '--memory', '--usage']
  const command = translate.command('catalog [document]').description('translate titles, descriptions and keywords of a STAC document')
  withOptionsOf(translate, command, used).action(
    context.run(async (name: string | undefined, _own: object, given: Command) => {
      const options = optionsOf<TranslateOptions>(translate, given, used)
      return (await import('../translate/catalog.ts')).catalog(name, options, context)
    }),
  )
}

type AccountAction = (options: AccountOptions, argument: string) => Promise<number>

function addAccount(translate: Command, context: Context): void {
  const load = () => import('../translate/account.ts')
  const add = (below: Command, words: string, description: string, act: AccountAction, used: readonly string[] = SERVICE) => {
    const hasArgument = words.includes(' ')
    return withOptionsOf(translate, below.command(words).description(description), used).action(
      context.run(async (...given: readonly unknown[]) => {
        const options = optionsOf<AccountOptions>(translate, given.at(-1) as Command, used)
        return act(options, hasArgument ? String(given[0]) : '')
      }),
    )
  }
  const glossaries = translate.command('glossaries').description('manage the glossaries of the account')
  add(glossaries, 'list', 'list all glossaries', async (options) => (await load()).listGlossaries(options, context))
  add(glossaries, 'get <id>', 'show a glossary', async (options, id) => (await load()).getGlossary(id, options, context))
  const create: AccountAction = async (options, file) => (await load()).createGlossary(file, options, context)
  add(glossaries, 'create <file>', 'create a glossary from a CSV or TSV file', create, ['--from', '--to', ...SERVICE]).option(
    '--name <name>',
    'set the name (default: that of the file)',
  )
  add(glossaries, 'delete <id>', 'delete a glossary', async (options, id) => (await load()).deleteGlossary(id, options, context))
  const styles = translate.command('style-rules').description('show the style rules of the account')
  add(styles, 'list', 'list all lists of style rules', async (options) => (await load()).listStyleRules(options, context))
  const languages = translate.command('languages').description('show the languages of the service')
  add(languages, 'list', 'list the languages', async (options) => (await load()).listLanguages(options, context)).option(
    '--resource <name>',
    'list those of translate_document, glossary, voice, write or another resource (default: translate_text)',
  )
}

/** Shows options of `translate`, which parses them, in the help text of a command below it. */
function withOptionsOf(translate: Command, command: Command, used: readonly string[]): Command {
  const visibleGlobalOptions = () => translate.options.filter(({ long }) => used.includes(long ?? ''))
  return command.configureHelp({ showGlobalOptions: true, visibleGlobalOptions })
}

/** Returns the options of a command below `translate`. Errors: `USAGE` for one that it does not use. */
function optionsOf<Options>(translate: Command, command: Command, used: readonly string[]): Options {
  for (const option of translate.options) {
    const isGiven = translate.getOptionValueSource(option.attributeName()) === 'cli'
    if (isGiven && option.long !== '--verbose' && !used.includes(option.long ?? ''))
      throw usageError(`translate ${namesOf(translate, command)} does not support ${option.long}`)
  }
  return command.optsWithGlobals<Options & Record<string, unknown>>()
}

function namesOf(translate: Command, command: Command): string {
  const above = command.parent
  return above && above !== translate ? `${namesOf(translate, above)} ${command.name()}` : command.name()
}

/** Adds the options for language and service. */
function withTranslateOptions(command: Command): Command {
  return withCredentialsOption(command)
    .option('--to <language>', 'translate into this language: DE, EN-GB, pt-BR')
    .option('--from <language>', 'set the source language (default: detected; required with --glossary)')
    .option('--formality <choice>', 'set the formality: more, less, prefer_more, prefer_less, default')
    .option('--glossary <id>', 'use this glossary of the account')
    .option('--style <id>', 'use this style rule list of the account')
    .option('--context <text>', 'send context that is not translated')
    .option('--base-url <url>', 'set the URL of the service (default: STAC_AUTH_TRANSLATION_URL, else by the key)')
    .option('--plan <plan>', 'use the host of this plan: free, pro')
    .option('--allow-insecure', 'allow http: to a service on this machine, for tests (default with --base-url)')
    .option('-o, --output <file>', 'write to this new file (default: stdout)')
    .option('--output-dir <folder>', 'write translated files to this folder, as guide.de.docx')
    .option('--text', 'treat every argument as text, even if a file has that name')
    .option('--resume <file>', 'continue a command that was interrupted or failed, from the file that it names')
    .option('--memory <file>', 'take texts from this file that were translated before, and add new ones')
    .option('--usage', 'print the used quota at the end, or alone')
    .option('--json', 'print one JSON value')
}
