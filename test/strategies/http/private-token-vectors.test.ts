/** The numbers of RFC 9577 and RFC 9578, computed again: digests, key ids, signatures; and what the flow makes of them. */
import { privateVerif, Token } from '@cloudflare/privacypass-ts'
import { describe, expect, it } from 'vitest'
import vectors from '../../../fixtures/private-token.json' with { type: 'json' }
import { answers, privateTokens, tokenChallenge } from '../../../src/strategies/http/private-token.ts'
import { privateToken } from '../../../src/strategies/http/schemes.ts'
import { stepsOf, unauthorized, wordContext } from '../../harness/auth-flow.ts'
import { challengeBytes, isSigned, padded, privateTokenChallenge, sha256 } from '../../servers/private-token-server.ts'

const bytes = (hex: string) => Buffer.from(hex, 'hex')
const base64url = (hex: string) => bytes(hex).toString('base64url')

describe('the challenges of RFC 9577 Appendix A', () => {
  it.each(vectors.challenges)(
    '$originInfo, context $redemptionContext',
    async ({ issuerName, originInfo, redemptionContext, tokenInput }) => {
      const context = bytes(redemptionContext)
      const written = challengeBytes({ issuerName, origins: originInfo, context })
      const read = await tokenChallenge(padded(written))
      expect(read).toMatchObject({ tokenType: 2, issuerName, originInfo: originInfo === '' ? [] : originInfo.split(',') })
      if (typeof read === 'string') return
      expect(Buffer.from(read.redemptionContext).toString('hex')).toBe(redemptionContext)
      expect(Buffer.from(read.digest).toString('hex')).toBe(tokenInput.slice(68, 132))
    },
  )
})

describe('the tokens of RFC 9578', () => {
  it.each(vectors.tokens)('type $tokenType, challenge $challenge', async ({ tokenType, tokenKey, challenge, token, secretKey }) => {
    const [input, authenticator] = [bytes(token).subarray(0, 98), bytes(token).subarray(98)]
    expect(input.subarray(34, 66)).toEqual(sha256(bytes(challenge)))
    expect(input.subarray(66)).toEqual(sha256(bytes(tokenKey)))
    if (tokenType === 2) expect(isSigned(input, authenticator, { spki: bytes(tokenKey) })).toBe(true)
    else {
      const read = Token.deserialize(privateVerif.VOPRF, new Uint8Array(bytes(token)))
      expect(await privateVerif.verifyToken(read, new Uint8Array(bytes(secretKey ?? '')))).toBe(true)
    }

    const [read] = privateTokens(base64url(token))
    const asked = await tokenChallenge(base64url(challenge), base64url(tokenKey))
    if (typeof read !== 'object' || typeof asked !== 'object') throw new Error('cannot be read')
    expect(answers(read, asked)).toBe(true)
    expect(answers(read, { ...asked, tokenType: 3 - tokenType })).toBe(false)
    expect(answers(read, { ...asked, digest: sha256(bytes('00')) })).toBe(false)
    expect(answers(read, { ...asked, tokenKeyId: sha256(bytes('00')) })).toBe(false)
  })

  it.each(vectors.tokens)(
    'the tokens of RFC 9578 are sent as they are: type $tokenType, challenge $challenge',
    async ({ tokenKey, challenge, token }) => {
      const [origin = ''] =
        bytes(challenge)
          .toString('latin1')
          .match(/(?:origin|foo)\.example/) ?? []
      const request = { method: 'GET', url: `https://${origin}/f.tif`, headers: {} }
      const context = wordContext('privatetoken', { token: base64url(token) })
      const asks = unauthorized(privateTokenChallenge(bytes(challenge), bytes(tokenKey)))
      const steps = await stepsOf(privateToken.authorize(request, context), [asks])
      expect(steps.map(({ kind }) => kind)).toEqual(['handshake', 'authorized'])
      expect(steps[0]?.request).toEqual(request)
      expect(steps[1]?.request.headers.authorization).toBe(`PrivateToken token="${padded(bytes(token))}"`)
    },
  )
})
