import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { ruleTable } from '../../scripts/generate-rules-docs.ts'
import { rules } from '../../src/lint/index.ts'

const path = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url))

describe.each(['schemas', 'rule-pages', 'rules-docs'])('what generate-%s makes', (name) => {
  it('is fresh', () => {
    const run = spawnSync(process.execPath, ['--import', 'tsx', path(`scripts/generate-${name}.ts`), '--check'], {
      cwd: path('.'),
      encoding: 'utf8',
    })
    expect(run.stderr).toBe('')
    expect(run.status).toBe(0)
  })
})

describe('the table of rules', () => {
  it('has a row for each', () => {
    expect(ruleTable().split('\n')).toHaveLength(rules.length + 2)
  })
})
