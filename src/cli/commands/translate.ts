import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { type TranslateOptions, withTranslateOptions } from '../translate/options.ts'

const KEY = `
The API key is STAC_AUTH_TRANSLATION_KEY, else a credential whose sendTo allows the service. An argument that is the name of a file
stands for that file. Without arguments the text is read from stdin; to translate the word "catalog", send it to stdin.`

/** `translate TEXT…|FILE…` and `translate catalog DOC`: translates texts, documents and catalogs. */
export function addTranslate(program: Command, context: Context): void {
  const command = program.command('translate [texts-or-files...]').description('translate texts, documents or the texts of a catalog')
  withTranslateOptions(command)
    .option('--output-dir <folder>', 'write translated files to this folder, as guide.de.docx')
    .option('--text', 'treat every argument as text, even if a file has that name')
    .option('--resume <file>', 'fetch the document of an interrupted command')
    .addHelpText('after', KEY)
    .action(
      context.run(async (names: readonly string[], options: TranslateOptions) => {
        const { translate } = await import('../translate/translate.ts')
        return translate(names, options, context)
      }),
    )
  command
    .command('catalog <document>')
    .description('translate titles, descriptions and keywords of a STAC document')
    .configureHelp({ showGlobalOptions: true })
    .action(
      context.run(async (name: string, _own: object, given: Command) => {
        const { catalog } = await import('../translate/catalog.ts')
        return catalog(name, given.optsWithGlobals<TranslateOptions>(), context)
      }),
    )
}
