/** `translate catalog`: writes a translated copy of a STAC document. */

import { newPath } from '../../node/base/index.ts'
import { type TranslatedCatalog, translateCatalog } from '../../services/translation/index.ts'
import type { Context } from '../context.ts'
import { EXIT, usageError } from '../exit-code.ts'
import { write } from '../io.ts'
import { openAuth } from '../open-auth.ts'
import { readText } from '../read-document.ts'
import { noteUsage, openClient, paramsOf, refused, type TranslateOptions, writeText } from './open-client.ts'

/** Writes the copy to stdout or a new file, with `--json` a summary to stdout; returns the exit code. */
export async function catalog(name: string, options: TranslateOptions, context: Context): Promise<number> {
  const { io, diagnostics } = context
  const params = paramsOf(options)
  const other = options.outputDir ?? options.resume ?? options.text
  if (other !== undefined) throw usageError('translate catalog does not support --output-dir, --resume and --text')
  const output = options.output === '-' ? undefined : options.output
  if (output !== undefined) await newPath(output)
  const text = await readText(name, io, openAuth(context, options, [name]))
  const client = await openClient(context, options)
  const copy = await translateCatalog(client, text, { ...params, signal: io.signal }).catch(refused)
  for (const pointer of copy.kept)
    diagnostics.warn({ code: 'MARKUP_LOST', pointer, message: 'the service lost markup, so this text is not translated' })
  if (output === undefined) await write(io.stdout, options.json ? account(copy, copy.text) : copy.text)
  else {
    await writeText(output, copy.text)
    if (options.json) await write(io.stdout, account(copy))
  }
  await diagnostics.note(`${copy.places} texts in ${params.target_lang}; ${copy.sent} were sent, ${copy.characters} characters`)
  if (options.usage && !options.json) await noteUsage(client, context)
  return EXIT.done
}

function account({ places, sent, characters, kept }: TranslatedCatalog, text?: string): string {
  return `${JSON.stringify({ places, sent, characters, kept, ...(text !== undefined && { text }) })}\n`
}
