/** The built program, interrupted, and at a real terminal. */
import { execFile, spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { put, temporaryFolder } from '../folder.ts'
import { contentOf, filesIn, itemOf, promised, startArchive, TOKEN, tokenFor } from './fixture.ts'

const server = await startArchive()
const [terminal = '', program = ''] = ['../at-terminal.py', '../../../dist/cli/bin.js'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
)
const folder = await temporaryFolder()
const env = { PATH: process.env.PATH ?? '', HOME: folder, XDG_CACHE_HOME: folder, STAC_AUTH_TEST_TOKEN: TOKEN }
const credentials = ['--credentials', await tokenFor(server, folder)]
const NAME = 'large-6000000.bin'
const item = await put(folder, 'item.json', itemOf('one', { data: promised(`${server.origin}/private/${NAME}`) }))

/** Runs it, and sends the signal when some bytes have come. */
function run(argv: readonly string[], signal?: NodeJS.Signals) {
  const child = spawn(process.execPath, [program, 'download', ...argv, ...credentials, '--json'], { env })
  let [stdout, stderr] = ['', '']
  child.stderr.on('data', (text) => {
    stderr += text
  })
  child.stdout.on('data', (text) => {
    stdout += text
    if (signal && !child.killed && /"kind":"progress"[^\n]*"bytes":[1-9]/.test(stdout)) child.kill(signal)
  })
  return new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
    child.on('close', (code) => resolve({ code, stdout, stderr }))
  })
}

it.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 143],
  ['SIGKILL', null],
] as const)('leaves by %s what the next run continues with', async (signal, code) => {
  const into = join(folder, signal)
  const first = await run([item, '-d', into, '--limit-rate', '1M'], signal)
  expect(first.code).toBe(code)
  expect(Object.keys(await filesIn(into))).toContain(`one/${NAME}.part`)
  if (code !== null) {
    const error = JSON.parse(first.stderr.trimEnd().split('\n').at(-1) ?? '')
    expect(error).toMatchObject({
      code: 'ABORTED',
      hint: expect.stringMatching(/^complete: 0 of 1 files, and \S+ kB.*run the same command to resume/),
    })
    const summary = JSON.parse(first.stdout.trimEnd().split('\n').at(-1) ?? '')
    expect(summary).toMatchObject({ kind: 'summary', files: 1, written: 0, failed: 1, stopped: { code: 'ABORTED' } })
  }
  const second = await run([item, '-d', into])
  expect([second.code, second.stderr]).toEqual([0, ''])
  const files = await filesIn(into)
  expect(Object.keys(files)).toEqual([`one/${NAME}`])
  expect(files[`one/${NAME}`]?.equals(contentOf(NAME))).toBe(true)
  expect(String(server.asked.at(-1)?.range)).toMatch(code === null ? /^bytes=\d+-|^undefined/ : /^bytes=[1-9]\d*-/)
})

/** What a terminal of that width gets. */
function atTerminal(columns: number, more: Readonly<Record<string, string>>, ...argv: readonly string[]) {
  const shell = ['sh', '-c', `stty cols ${columns} rows 8; exec "$@"`, 'sh', process.execPath, program, 'download', ...argv, ...credentials]
  const around = { env: { ...env, TERM: 'xterm-256color', LC_ALL: 'C.UTF-8', ...more } }
  return new Promise<{ code: number; screen: string }>((resolve) => {
    execFile('python3', [terminal, '[]', ...shell], around, (error, stdout) => resolve({ code: Number(error?.code ?? 0), screen: stdout }))
  })
}

const slowly = (into: string) => [item, '-d', join(folder, into), '--limit-rate', '4M']

it('shows a person how far it is, and takes that away in the end', async () => {
  const { code, screen } = await atTerminal(100, {}, ...slowly('wide'))
  expect(code).toBe(0)
  expect(screen).toMatch(/0 of 1 files {2}[█░]{20} {2}[\d.]+ MB of 6.0 MB {2}[\d.]+ [kM]B\/s {2}0:\d\d left/)
  expect(screen).toMatch(/one\/large-6000000\.bin +\d+% {2}of 6\.0 MB/)
  expect(screen).toMatch(/\x1b\[J\x1b\[32mwritten \x1b\[0m {6}1 {6}6\.0 MB {2}by checksum\r\n/)
})

it('keeps to the width of a narrow terminal', async () => {
  const { screen } = await atTerminal(30, {}, ...slowly('narrow'))
  const lines = screen.split(/\r\n|\r|\n/).map((line) => line.replace(/\x1b\[[\d;]*[A-Za-z]/g, ''))
  const shown = lines.slice(
    0,
    lines.findIndex((line) => line.startsWith('written')),
  )
  expect(shown.some((line) => line.includes('0 of 1 files'))).toBe(true)
  expect(shown.filter((line) => line.length > 29)).toEqual([])
})

it.each([
  [{ NO_COLOR: '1' }, /\r0 of 1 files/],
  [{ TERM: 'dumb' }, /^written/],
])('sends no escapes with %j', async (more, seen) => {
  const { code, screen } = await atTerminal(70, more, ...slowly(Object.keys(more).join()))
  expect([code, screen]).toEqual([0, expect.stringMatching(seen)])
  expect(screen).not.toContain('\x1b')
})
