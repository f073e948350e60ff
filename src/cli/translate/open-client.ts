/** Options of `translate` for the service, and its client with the user's key. */

import { ConfigurationError, isAuthError } from '../../errors.ts'
import type { Usage } from '../../services/translation/admin.ts'
import { type TranslateParams, TranslationClient, type TranslationClientOptions } from '../../services/translation/index.ts'
import type { Context } from '../context.ts'
import { EXIT, usageError } from '../exit-code.ts'
import { version, write } from '../io.ts'
import { openAuth, serviceAuth } from '../open-auth.ts'
import type { CredentialsOption } from '../options.ts'
import { jsonText } from '../records.ts'
import { loggedTransport } from '../request-log.ts'

export interface TranslateOptions extends CredentialsOption {
  readonly to?: string
  readonly from?: string
  readonly formality?: string
  readonly glossary?: string
  readonly style?: string
  readonly context?: string
  readonly baseUrl?: string
  readonly plan?: string
  readonly allowInsecure?: boolean
  readonly output?: string
  readonly outputDir?: string
  readonly text?: boolean
  readonly resume?: string
  readonly memory?: string
  readonly usage?: boolean
  readonly json?: boolean
}

/** Converts options to parameters of the service. Errors: `USAGE` without a language, `REQUEST_INVALID`. */
export function paramsOf({ to, from, formality, glossary, style, context }: TranslateOptions): TranslateParams {
  if (to === undefined) throw usageError('no language is given: give --to LANGUAGE')
  if (glossary !== undefined && from === undefined)
    throw new ConfigurationError('REQUEST_INVALID', 'a glossary needs the source language; nothing was sent', {
      hint: 'give --from LANGUAGE',
    })
  return {
    target_lang: to,
    ...(from !== undefined && { source_lang: from }),
    ...(formality !== undefined && { formality }),
    ...(glossary !== undefined && { glossary_id: glossary }),
    ...(style !== undefined && { style_id: style }),
    ...(context !== undefined && { context }),
  }
}

type Host = Pick<TranslationClientOptions, 'baseUrl' | 'plan' | 'allowInsecure'>

const ENCRYPT = 'use https:; http: is only allowed for a service on this machine'

/** For a URL from the environment, which others may have set. */
const ENCRYPT_HERE = 'use https:, or --allow-insecure for tests on this machine'

/**
 * Returns a client with the key in `STAC_AUTH_TRANSLATION_KEY`, else with the credential that allows the service.
 *
 * Errors: `USAGE` for an unknown plan, `CONFIG_INVALID`, `CREDENTIAL_VALUE_INVALID`, `URL_INSECURE`, `FILE_ACCESS`.
 */
export async function openClient(context: Context, options: TranslateOptions): Promise<TranslationClient> {
  const { plan } = options
  const baseUrl = options.baseUrl ?? (plan === undefined ? context.io.env.STAC_AUTH_TRANSLATION_URL || undefined : undefined)
  if (plan !== undefined && plan !== 'free' && plan !== 'pro') throw usageError('--plan must be free or pro')
  if (plan !== undefined && options.baseUrl !== undefined) throw usageError('--plan and --base-url exclude each other')
  // A URL that the user gave may be on this machine.
  const isLocal = options.allowInsecure || options.baseUrl !== undefined
  const host: Host = baseUrl !== undefined ? { baseUrl, ...(isLocal && { allowInsecure: 'loopback' }) } : plan !== undefined ? { plan } : {}
  const common = { appInfo: { name: 'stac-auth-cli', version: version() }, ...(await loggedTransport(context)) }
  const apiKey = context.io.env.STAC_AUTH_TRANSLATION_KEY || undefined
  try {
    if (apiKey !== undefined) return new TranslationClient({ ...host, ...common, apiKey })
    const auth = serviceAuth(await openAuth(context, options, baseUrl === undefined ? [] : [baseUrl])(), 'STAC_AUTH_TRANSLATION_KEY')
    return new TranslationClient({ ...(baseUrl === undefined && plan === undefined ? { plan: 'pro' } : host), ...common, auth })
  } catch (error) {
    throw isAuthError(error) && error.code === 'URL_INSECURE'
      ? new ConfigurationError(error.code, error.message, { hint: isLocal ? ENCRYPT : ENCRYPT_HERE })
      : error
  }
}

/** Reports the used quota. */
export async function noteUsage(client: TranslationClient, { io, diagnostics }: Context): Promise<void> {
  await diagnostics.note(`usage: ${usageText(await client.usage({ signal: io.signal }))}`)
}

/** `translate --usage` alone: prints the used quota, with `--json` all that the service says. */
export async function printUsage(options: TranslateOptions, context: Context): Promise<number> {
  const { io } = context
  const usage = await (await openClient(context, options)).usage({ signal: io.signal })
  await write(io.stdout, options.json ? jsonText(usage) : `${usageText(usage)}\n`)
  return EXIT.done
}

function usageText(usage: Usage): string {
  const { character_count, character_limit } = usage
  const left = usage.remaining()
  const isLimited = Number.isFinite(left)
  const limit = isLimited && character_limit ? ` of ${character_limit}` : ''
  return `${character_count}${limit} characters, ${isLimited ? `${left} are left` : 'without a limit'}`
}
