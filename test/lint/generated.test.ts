import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const path = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url))

describe.each(['validators', 'rule-pages', 'rules-docs'])('what generate-%s makes', (name) => {
  it('is fresh', () => {
    const run = spawnSync(process.execPath, ['--import', 'tsx', path(`scripts/generate-${name}.ts`), '--check'], {
      cwd: path('.'),
      encoding: 'utf8',
    })
    expect(run.stderr).toBe('')
    expect(run.status).toBe(0)
  })
})
