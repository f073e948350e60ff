import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { type TranslateOptions, withTranslateOptions } from '../translate/options.ts'

const KEY = `
The key is in STAC_AUTH_TRANSLATION_KEY, or an entry of the credential file may go to the service. An argument that names a file is that
file; without arguments standard input is the text. To translate the very word catalog, write it to standard input.`

/** `translate TEXT…|FILE…` and `translate catalog DOC`: texts, documents and catalogs in another language. */
export function addTranslate(program: Command, context: Context): void {
  const command = program.command('translate [texts-or-files...]').description('translate texts, documents or the texts of a catalog')
  withTranslateOptions(command)
    .option('--output-dir <folder>', 'write each file there, under its name with the language: guide.de.docx')
    .option('--text', 'take every argument for a text, also one that is the name of a file')
    .option('--resume <file>', 'fetch a document that an interrupted command left to the service')
    .addHelpText('after', KEY)
    .action(
      context.run(async (names: readonly string[], options: TranslateOptions) => {
        const { translate } = await import('../translate/translate.ts')
        return translate(names, options, context)
      }),
    )
  command
    .command('catalog <document>')
    .description('copy a catalog, collection or item with its titles, descriptions and keywords in another language')
    .configureHelp({ showGlobalOptions: true })
    .action(
      context.run(async (name: string, _own: object, given: Command) => {
        const { catalog } = await import('../translate/catalog.ts')
        return catalog(name, given.optsWithGlobals<TranslateOptions>(), context)
      }),
    )
}
