import { describe, expect, it } from 'vitest'
import { rules } from '../../src/lint/index.ts'
import { run } from './run.ts'

describe('rules', () => {
  it('lists every rule with its levels', async () => {
    const { code, stdout } = await run(['rules'])
    expect(code).toBe(0)
    for (const { meta, cases } of rules) {
      expect(stdout).toMatch(new RegExp(`^${meta.id}( |$)`, 'm'))
      for (const { meta: one } of cases)
        expect(stdout).toMatch(new RegExp(`^ *${one.code} +${one.severity.recommended} +${one.severity.strict} `, 'm'))
    }
  })

  it('shows the page of one', async () => {
    const { stdout } = await run(['rules', 'dangling-ref'])
    expect(stdout).toMatch(/^# dangling-ref\n/)
    expect(stdout).toContain('Level: error.')
    expect(stdout).toMatch(/"kye"[\s\S]*"key"/)
    expect(stdout).not.toContain('```')
  })

  it('shows the part about a code of a rule with several, and names the rule', async () => {
    const { stdout } = await run(['rules', 'apikey-in'])
    expect(stdout).toMatch(/^# apikey-in\n[\s\S]*1. Look up[\s\S]*\nstac-auth rules field-value explains the whole rule\.\n$/m)
    expect(stdout).not.toContain('apikey-name')
    expect((await run(['rules', 'field-value'])).stdout).toMatch(/^# field-value\n[\s\S]*^## apikey-in$/m)
  })

  it('prints the catalogue or one rule for programs', async () => {
    expect(JSON.parse((await run(['rules', '--json'])).stdout).map(({ id }: { id: string }) => id)).toEqual(
      rules.map(({ meta }) => meta.id),
    )
    expect(JSON.parse((await run(['rules', 'dangling-ref', '--json'])).stdout)).toMatchObject({
      id: 'dangling-ref',
      section: 'references',
      cases: [{ code: 'dangling-ref', docs: expect.any(String) }],
    })
  })

  it('knows no other', async () => {
    expect(await run(['rules', 'no-such-rule'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^error USAGE: unknown rule/),
    })
  })
})
