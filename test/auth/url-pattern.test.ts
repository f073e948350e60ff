import { describe, expect, it } from 'vitest'
import { parseUrlPattern, pathProblem, patternsText } from '../../src/auth/url-pattern.ts'

describe('the part of a path because of which no folder matches it', () => {
  it.each([
    ['a dot in the middle of a name, before a sign', '/a.;b'],
    ['a dot at the end of a name', '/a.'],
    ['a character of two code units', '/%F0%A0%80%80/\u{20000}'],
    ['a percent sign that is encoded once', '/100%25.tif'],
    ['a tilde', '/~a/%7Eb'],
  ])('is none for %s', (_name, path) => {
    expect(pathProblem(path)).toBeUndefined()
  })

  it.each([
    ['a space', '/a b', '%20'],
    ['a control character', '/a%0ab', '%0A'],
    ['the end of ASCII', '/a%7fb', '%7F'],
    ['the first character behind ASCII', '/a%c2%80b', '%C2%80 (U+0080)'],
    ['a quote as it is', '/a"b', '"'],
    ['a brace as it is', '/a{b', '{'],
    ['a percent sign alone', '/a%', '%'],
    ['an encoded letter', '/%41', '%41'],
    ['an encoded underscore', '/%5f', '%5F'],
    ['an encoded dot', '/%2e%2E', '%2E'],
    ['an encoded slash', '/a%2fb', '%2F'],
    ['an encoded backslash', '/a%5cb', '%5C'],
    ['a digit of full width', '/%ef%bc%92', '%EF%BC%92 (U+FF12)'],
    ['a ligature', '/\ufb01le', '%EF%AC%81 (U+FB01)'],
    ['a symbol of two code units', '/%f0%9f%9b%b0', '%F0%9F%9B%B0 (U+1F6F0)'],
    ['bytes that are not UTF-8', '/a%c0%ae', '%c0%ae'],
    ['an escape of an escape', '/a%252Fb', '%252F'],
    ['an escape of an escape of Microsoft', '/a%25u002f', '%25u002f'],
    ['a name of dots', '/a/..;x', '..;x'],
    ['letters that are not composed', '/cafe\u0301', 'cafe\u0301'],
  ])('is shown for %s', (_name, path, shown) => {
    expect(pathProblem(path)).toBe(shown)
  })
})

describe('patterns in a message', () => {
  it.each([
    [0, 'no URL'],
    [1, 'https://a0.example/'],
    [3, 'https://a0.example/, https://a1.example/, https://a2.example/'],
    [4, 'https://a0.example/, https://a1.example/, https://a2.example/ and 1 more'],
    [6, 'https://a0.example/, https://a1.example/, https://a2.example/ and 3 more'],
  ])('%i of them are the first three, and how many follow', (count, text) => {
    expect(patternsText(Array.from({ length: count }, (_, index) => parseUrlPattern(`https://a${index}.example/`)))).toBe(text)
  })
})
