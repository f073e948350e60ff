import { describe, expect, it } from 'vitest'
import { AuthError, ConfigurationError, IntegrityError, NetworkError, TimeoutError, TrustError } from '../../src/errors.ts'
import { isKnownFailure, networkError } from '../../src/http/network-error.ts'

const URL_WITH_SECRET = 'https://data.example/a?sig=canary'
const foreign = (code: string) => Object.assign(new Error('canary'), { code })

describe('networkError', () => {
  it.each([
    ['ENOTFOUND', NetworkError, 'NETWORK_DNS', false],
    ['EAI_AGAIN', NetworkError, 'NETWORK_DNS', true],
    ['EAI_FAIL', NetworkError, 'NETWORK_DNS', false],
    ['ECONNREFUSED', NetworkError, 'NETWORK_REFUSED', true],
    ['ECONNRESET', NetworkError, 'NETWORK_RESET', true],
    ['EPIPE', NetworkError, 'NETWORK_RESET', true],
    ['UND_ERR_SOCKET', NetworkError, 'NETWORK_RESET', true],
    ['EHOSTUNREACH', NetworkError, 'NETWORK_UNREACHABLE', true],
    ['ENETUNREACH', NetworkError, 'NETWORK_UNREACHABLE', true],
    ['EMFILE', IntegrityError, 'FILE_ACCESS', true],
    ['ETIMEDOUT', TimeoutError, 'TIMEOUT_CONNECT', true],
    ['UND_ERR_CONNECT_TIMEOUT', TimeoutError, 'TIMEOUT_CONNECT', true],
    ['UND_ERR_HEADERS_TIMEOUT', TimeoutError, 'TIMEOUT_HEADERS', true],
    ['UND_ERR_BODY_TIMEOUT', TimeoutError, 'TIMEOUT_BODY', true],
    ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', NetworkError, 'RESPONSE_TRUNCATED', true],
    ['Z_BUF_ERROR', NetworkError, 'RESPONSE_TRUNCATED', true],
    ['Z_DATA_ERROR', NetworkError, 'RESPONSE_INVALID', false],
    ['ERR__ERROR_FORMAT_CL_SPACE', NetworkError, 'RESPONSE_INVALID', false],
    ['HPE_INVALID_CONSTANT', NetworkError, 'RESPONSE_INVALID', false],
    ['UND_ERR_HEADERS_OVERFLOW', NetworkError, 'RESPONSE_TOO_LARGE', false],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', NetworkError, 'TLS_UNTRUSTED', false],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', NetworkError, 'TLS_UNTRUSTED', false],
    ['CERT_REVOKED', NetworkError, 'TLS_UNTRUSTED', false],
    ['CERT_HAS_EXPIRED', NetworkError, 'TLS_EXPIRED', false],
    ['CERT_NOT_YET_VALID', NetworkError, 'TLS_EXPIRED', false],
    ['ERR_TLS_CERT_ALTNAME_INVALID', NetworkError, 'TLS_HOSTNAME', false],
    ['ERR_SSL_WRONG_VERSION_NUMBER', NetworkError, 'TLS_HANDSHAKE', false],
    ['EPROTO', NetworkError, 'TLS_HANDSHAKE', false],
    ['UND_ERR_INVALID_ARG', ConfigurationError, 'REQUEST_INVALID', false],
    ['ESOMETHING', NetworkError, 'NETWORK_FAILED', false],
    ['toString', NetworkError, 'NETWORK_FAILED', false],
  ] as const)('%s', (code, family, ours, retryable) => {
    const error = networkError(foreign(code), URL_WITH_SECRET)
    expect(error).toBeInstanceOf(family)
    expect(error).toMatchObject({ code: ours, retryable, url: 'https://data.example/a' })
    expect(error.message).toMatch(/^https:\/\/data\.example: /)
    expect(JSON.stringify(error) + error.stack).not.toContain('canary')
    expect(error).not.toHaveProperty('cause')
  })

  it('looks into causes, and at the first of several attempts', () => {
    expect(networkError(new TypeError('fetch failed', { cause: foreign('ECONNREFUSED') }), URL_WITH_SECRET).code).toBe('NETWORK_REFUSED')
    const attempts = new AggregateError([foreign('EHOSTUNREACH'), foreign('ECONNREFUSED')])
    expect(networkError(attempts, URL_WITH_SECRET).code).toBe('NETWORK_UNREACHABLE')
  })

  it('reports a parser that has no code apart by its last word', () => {
    const parser = (reason: string) =>
      Object.assign(new Error(`Response does not match the HTTP/1.1 protocol (${reason})`), { name: 'HTTPParserError', code: undefined })
    const early = new TypeError('terminated', { cause: parser('Invalid EOF state') })
    expect(networkError(early, URL_WITH_SECRET)).toMatchObject({ code: 'RESPONSE_TRUNCATED', retryable: true })
    expect(networkError(parser('Invalid EOF state, or not'), URL_WITH_SECRET)).toMatchObject({ code: 'RESPONSE_INVALID', retryable: false })
  })

  it('leaves errors of the library unchanged', () => {
    const ours = new TrustError('URL_ADDRESS_FORBIDDEN', 'no')
    expect(networkError(ours, URL_WITH_SECRET)).toBe(ours)
  })

  it.each([undefined, null, 'canary', 5, {}, new Error('canary')])('knows nothing about %j', (thrown) => {
    expect(isKnownFailure(thrown)).toBe(false)
    expect(networkError(thrown, URL_WITH_SECRET)).toBeInstanceOf(AuthError)
    expect(networkError(thrown, 'canary').message).toBe('an invalid URL: the network failed')
  })
})
