import { expect, it } from 'vitest'
import { ServiceLimits } from '../../../src/services/client/pacer.ts'
import { TranslationClient } from '../../../src/services/translation/translation-client.ts'
import { script } from '../../harness/scripted.ts'

/** Names of the functions in a stack, without those of the platform and of tests. */
function ours(stack: string): readonly string[] {
  const lines = stack.split('\n').filter((line) => line.includes('/src/'))
  return lines.map((line) => /at (?:async )?(?:\w+\.)?([#\w]+) /.exec(line)?.[1] ?? line)
}

it('a method call passes few functions until the header is set', async () => {
  const answer = { translations: [{ detected_source_language: 'EN', text: 'Hallo' }] }
  const { send } = script(() => ({ body: answer }))
  const client = new TranslationClient({ apiKey: 'key', plan: 'pro', transport: send, limits: new ServiceLimits() })
  const limit = Error.stackTraceLimit
  let found: readonly string[] = []
  /** The header is set on a copy, which reads the names of the others. */
  const ownKeys = (headers: object) => {
    found = ours(new Error('the header is set').stack ?? '')
    return Reflect.ownKeys(headers)
  }
  client.use({ before: (request) => ({ ...request, headers: new Proxy<Readonly<Record<string, string>>>(request.headers, { ownKeys }) }) })
  try {
    Error.stackTraceLimit = 50
    await client.translateText({ text: 'Hello', target_lang: 'DE' })
  } finally {
    Error.stackTraceLimit = limit
  }
  expect(found).toContain('withHeader')
  expect(found.length, found.join(' in ')).toBeLessThanOrEqual(9)
})
