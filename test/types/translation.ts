/** What `stac-auth/translation` promises to callers. */
import { isAuthError, Secret } from 'stac-auth'
import { type DocumentHandle, type Result, type Translation, TranslationClient } from 'stac-auth/translation'
import { expectTypeOf } from 'vitest'

const client = new TranslationClient({ apiKey: new Secret('k'), plan: 'free', timeouts: { attempt: 1000 } })
// A variable of the environment may be missing: then the client says what it needs.
new TranslationClient({ apiKey: process.env.TRANSLATION_KEY })
const result = await client.translateText({ text: 'a', target_lang: 'DE', formality: 'more' }, { signal: new AbortController().signal })
expectTypeOf(result).toEqualTypeOf<Result<{ readonly translations: readonly Translation[] }>>()
expectTypeOf(result.response.traceId).toEqualTypeOf<string | undefined>()
expectTypeOf(await client.usage()).toExtend<{ readonly character_count?: number | undefined }>()
for await (const outcome of client.translateMany(['a'], { target_lang: 'xx-new' }, { concurrency: 2 })) {
  if ('translation' in outcome) expectTypeOf(outcome.translation.text).toEqualTypeOf<string>()
  else expectTypeOf(outcome.notSent).toEqualTypeOf<boolean>()
}
const { bytes, handle } = await client.translateDocument(new Blob([]), undefined, { target_lang: 'DE', filename: 'a.txt' })
expectTypeOf(bytes).toEqualTypeOf<Uint8Array | undefined>()
expectTypeOf(handle).toEqualTypeOf<DocumentHandle>()
await client.documents.resume({ document_id: 'a', document_key: 'b' }, { path: 'a.txt', overwrite: true })
await client.admin.keys.setLimits({ key_id: 'a:b', characters: null })
await client.styleRules.setRules('id', { punctuation: { serial_comma: 'use', later_rule: 'x' }, later_category: { rule: 'y' } })
// @ts-expect-error: options are texts
await client.styleRules.setRules('id', { punctuation: { serial_comma: 1 } })
await client.translateDocument(new Blob([]), undefined, { target_lang: 'DE' }, { minify: await import('fflate') })
// @ts-expect-error: a target is needed
await client.translateText({ text: 'a' })
// @ts-expect-error: texts only
await client.translateText({ text: [1], target_lang: 'DE' })
// @ts-expect-error: no such option
await client.usage({ timeOut: 1 })
const failure: unknown = await client.usage().catch((error: unknown) => error)
if (isAuthError(failure)) {
  expectTypeOf(failure.attempts).toEqualTypeOf<number | undefined>()
  expectTypeOf(failure.operation).toEqualTypeOf<string | undefined>()
  expectTypeOf(failure.sent).toEqualTypeOf<boolean | undefined>()
}
await client.voice.open(
  { source_media_content_type: 'audio/auto', message_format: 'msgpack' },
  { messagePack: await import('@msgpack/msgpack') },
)
