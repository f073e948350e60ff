import { Buffer } from 'node:buffer'
import { type RawAnswer, rawRequest } from '../service/raw-request.ts'
import { operations } from './operations.ts'
import type { TranslationFake } from './translation-fake.ts'

/** What a request of a test may change. */
export interface Sent {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: string
  readonly json?: unknown
  /** In place of JSON, with the content type that goes with it. */
  readonly body?: string | Uint8Array
  readonly type?: string
  readonly key?: string
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
}

const BOUNDARY = 'a-boundary'

/** Sends one operation to a fake by hand. */
export function send(
  fake: TranslationFake,
  op: number,
  { params = {}, query = '', json, body, type, key, headers }: Sent = {},
): Promise<RawAnswer> {
  const operation = operations[op - 1]
  if (!operation) throw new Error(`no operation ${op}`)
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => params[name] ?? 'missing')
  const content = json === undefined ? body : JSON.stringify(json)
  return rawRequest(operation.method, `${fake.url}${path}${query && `?${query}`}`, {
    headers: {
      'User-Agent': 'test',
      Authorization: `DeepL-Auth-Key ${key ?? (op <= 7 ? 'test-admin' : 'test-pro')}`,
      ...(content !== undefined && { 'Content-Type': type ?? 'application/json', 'Content-Length': String(Buffer.byteLength(content)) }),
      ...(headers as Record<string, string>),
    },
    ...(content !== undefined && { body: content }),
  })
}

/** A field of an answer in JSON. */
export function field(answer: RawAnswer, name: string): string {
  return String((answer.json as Readonly<Record<string, unknown>>)[name])
}

/** A multipart body with these parts, a file among them. */
export function multipart(
  parts: Readonly<Record<string, string>>,
  file: { readonly name: string; readonly content: string } | undefined,
): Sent {
  const fields = Object.entries(parts).map(
    ([name, value]) => `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  const last = file
    ? `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="${file.name}"\r\nContent-Type: text/plain\r\n\r\n${file.content}\r\n`
    : ''
  return { body: `${fields.join('')}${last}--${BOUNDARY}--\r\n`, type: `multipart/form-data; boundary=${BOUNDARY}` }
}

/** Uploads a text and gives what names it. */
export async function upload(
  fake: TranslationFake,
  content = 'Hello',
  name = 'a.txt',
): Promise<{ params: { document_id: string }; json: { document_key: string } }> {
  const answer = await send(fake, 9, multipart({ target_lang: 'DE' }, { name, content }))
  return { params: { document_id: field(answer, 'document_id') }, json: { document_key: field(answer, 'document_key') } }
}

export const DICTIONARY = { source_lang: 'en', target_lang: 'de', entries: 'Hello\tHallo', entries_format: 'tsv' }
export const STYLE = { name: 'House', language: 'de', configured_rules: { numbers: { decimals: 'comma' } } }
export const INSTRUCTION = { label: 'Polite', prompt: 'Be polite.' }
export const QUALITY = { metadata: { source_language: 'en', target_language: 'de' }, segments: [{ source: 'Hi 😀', target: 'Na 😀 du' }] }
export const VOICE = { source_media_content_type: 'audio/pcm;encoding=s16le;rate=16000', source_language: 'en', target_languages: ['de'] }
export const VOICE_JOB = {
  source_file: { name: 'a.wav', content_type: 'audio/wav', content_length: 5 },
  targets: [
    { language: 'de', type: 'text/plain' },
    { language: 'fr', type: 'application/x-subrip' },
  ],
}
