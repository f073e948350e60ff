/** Options that the translation commands share. */
import type { Command } from 'commander'
import type { TranslateParams } from '../../services/translation/translate-text.ts'
import { type CredentialsOption, withCredentialsOption } from '../options.ts'
import { usageError } from '../usage.ts'

export interface TranslateOptions extends CredentialsOption {
  readonly to?: string
  readonly from?: string
  readonly formality?: string
  readonly glossary?: string
  readonly style?: string
  readonly context?: string
  readonly baseUrl?: string
  readonly plan?: string
  readonly output?: string
  readonly outputDir?: string
  readonly text?: boolean
  readonly resume?: string
  readonly usage?: boolean
  readonly json?: boolean
}

/** Adds what chooses a language and a service. */
export function withTranslateOptions(command: Command): Command {
  return withCredentialsOption(command)
    .option('--to <language>', 'the language that is wanted: DE, EN-GB, pt-BR')
    .option('--from <language>', 'the language of the texts; default: as the service detects it, and needed with a glossary')
    .option('--formality <choice>', 'more, less, prefer_more, prefer_less or default')
    .option('--glossary <id>', 'a glossary of the account')
    .option('--style <id>', 'a style rule list of the account')
    .option('--context <text>', 'what helps with every text and is not translated')
    .option('--base-url <url>', 'the service (default: by the key)')
    .option('--plan <plan>', 'free or pro: the host of that plan')
    .option('-o, --output <file>', 'write to this new file')
    .option('--usage', 'say at the end how much of the quota is used; not with --json')
    .option('--json', 'print one JSON value')
}

/** The choices in the words of the service. Errors: `USAGE` without a language. */
export function paramsOf({ to, from, formality, glossary, style, context }: TranslateOptions): TranslateParams {
  if (to === undefined) throw usageError('into which language? Give --to LANGUAGE')
  return {
    target_lang: to,
    ...(from !== undefined && { source_lang: from }),
    ...(formality !== undefined && { formality }),
    ...(glossary !== undefined && { glossary_id: glossary }),
    ...(style !== undefined && { style_id: style }),
    ...(context !== undefined && { context }),
  }
}
