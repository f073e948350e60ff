/** The conformance cases with their runner: this library passes, and programs with one fault each do not. */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import { authorizeCases } from '../../scripts/generate/conformance-cases.ts'

const KIT = fileURLToPath(new URL('../../fixtures/conformance/', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'stac-auth-conformance-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The key of the case `s3-header`. */
const SECRET_KEY = authorizeCases
  .find(({ id }) => id === 's3-header')
  ?.credentials.map((credential) => (credential as { readonly secretAccessKey?: string }).secretAccessKey)[0]

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
const secretKey = ${JSON.stringify(SECRET_KEY)}
const signedFor = (region, request) => JSON.parse(JSON.stringify(request).replace('/us-east-1/', '/' + region + '/'))
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
    'sends the key of a signature in another field',
    "(answer) => answer.id === 's3-header' ? { ...answer, request: { ...answer.request, headers: { ...answer.request.headers, referer: secretKey } } } : answer",
    (report: Report) => report.failures.map(({ fault }) => fault).join() === 'the field referer contains a secret',
  ],
  [
    'sends the password in Base64 in another field',
    "(answer) => answer.id === 'basic' ? { ...answer, request: { ...answer.request, headers: { ...answer.request.headers, cookie: btoa('open sesame') } } } : answer",
    (report: Report) => report.failures.map(({ fault }) => fault).join() === 'the field cookie contains a secret',
  ],
  [
    'sends the secret in a body',
    "(answer) => answer.id === 'bearer' ? { ...answer, request: { ...answer.request, body: 'abc.def' } } : answer",
    (report: Report) => report.failures.map(({ id }) => id).join() === 'bearer',
  ],
  [
    'refuses and sends all the same',
    "(answer) => answer.refused ? { ...answer, request: { method: 'GET', url: 'https://evil.example/', headers: {} } } : answer",
    (report: Report) => refusals.every((id) => report.failures.some((failure) => failure.id === id)),
  ],
  [
    'signs for another region',
    "(answer) => answer.id === 's3-header' ? { ...answer, request: signedFor('eu-west-1', answer.request) } : answer",
    (report: Report) =>
      report.failures.map(({ fault }) => fault).join() === 'the scope of the signature is eu-west-1/s3, expected us-east-1/s3',
  ],
  [
    'answers in another form',
    "(answer) => answer.id === 'bearer' ? { ...answer, request: { ...answer.request, headers: [] } } : answer",
    (report: Report) =>
      report.failures.map(({ id }) => id).join() === 'bearer' && /does not have the form/.test(report.failures[0]?.fault ?? ''),
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

it('a case runs by the id that a failure prints; an unknown id and a missing program are refused', () => {
  const runner = (...args: readonly string[]) => spawnSync('python3', [join(KIT, 'run.py'), ...args], { cwd: KIT, encoding: 'utf8' })
  expect(runner('--only', 'dangling-ref/bad', '--', 'node', 'stac-auth.mjs').stdout).toBe('1 of 1 passed\n')
  for (const [args, message] of [
    [['--only', 'bearer', '--only', 'nothing', '--', 'node', 'stac-auth.mjs'], 'no case has the id nothing'],
    [['--', './no-such-program'], './no-such-program cannot be started: No such file or directory'],
  ] as const) {
    const { status, stderr } = runner(...args)
    expect([status, stderr.trim().split('\n').at(-1)]).toEqual([2, `run.py: error: ${message}`])
  }
})
