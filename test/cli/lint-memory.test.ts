/** Findings of a run that memory has no room for: the built program with a small heap. */
import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Ajv } from 'ajv'
import { expect, it } from 'vitest'
import { EXTENSION } from '../harness/documents.ts'
import { put, temporaryFolder } from './folder.ts'

const PROGRAM = fileURLToPath(new URL('../../dist/cli/bin.js', import.meta.url))
const DOCUMENTS = 40_000
const folder = await temporaryFolder()

/** An Item with an error and an info, the info first. */
const itemOf = (index: number) => ({
  type: 'Feature',
  stac_version: '1.0.0',
  stac_extensions: [EXTENSION],
  id: `item-${index}`,
  properties: { 'auth:schemes': { key: { type: 'http', scheme: 'basic' } } },
  assets: { data: { href: `https://data.example/${index}`, 'auth:refs': ['gone'] } },
  links: [],
})

/** Runs the program with 64 MiB of heap. */
function run(argv: readonly string[]) {
  const child = spawn(process.execPath, ['--max-old-space-size=64', PROGRAM, 'lint', ...argv], { env: { PATH: process.env.PATH } })
  const out: Buffer[] = []
  let stderr = ''
  child.stdout.on('data', (chunk) => out.push(chunk))
  child.stderr.on('data', (text) => {
    stderr += text
  })
  return new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
    child.on('close', (code) => resolve({ code, stdout: Buffer.concat(out).toString(), stderr }))
  })
}

it('lists more findings as ndjson than fit into memory, and counts what it does not list as json', { timeout: 180_000 }, async () => {
  const lines = Array.from({ length: DOCUMENTS }, (_, index) => JSON.stringify(itemOf(index)))
  const input = await put(folder, 'items.ndjson', `${lines.join('\n')}\n`)
  const file = join(folder, 'report.json')
  const { code, stdout, stderr } = await run([input, '--infos', '--format', 'ndjson', '--format', `json=${file}`])
  expect([code, stderr]).toEqual([1, expect.stringContaining('FINDINGS_UNLISTED')])

  const listed = stdout.trimEnd().split('\n')
  const counts = { documents: DOCUMENTS, errors: DOCUMENTS, warnings: 0, infos: DOCUMENTS, suggestions: DOCUMENTS, incomplete: [] }
  expect(JSON.parse(listed.pop() ?? '')).toEqual({ version: 1, summary: counts })
  expect(listed).toHaveLength(2 * DOCUMENTS)
  const wrong = listed.findIndex((line, index) => {
    const { id, severity } = JSON.parse(line)
    return id !== `item-${Math.floor(index / 2)}` || severity !== (index % 2 === 0 ? 'info' : 'error')
  })
  expect(wrong).toBe(-1)

  const report = JSON.parse(await readFile(file, 'utf8'))
  const { problems, summary } = report
  expect(summary).toEqual({ ...counts, unlisted: 2 * DOCUMENTS - problems.length })
  expect(problems.length).toBeGreaterThan(1000)
  expect(
    problems.every(({ severity }: { severity: string }, index: number) => severity === 'error' && problems[index].id === `item-${index}`),
  ).toBe(true)
  expect(new Ajv({ strictTypes: false }).compile(JSON.parse(await readFile('schemas/report.json', 'utf8')))(report)).toBe(true)
})
