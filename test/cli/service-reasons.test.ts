/** The reason that a service gives is shown on the command line, whatever the shape of its error body, in one line and without the key. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type AnsweringServer, startAnswering } from '../servers/answering-server.ts'
import { put, temporaryFolder } from './folder.ts'
import { lastError, type Outcome, run } from './run.ts'

const KEY = 'key-5f0c2a7d9b'
const env = { STAC_AUTH_TRANSLATION_KEY: KEY, STAC_AUTH_TIME_TOKEN: KEY }
const folder = await temporaryFolder()
let server: AnsweringServer
let answer: { readonly status: number; readonly body: string; readonly headers?: Readonly<Record<string, string>> }
beforeAll(async () => {
  server = await startAnswering(() => answer)
})
afterAll(() => server.close())

const commands: readonly (readonly [name: string, argv: (url: string) => Promise<readonly string[]>])[] = [
  ['translate', async (url) => ['translate', 'Hello', '--to', 'DE', '--base-url', url]],
  [
    'translate of a document',
    async (url) => {
      const file = await put(folder, 'a.docx', 'PK')
      return ['translate', file, '--to', 'DE', '-o', `${folder}/${Math.random()}.docx`, '--base-url', url]
    },
  ],
  [
    'translate catalog',
    async (url) => {
      const file = await put(folder, 'a.json', '{"type":"Catalog","id":"a","title":"Hello"}')
      return ['translate', 'catalog', file, '--to', 'DE', '--base-url', url]
    },
  ],
  ['translate --usage', async (url) => ['translate', '--usage', '--base-url', url]],
  ['translate glossaries list', async (url) => ['translate', 'glossaries', 'list', '--base-url', url]],
  ['time projects list', async (url) => ['time', 'projects', 'list', '--base-url', `${url}/v1`, '--allow-insecure']],
  ['time projects create', async (url) => ['time', 'projects', 'create', '--name', 'a', '--base-url', `${url}/v1`, '--allow-insecure']],
]

/** Error bodies, and the words that must be shown of each. */
const SHAPES: readonly (readonly [shape: string, body: unknown, shown: readonly string[]])[] = [
  ['a message', { message: 'The word is unknown' }, ['The word is unknown']],
  [
    'a message and a detail',
    { message: 'Forbidden', detail: 'Missing required scope(s): usage:read' },
    ['Forbidden: Missing required scope(s): usage:read'],
  ],
  ['a capital Message', { Message: 'The word is unknown' }, ['The word is unknown']],
  ['a list of messages', { message: ['name is empty', 'rate is negative'] }, ['name is empty; rate is negative']],
  ['an error text', { error: 'The word is unknown' }, ['The word is unknown']],
  ['an error object', { error: { code: 'unknown_word', message: 'The word is unknown' } }, ['The word is unknown']],
  ['a list of errors', { errors: ['name is empty', 'rate is negative'] }, ['name is empty; rate is negative']],
  ['a list of error objects', { errors: [{ field: 'name', message: 'is empty' }, { message: 'no rate' }] }, ['name: is empty; no rate']],
  ['a map of errors', { errors: { name: ['is empty', 'is short'], rate: 'is negative' } }, ['name: is empty; is short; rate: is negative']],
  ['a message and a map of errors', { message: 'Invalid', errors: { name: ['is empty'] } }, ['Invalid', 'name: is empty']],
  ['lists by field', { name: ['is empty'], rate: ['is negative'] }, ['name: is empty; rate: is negative']],
  ['OAuth', { error: 'invalid_request', error_description: 'The word is unknown' }, ['invalid_request: The word is unknown']],
  ['RFC 9457', { type: 'about:blank', title: 'Bad input', status: 400, detail: 'The word is unknown' }, ['Bad input: The word is unknown']],
  [
    'RFC 9457 with errors',
    { title: 'Bad input', status: 400, errors: [{ detail: 'is empty', pointer: '#/name' }] },
    ['Bad input', 'is empty'],
  ],
  [
    'JSON:API',
    { errors: [{ status: '400', title: 'Bad input', detail: 'is empty', source: { pointer: '/data/name' } }] },
    ['Bad input: is empty'],
  ],
  ['a JSON text', 'The word is unknown', ['The word is unknown']],
  ['a JSON list of texts', ['name is empty', 'rate is negative'], ['name is empty; rate is negative']],
  ['a detail of FastAPI', { detail: [{ loc: ['body', 'name'], msg: 'field required', type: 'missing' }] }, ['body.name: field required']],
  ['a nested detail', { detail: { message: 'The word is unknown' } }, ['The word is unknown']],
  ['JSend', { status: 'fail', data: { name: 'is empty' } }, ['name: is empty']],
  ['GraphQL', { errors: [{ message: 'The word is unknown', path: ['project'] }], data: null }, ['The word is unknown']],
]

/** Checks the text and the JSON of one failure. */
async function shows(argv: readonly string[], words: readonly string[]): Promise<void> {
  const text = await run(argv, { env })
  const json: Outcome = await run([...argv, '--json'], { env })
  const line = text.stderr.split('\n').find((one) => one.includes('error HTTP_400')) ?? ''
  for (const word of words) {
    expect(line).toContain(word)
    expect(lastError(json).message).toContain(word)
  }
  expect([text.code, json.code]).toEqual([5, 5])
  for (const shown of [text.stderr, json.stderr, json.stdout]) expect(shown).not.toContain(KEY)
}

it.each(SHAPES)('shows the reason in %s', async (_shape, body, words) => {
  answer = { status: 400, body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
  await shows(['translate', 'Hello', '--to', 'DE', '--base-url', server.origin], words)
  await shows(['time', 'projects', 'list', '--base-url', `${server.origin}/v1`, '--allow-insecure'], words)
})

describe.each(commands)('%s', (_name, argvOf) => {
  let argv: readonly string[]
  beforeEach(async () => {
    argv = await argvOf(server.origin)
  })

  it('shows the reason in JSON, in plain text and in XML', async () => {
    answer = { status: 400, body: '{"errors":{"name":["is empty"]}}', headers: { 'content-type': 'application/json' } }
    await shows(argv, ['name: is empty'])
    answer = { status: 400, body: 'The word is unknown', headers: { 'content-type': 'text/plain' } }
    await shows(argv, ['The word is unknown'])
    answer = { status: 400, body: '<error><code>7</code><message>The word is unknown</message></error>' }
    await shows(argv, ['The word is unknown'])
  })

  it('shows a reason that quotes the key without it', async () => {
    const hidden = JSON.stringify({ errors: [{ detail: `the key ${KEY} is unknown` }] }).replace(KEY, KEY.replace('k', '\\u006b'))
    answer = { status: 400, body: hidden, headers: { 'content-type': 'application/json' } }
    await shows(argv, ['the key [secret] is unknown'])
  })
})
