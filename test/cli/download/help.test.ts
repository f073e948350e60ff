import { expect, it } from 'vitest'
import { run } from '../run.ts'

it('lists options in the order of use, and shows examples that parse', async () => {
  const { code, stdout } = await run(['download', '--help'])
  const places = ['--output-dir', '--asset', '--dry-run', '--credentials', '--concurrency', '--crawl', 'Examples:'].map((word) =>
    stdout.indexOf(word),
  )
  expect([code, places]).toEqual([0, [...places].sort((one, other) => one - other)])
  expect(places).not.toContain(-1)
  const examples = stdout.match(/(?<=^ {2}stac-auth )download .*$/gm) ?? []
  expect(examples).toHaveLength(4)
  for (const example of examples)
    for (const option of example.match(/ -{1,2}[a-z][a-z-]*/g) ?? []) expect(stdout).toMatch(new RegExp(`^ {2}(?:-d,)?.*${option}\\b`, 'm'))
})
