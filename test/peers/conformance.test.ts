/** The conformance cases with their runner: this library passes, and programs with one fault each do not. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import { authorizeCases } from '../../scripts/conformance-cases.ts'

const KIT = fileURLToPath(new URL('../../conformance/', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'stac-auth-conformance-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Report {
  readonly run: number
  readonly passed: number
  readonly leftOut: number
  readonly failures: readonly { readonly id: string; readonly fault: string }[]
}

async function run(
  program: readonly string[],
  ...options: readonly string[]
): Promise<{ readonly report: Report; readonly exit: number | null }> {
  const runner = spawn('python3', [join(KIT, 'run.py'), '--json', ...options, '--', ...program], { cwd: KIT })
  let text = ''
  runner.stdout.on('data', (chunk) => (text += chunk))
  const exit = await new Promise<number | null>((resolve) => runner.on('close', resolve))
  return { report: JSON.parse(text), exit }
}

/** The program of this library with something put between it and the runner. */
function faulty(name: string, change: string): readonly string[] {
  const path = join(folder, `${name}.mjs`)
  writeFileSync(
    path,
    `import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
const honest = spawn(process.execPath, [${JSON.stringify(join(KIT, 'stac-auth.mjs'))}], { cwd: ${JSON.stringify(KIT)}, stdio: ['inherit', 'pipe', 'inherit'] })
const change = ${change}
for await (const line of createInterface({ input: honest.stdout })) {
  const answer = change(JSON.parse(line))
  if (answer) console.log(JSON.stringify(answer))
}
`,
  )
  return ['node', path]
}

it('the library passes every case, with the codes of refusals and findings', async () => {
  const { report, exit } = await run(['node', 'stac-auth.mjs'], '--codes')
  expect(report).toMatchObject({ failures: [], leftOut: 0, passed: report.run })
  expect(exit).toBe(0)
  expect(report.run).toBeGreaterThan(authorizeCases.length + 100)
})

it('cases with other servers are left out only when asked, and counted', async () => {
  const { report } = await run(['node', 'stac-auth.mjs'], '--kind', 'authorize', '--skip-network')
  expect(report.leftOut).toBe(authorizeCases.filter(({ network }) => network).length)
  expect(report.run + report.leftOut).toBe(authorizeCases.length)
})

const refusals = authorizeCases.filter(({ expect: expected }) => 'refused' in expected).map(({ id }) => id)

it.each([
  ['says nothing', '() => undefined', (report: Report) => report.passed === 0],
  [
    'makes a request where it must refuse',
    "(answer) => answer.refused ? { ...answer, refused: undefined, request: { method: 'GET', url: 'https://evil.example/', headers: {} } } : answer",
    (report: Report) => refusals.every((id) => report.failures.some((failure) => failure.id === id)),
  ],
  [
    'signs with another key',
    "(answer) => JSON.parse(JSON.stringify(answer).replace(/Signature=../, 'Signature=zz'))",
    (report: Report) => report.failures.map(({ id }) => id).join() === 's3-header',
  ],
  [
    'sends the secret in another field as well',
    "(answer) => answer.id === 'bearer' ? { ...answer, request: { ...answer.request, headers: { ...answer.request.headers, referer: 'abc.def' } } } : answer",
    (report: Report) => report.failures.map(({ id }) => id).join() === 'bearer',
  ],
  [
    'asks another server',
    "(answer) => answer.id === 'bearer' ? { ...answer, sent: [{ method: 'GET', url: 'https://evil.example/', headers: {} }] } : answer",
    (report: Report) => report.failures.map(({ id }) => id).join() === 'bearer',
  ],
  [
    'finds everything everywhere',
    "(answer) => answer.id === 'dangling-ref/good' ? { ...answer, findings: [{ pointer: '/assets/data/auth:refs/0', code: 'x' }] } : answer",
    (report: Report) => report.failures.map(({ id }) => id).join() === 'dangling-ref/good',
  ],
])('a program that %s fails', async (name, change, isNoticed) => {
  const { report, exit } = await run(faulty(name.replaceAll(' ', '-'), change))
  expect(isNoticed(report), JSON.stringify(report.failures.slice(0, 3))).toBe(true)
  expect(exit).toBe(1)
})
