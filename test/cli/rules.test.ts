import { describe, expect, it } from 'vitest'
import { rules } from '../../src/lint/index.ts'
import { run } from './run.ts'

describe('rules', () => {
  it('lists every rule with its levels', async () => {
    const { code, stdout } = await run(['rules'])
    expect(code).toBe(0)
    expect(stdout.trimEnd().split('\n')).toHaveLength(rules.length + 1)
    for (const { meta } of rules)
      expect(stdout).toMatch(new RegExp(`^${meta.id} +${meta.severity.recommended} +${meta.severity.strict} `, 'm'))
  })

  it('shows the page of one', async () => {
    const { stdout } = await run(['rules', 'dangling-ref'])
    expect(stdout).toMatch(/^dangling-ref \(references\)\n\n\S.*\.\n\nrecommended: error {3}strict: error {3}schema: off/)
    expect(stdout).toContain('is not defined in auth:schemes')
    expect(stdout).toMatch(/\nFound:\n[\s\S]*"kye"[\s\S]*\nNot found:\n[\s\S]*"key"/)
    expect(stdout).not.toContain('```')
  })

  it('prints the catalogue or one rule for programs', async () => {
    expect(JSON.parse((await run(['rules', '--json'])).stdout).map(({ id }: { id: string }) => id)).toEqual(
      rules.map(({ meta }) => meta.id),
    )
    expect(JSON.parse((await run(['rules', 'dangling-ref', '--json'])).stdout)).toMatchObject({
      id: 'dangling-ref',
      section: 'references',
      docs: expect.any(String),
    })
  })

  it('knows no other', async () => {
    expect(await run(['rules', 'no-such-rule'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^error USAGE: there is no rule/),
    })
  })
})
