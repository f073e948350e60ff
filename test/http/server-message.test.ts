import { describe, expect, it } from 'vitest'
import { messageInText } from '../../src/http/server-message.ts'

describe('messageInText', () => {
  it.each<[string, unknown, string]>([
    ['a message', { message: 'no such\n  item' }, 'no such item'],
    ['a list of messages', { message: ['a is missing', 'b is wrong'] }, 'a is missing; b is wrong'],
    [
      'the error of OAuth 2',
      { error: 'invalid_grant', error_description: 'EULA Acceptance Failure' },
      'invalid_grant: EULA Acceptance Failure',
    ],
    ['an error object', { error: { code: 7, message: 'quota exceeded' } }, 'quota exceeded'],
    ['a list of errors', { errors: ['first', 'second'] }, 'first; second'],
    ['a map of errors', { errors: { bbox: ['has 3 numbers'], limit: 'too large' } }, 'bbox: has 3 numbers; limit: too large'],
    [
      'a problem of RFC 9457',
      { type: 'about:blank', title: 'Forbidden', detail: 'Accept the licence first.' },
      'Forbidden: Accept the licence first.',
    ],
    ['JSON:API', { errors: [{ status: '403', title: 'Not allowed', detail: 'no access to S1' }] }, 'Not allowed: no access to S1'],
    ['an exception of OGC API', { code: 'NotFoundError', description: 'collection x' }, 'collection x'],
    ['details of a validation', { detail: [{ loc: ['query', 'limit'], msg: 'not a number' }] }, 'query.limit: not a number'],
    ['a text', 'Maximum number of downloads reached', 'Maximum number of downloads reached'],
    ['a list of objects', [{ message: 'gone' }], 'gone'],
    ['a list of texts', ['first', 'second'], 'first; second'],
    ['a list as the error', { error: ['first', 'second'] }, 'first; second'],
    ['errors inside of the error', { error: { errors: [{ message: 'deep' }] } }, 'deep'],
    ['a map as the error', { error: { name: ['is taken'], limit: 'too large' } }, 'name: is taken; limit: too large'],
    ['lists by field', { name: ['is required'], age: ['is too old'] }, 'name: is required; age: is too old'],
    ['JSend', { status: 'fail', data: { title: 'is required' } }, 'title: is required'],
    ['error messages', { errorMessages: ['no such issue'], errors: {} }, 'no such issue'],
    ['pointers of JSON:API', { errors: [{ source: { pointer: '/data/name' }, detail: 'is short' }] }, '/data/name: is short'],
  ])('finds the sentence in %s', (_, body, message) => {
    expect(messageInText(JSON.stringify(body)).message).toBe(message)
  })

  it.each<[string, string, string | undefined]>([
    [
      'S3',
      '<?xml version="1.0"?>\n<Error><Code>AccessDenied</Code><Message>Request has expired &amp; more</Message></Error>',
      'Request has expired & more',
    ],
    [
      'OGC',
      '<ows:ExceptionReport><ows:Exception exceptionCode="x"><ows:ExceptionText>no layer</ows:ExceptionText></ows:Exception></ows:ExceptionReport>',
      'no layer',
    ],
    [
      'WMS',
      '<ServiceExceptionReport><ServiceException code="y"><![CDATA[ <bad> layer ]]></ServiceException></ServiceExceptionReport>',
      '<bad> layer',
    ],
    ['an error element', '<error><message>Maximum number of 4 flows</message></error>', 'Maximum number of 4 flows'],
    ['a plain text', '\ufeffNo access.\nTrace: x', 'No access.'],
    ['a page', '<!doctype html><title>x</title>', undefined],
    ['bytes', 'II*\0\u0008', undefined],
    ['JSON that is cut off', '{"message":"x', undefined],
    ['a number', '42', undefined],
  ])('finds the sentence in %s', (_, body, message) => {
    expect(messageInText(body).message).toBe(message)
  })

  it.each<[object, string | undefined]>([
    [{ resolution_url: 'https://login.example/approve?client_id=1' }, 'https://login.example/approve?client_id=1'],
    [{ error: { licenceUrl: 'https://a.example/l' } }, 'https://a.example/l'],
    [{ errors: ['x'], links: { about: 'https://a.example/about' } }, 'https://a.example/about'],
    [{ type: 'https://a.example/problems/terms' }, 'https://a.example/problems/terms'],
    [{ resolution_url: 'javascript:alert(1)' }, undefined],
    [{ resolution_url: 'https://a.example/ b' }, undefined],
    [{ url: 'https://a.example/the-request-itself' }, undefined],
  ])('finds the address where the user can do something in %j', (body, address) => {
    expect(messageInText(JSON.stringify(body)).address).toBe(address)
  })

  it('takes the code of the server from JSON and XML', () => {
    expect(messageInText('{"error":{"code":"quota"}}').code).toBe('quota')
    expect(messageInText('<Error><Code>NoSuchKey</Code></Error>')).toEqual({ code: 'NoSuchKey' })
  })

  it('reads hostile bodies within its timeout, and finds nothing in them', () => {
    for (const body of ['<a'.repeat(30_000), '<Message '.repeat(7000), '&#'.repeat(30_000), '['.repeat(60_000)])
      expect(messageInText(body).message ?? '').toBe('')
  })
})
