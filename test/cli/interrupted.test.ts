/** Signals that reach the built program while it waits for something, or for nothing. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { put, temporaryFolder } from './folder.ts'

const PROGRAM = fileURLToPath(new URL('../../dist/cli/bin.js', import.meta.url))
const folder = await temporaryFolder()
const SIGNALS = [
  ['SIGTERM', 143],
  ['SIGHUP', 143],
  ['SIGINT', 130],
] as const

const item = (index: number) => JSON.stringify({ type: 'Feature', stac_version: '1.0.0', id: `item-${index}`, properties: {}, assets: {} })

function start(argv: readonly string[], nodeOptions: readonly string[] = []): ChildProcess {
  const child = spawn(process.execPath, [...nodeOptions, PROGRAM, ...argv], { env: { PATH: process.env.PATH } })
  child.stdout?.resume()
  child.stderr?.resume()
  return child
}

/** The exit code as a shell tells it, also of a process that the signal itself has ended. */
async function exitOf(child: ChildProcess): Promise<number> {
  const [code, signal] = await once(child, 'close')
  return code ?? { SIGTERM: 143, SIGINT: 130 }[signal as 'SIGTERM' | 'SIGINT']
}

/** Writes more than the system keeps for a reader: when it is gone, the program reads and waits for the rest. */
const wholly = (child: ChildProcess, text: string) =>
  new Promise((resolve) => child.stdin?.write(`${text}${' '.repeat(2 ** 20)}`, () => resolve(undefined)))

describe.each(SIGNALS)('%s', (signal, code) => {
  it.each([
    ['while it waits for standard input', ''],
    ['in the middle of a list of documents on standard input', `${item(1)}\n${item(2)}\n{"type":`],
  ])('ends lint %s', async (_when, text) => {
    const child = start(['lint', '-'])
    await wholly(child, text)
    child.kill(signal)
    expect(await exitOf(child)).toBe(code)
  })
})

describe('a pipe into which no one writes', () => {
  let children: readonly ChildProcess[]
  // No one can see that a process waits for the other end: all get the time to load what they need.
  beforeAll(async () => {
    const pipes = SIGNALS.map(([signal]) => join(folder, `pipe-${signal}`))
    execFileSync('mkfifo', pipes)
    children = pipes.map((pipe) => start(['explain', pipe]))
    await new Promise((resolve) => setTimeout(resolve, 3000))
  })

  it.each(SIGNALS.map((one, index) => [...one, index] as const))('%s ends a command that reads it', async (signal, code, index) => {
    const child = children[index] as ChildProcess
    child.kill(signal)
    expect(await exitOf(child)).toBe(code)
  })
})

it('ends lint in the middle of a folder whose files are read without waiting', async () => {
  const many = join(folder, 'many')
  await mkdir(many)
  const wide = JSON.stringify({ ...JSON.parse(item(1)), 'x:list': Array.from({ length: 4_000 }, (_, index) => ({ index })) })
  await writeFile(join(many, '0.json'), 'not JSON')
  for (let index = 1; index < 1_000; index++) await writeFile(join(many, `${index}.json`), wide)
  const child = start(['lint', '--format', 'ndjson', many])
  let stdout = ''
  child.stdout?.on('data', (text) => {
    if (stdout === '') child.kill('SIGTERM')
    stdout += text
  })
  expect(await exitOf(child)).toBe(143)
  expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '').summary.documents).toBeLessThan(1_000)
})

describe('an input that is not a file', () => {
  const named = (name: string) => join(folder, name)
  // Who is killed leaves its socket behind.
  const left = "require('node:net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))"

  it.each([
    ['named pipe', named('pipe.json'), () => execFileSync('mkfifo', [named('pipe.json')])],
    ['device', '/dev/zero', () => undefined],
    ['socket', named('socket.json'), () => spawnSync(process.execPath, ['-e', left, named('socket.json')])],
  ])('an input that is not a file is refused by name when it is a %s', async (kind, name, make) => {
    make()
    const child = start(['lint', name, '--format', 'json'])
    let stderr = ''
    child.stderr?.on('data', (text) => {
      stderr += text
    })
    expect(await exitOf(child)).toBe(6)
    const message = `cannot read "${name}": it is a ${kind}, not a file`
    expect(JSON.parse(stderr.trim().split('\n').at(-1) ?? '')).toMatchObject({ code: 'FILE_ACCESS', message })
  })
})

describe('a signal to lint', () => {
  /** Commands of the processes that this one has started, and of theirs. */
  const below = (pid: number): readonly string[] => {
    const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args=']).toString().split('\n')
    const rows = lines.map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)/.exec(line) ?? [])
    return rows.flatMap(([, own, parent, args = '']) => (Number(parent) === pid ? [args, ...below(Number(own))] : []))
  }

  it.each([['--changed'], ['--staged']])('ends the processes that %s has started', async (option) => {
    const bin = join(folder, `bin${option}`)
    await mkdir(bin)
    const started = join(bin, 'started')
    // A git that waits, and says which process it is.
    await writeFile(join(bin, 'git'), `#!/bin/sh\necho $$ > ${started}\nexec sleep 600\n`, { mode: 0o755 })
    const child = spawn(process.execPath, [PROGRAM, 'lint', option], { env: { PATH: `${bin}:${process.env.PATH}` }, stdio: 'ignore' })
    // The shell makes the file before it writes into it.
    const git = await vi.waitFor(async () => {
      const text = await readFile(started, 'utf8')
      expect(text).toMatch(/^\d+\n$/)
      return Number(text)
    }, 20_000)
    await vi.waitFor(() => expect(below(child.pid ?? 0).join()).toContain('sleep 600'), 10_000)
    child.kill('SIGTERM')
    expect(await exitOf(child)).toBe(143)
    await vi.waitFor(() => expect(() => process.kill(git, 0)).toThrow('ESRCH'), 10_000)
  })
})

describe('a keyring that waits for a person', () => {
  it.each(SIGNALS)('%s ends a command that reads a secret of it', async (signal, code) => {
    // A call in a thread of libuv, as those of the package; `process.exit` waits for it.
    const fake = await put(
      folder,
      'keyring.mjs',
      [
        "import { pbkdf2 } from 'node:crypto'",
        'export class AsyncEntry {',
        "  getPassword() { console.log('reading'); return new Promise((resolve) => pbkdf2('', '', 2e9, 64, 'sha512', resolve)) }",
        '}',
      ].join('\n'),
    )
    const resolve = `export const resolve = (name, context, next) => name === '@napi-rs/keyring'
      ? { url: ${JSON.stringify(pathToFileURL(fake).href)}, shortCircuit: true } : next(name, context)`
    const hooks = await put(
      folder,
      'hooks.mjs',
      ["import { register } from 'node:module'", `register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(resolve)}`)})`].join(
        '\n',
      ),
    )
    const credential = { id: 'a', type: 'http', scheme: 'bearer', token: { keyring: 'x' }, sendTo: ['https://data.example/'] }
    const file = await put(folder, 'keyring.json', { version: 1, credentials: [credential] })
    const child = start(['doctor', '--offline', '--credentials', file], ['--import', hooks])
    if (child.stdout) await once(child.stdout, 'data')
    onTestFinished(() => void child.kill('SIGKILL'))
    child.kill(signal)
    expect(await exitOf(child)).toBe(code)
  })
})
