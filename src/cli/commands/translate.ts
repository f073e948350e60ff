import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { withCredentialsOption } from '../options.ts'
import type { TranslateOptions } from '../translate/open-client.ts'

const KEY = `
The API key is STAC_AUTH_TRANSLATION_KEY, else a credential whose sendTo allows the service. An argument that is the name of a file
stands for that file. Without arguments the text is read from stdin; to translate the word "catalog", send it to stdin.`

/** Options of `translate` that `translate catalog` refuses, or has itself. */
const NOT_OF_CATALOG: ReadonlySet<string | null | undefined> = new Set(['--output-dir', '--text', '--verbose'])

/** `translate TEXT…|FILE…` and `translate catalog DOC`: translates texts, documents and catalogs. */
export function addTranslate(program: Command, context: Context): void {
  const command = program.command('translate [texts-or-files...]').description('translate texts, documents or the texts of a catalog')
  withTranslateOptions(command)
    .option('--output-dir <folder>', 'write translated files to this folder, as guide.de.docx')
    .option('--text', 'treat every argument as text, even if a file has that name')
    .addHelpText('after', KEY)
    .action(
      context.run(async (names: readonly string[], options: TranslateOptions) =>
        (await import('../translate/translate.ts')).translate(names, options, context),
      ),
    )
  command
    .command('catalog [document]')
    .description('translate titles, descriptions and keywords of a STAC document')
    .configureHelp({
      showGlobalOptions: true,
      visibleGlobalOptions: ({ parent }) => parent?.options.filter(({ long }) => !NOT_OF_CATALOG.has(long)) ?? [],
    })
    .action(
      context.run(async (name: string | undefined, _own: object, given: Command) =>
        (await import('../translate/catalog.ts')).catalog(name, given.optsWithGlobals<TranslateOptions>(), context),
      ),
    )
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
    .option('--base-url <url>', 'set the URL of the service (default: by the key)')
    .option('--plan <plan>', 'use the host of this plan: free, pro')
    .option('-o, --output <file>', 'write to this new file (default: stdout)')
    .option('--resume <file>', 'continue a command that was interrupted or failed, from the file that it names')
    .option('--memory <file>', 'take texts from this file that were translated before, and add new ones')
    .option('--usage', 'print the used quota at the end, or alone')
    .option('--json', 'print one JSON value')
}
