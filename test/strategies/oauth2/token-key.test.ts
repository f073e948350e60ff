import { constantFrom, assert as hold, option, property, record, shuffledSubarray, tuple } from 'fast-check'
import { expect, it } from 'vitest'
import type { OAuth2Credential } from '../../../src/strategies/oauth2/credential.ts'
import { tokenKey } from '../../../src/strategies/oauth2/token.ts'
import { caseCount } from '../../harness/case-count.ts'

const text = (...values: readonly string[]) => option(constantFrom(...values), { nil: undefined })

const credential = record({
  tokenUrl: constantFrom('https://a.example/token', 'https://b.example/token'),
  clientId: constantFrom('app', 'app"', 'app","x'),
  flow: constantFrom('clientCredentials', 'password'),
  scopes: shuffledSubarray(['read', 'write', 'read write', 'a,b']),
  resource: text('urn:a', 'urn:b'),
  audience: text('urn:a', 'urn:b'),
  subject: text('one', 'two'),
})

/** The scopes without their order. */
const meaning = ({ scopes, ...fields }: object & { readonly scopes: readonly string[] }) => JSON.stringify([fields, [...scopes].sort()])

it('O18 tokens are shared exactly when everything they depend on is the same', () => {
  hold(
    property(tuple(credential, credential), ([one, other]) => {
      const [a, b] = [one, other].map((fields) => tokenKey(fields as unknown as OAuth2Credential))
      expect(a === b).toBe(meaning(one) === meaning(other))
    }),
    { numRuns: caseCount(2000, 300) },
  )
})
