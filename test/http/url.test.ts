import { describe, expect, it } from 'vitest'
import { originOf, trustHint, urlOfHref } from '../../src/http/url.ts'

describe('the text of an href', () => {
  it.each([
    [' https://data.example/f', 'begins with a space'],
    ['https://data.example/f ', 'ends with a space'],
    ['https://data.example/\\f', 'has a backslash at character 22'],
    ['\u0001', 'has a control character at character 1'],
    ['https://data.example/f\n', 'has a control character at character 23'],
    ['', 'is missing'],
    [7, 'is missing'],
    ['gs://', 'is not gs://bucket/key'],
  ])('%j is refused with what is wrong with it', (href, says) => {
    expect(urlOfHref(href as string, { base: 'https://data.example/', objects: true })).toMatchObject({
      message: expect.stringContaining(says),
    })
  })
})

describe('an origin in a message', () => {
  it.each([
    ['https://data.example/a?key=1', 'https://data.example'],
    ['not a URL', 'an invalid URL'],
  ])('of %s is %s', (url, origin) => expect(originOf(url)).toBe(origin))
})

describe('the advice to trust a host', () => {
  it('is a command that can be pasted, with the id where it is known', () => {
    expect(trustHint('https://data.example/a_b/~c/', 'mine')).toBe(
      'if you trust that host: stac-auth credentials trust mine https://data.example/a_b/~c/; in code, "sendTo" of "mine"',
    )
    expect(trustHint('https://data.example:8443/')).toBe(
      'if you trust that host: stac-auth credentials trust ID https://data.example:8443/; in code, "sendTo" of a credential',
    )
  })

  it.each(['https://data.example/$(id)/', '`id`https://data.example/', 'https://data.example/;id', 'https://data.example/a b'])(
    'is no command for %s, which a shell would read',
    (url) => expect(trustHint(url, 'mine')).toBe(`if you trust that host, add "${url}" to "sendTo" of "mine"`),
  )
})
