/** Options of `translate` for the service, and its client with the user's key. */

import { Readable } from 'node:stream'
import { ConfigurationError, isAuthError } from '../../errors.ts'
import { writeNewFile } from '../../node/base/index.ts'
import { BatchError, TranslationClient, type TranslationClientOptions } from '../../services/translation/index.ts'
import type { TranslateParams } from '../../services/translation/translate-text.ts'
import type { Context } from '../context.ts'
import { usageError } from '../exit-code.ts'
import { version } from '../io.ts'
import { openAuth, serviceAuth } from '../open-auth.ts'
import type { CredentialsOption } from '../options.ts'
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
  readonly output?: string
  readonly outputDir?: string
  readonly text?: boolean
  readonly resume?: string
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

/**
 * Returns a client with the key in `STAC_AUTH_TRANSLATION_KEY`, else with the credential that allows the service.
 *
 * Errors: `USAGE` for an unknown plan, `CONFIG_INVALID`, `CREDENTIAL_VALUE_INVALID`, `URL_INSECURE`, `FILE_ACCESS`.
 */
export async function openClient(context: Context, options: TranslateOptions): Promise<TranslationClient> {
  const { baseUrl, plan } = options
  if (plan !== undefined && plan !== 'free' && plan !== 'pro') throw usageError('--plan must be free or pro')
  if (plan !== undefined && baseUrl !== undefined) throw usageError('--plan and --base-url exclude each other')
  // A URL that the user gave may be on this machine.
  const host: Host = baseUrl !== undefined ? { baseUrl, allowInsecure: 'loopback' } : plan !== undefined ? { plan } : {}
  const common = { appInfo: { name: 'stac-auth-cli', version: version() }, ...(await loggedTransport(context)) }
  const apiKey = context.io.env.STAC_AUTH_TRANSLATION_KEY || undefined
  try {
    if (apiKey !== undefined) return new TranslationClient({ ...host, ...common, apiKey })
    const auth = serviceAuth(await openAuth(context, options, baseUrl === undefined ? [] : [baseUrl])(), 'STAC_AUTH_TRANSLATION_KEY')
    return new TranslationClient({ ...(baseUrl === undefined && plan === undefined ? { plan: 'pro' } : host), ...common, auth })
  } catch (error) {
    throw isAuthError(error) && error.code === 'URL_INSECURE' ? new ConfigurationError(error.code, error.message, { hint: ENCRYPT }) : error
  }
}

/** Reports the used quota. */
export async function noteUsage(client: TranslationClient, { io, diagnostics }: Context): Promise<void> {
  const usage = await client.usage({ signal: io.signal })
  const left = usage.remaining()
  const isLimited = Number.isFinite(left)
  const limit = isLimited && usage.character_limit ? ` of ${usage.character_limit}` : ''
  const rest = isLimited ? `${left} are left` : 'without a limit'
  await diagnostics.note(`usage: ${usage.character_count}${limit} characters, ${rest}`)
}

/** Throws the first error of a batch if nothing was translated, as for a wrong key; other errors unchanged. */
export function refused(error: unknown): never {
  if (!(error instanceof BatchError) || error.results.some((result) => result !== undefined)) throw error
  throw error.failures[0]?.error ?? error
}

/** Writes a text to a new file. Errors: those of `writeNewFile`. */
export function writeText(output: string, text: string): Promise<void> {
  return writeNewFile(output, async () => Readable.from([Buffer.from(text)]))
}
