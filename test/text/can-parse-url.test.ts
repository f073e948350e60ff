import { expect, it } from 'vitest'
import { canParseUrl } from '../../src/text/can-parse-url.ts'
import { projectFiles } from '../architecture/files.ts'

it('parses hosts of any letters also when it is optimized', () => {
  const hosts = ['https://b\u00fccher.example/a', 'https://d\u0430ta.example/', 'https://data.example/']
  const known = () => hosts.map((url) => canParseUrl(url))
  for (let call = 0; call < 1_000_000; call++) canParseUrl(`https://data.example/${call % 7}`)
  expect(known()).toEqual([true, true, true])
})

it('agrees with the parser of URLs', () => {
  expect(canParseUrl('/a', 'https://b\u00fccher.example/')).toBe(true)
  for (const text of ['', '/a', 'https://', 'https://a b/', 'https://\u0080/', 'https://[::1']) expect(canParseUrl(text)).toBe(false)
})

it('is used everywhere instead of URL.canParse', () => {
  const users = projectFiles('src/').filter(({ path, text }) => path !== 'src/text/can-parse-url.ts' && text.includes('URL.canParse'))
  expect(users.map(({ path }) => path)).toEqual([])
})
