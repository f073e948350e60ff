import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import formats from 'ajv-formats'
import { describe, expect, it } from 'vitest'
import type { CredentialSet } from '../../src/auth/credential.ts'
import { readCredentials } from '../../src/auth/parse-credentials.ts'
import { loadStrategies } from '../../src/auth/strategy.ts'
import { defaultStrategies } from '../../src/strategies/index.ts'

const read = (path: string) => JSON.parse(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8'))

const ajv = new Ajv({ strictTypes: false })
formats.default(ajv)
const validate = ajv.compile(read('schemas/credentials.json'))
const strategies = await loadStrategies(defaultStrategies)

/** True when the reader takes the file. */
function readable(file: CredentialSet): boolean {
  try {
    readCredentials(file, strategies, 'file')
    return true
  } catch {
    return false
  }
}

const env = { env: 'SECRET' }
const sendTo = ['https://data.example/']
const entry = (fields: object) => ({ version: 1, credentials: [{ id: 'a', sendTo, ...fields }] })

describe('the schema of the credential file', () => {
  it('explains sendTo as URL patterns, in the words of the documentation', () => {
    const found = JSON.stringify(read('schemas/credentials.json')).match(/"sendTo":\{"description":"[^"]*"/g) ?? []
    expect(found.length).toBeGreaterThan(0)
    for (const text of found) expect(text).toMatch(/description":"URL/)
  })

  it('takes the example, and so does the reader', () => {
    const example = read('examples/credentials.json')
    expect(validate(example)).toBe(true)
    expect(readable(example)).toBe(true)
  })

  it.each([
    ['basic', { type: 'http', scheme: 'basic', username: 'ada', password: env }, true],
    ['any word with text', { type: 'http', scheme: 'portal', credentials: env }, true],
    [
      'client credentials',
      { type: 'oauth2', flow: 'clientCredentials', tokenUrl: 'https://a.example/t', clientId: 'c', clientSecret: env },
      true,
    ],
    ['s3 from the environment', { type: 's3' }, true],
    ['s3 from a service', { type: 's3', credentialsUrl: 'https://a.example/s3credentials' }, true],
    ['s3 from the instance', { type: 's3', instanceMetadata: true }, true],
    ['s3 from the instance, in words', { type: 's3', instanceMetadata: 'yes' }, false],
    ['a signing API', { type: 'signedUrl', authorizationApi: 'https://a.example/s', method: 'GET', signedUrlHosts: sendTo }, true],
    ['ready tokens', { type: 'http', scheme: 'privatetoken', token: env }, true],
    ['a token issuer', { type: 'http', scheme: 'privatetoken', issuerName: 'i.example', issuerRequestUri: 'https://i.example/' }, true],
    ['ready tokens and an issuer', { type: 'http', scheme: 'privatetoken', issuerName: 'i.example', token: env }, false],
    ['a function', { type: 'http', scheme: 'privatetoken', issuerName: 'i.example', issuer: 'f' }, false],
    ['a plain secret', { type: 'http', scheme: 'bearer', token: 'plain' }, false],
    ['two sources', { type: 'http', scheme: 'bearer', token: { env: 'A', file: 'b' } }, false],
    ['an unknown field', { type: 's3', secret: env }, false],
    ['an unknown type', { type: 'magic' }, false],
    ['no secret', { type: 'apiKey', in: 'header', name: 'x-key' }, false],
    ['a place that does not exist', { type: 'apiKey', in: 'body', name: 'k', value: env }, false],
    [
      'a field of another flow',
      { type: 'oauth2', flow: 'clientCredentials', authorizationUrl: 'https://a.example/', clientId: 'c' },
      false,
    ],
    ['no sendTo', { type: 's3', sendTo: undefined }, false],
  ])('the schema of the credential file and the reader agree on %s', (_what, fields, expected) => {
    const file = JSON.parse(JSON.stringify(entry(fields)))
    expect({ schema: validate(file), reader: readable(file) }).toEqual({ schema: expected, reader: expected })
  })
})
