/** Ways in which `run` ends, of the built program: nothing that it started stays behind. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { access } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { asset, item } from '../../harness/documents.ts'
import { put, temporaryFolder } from '../folder.ts'

const [terminal = '', program = ''] = ['../at-terminal.py', '../../../dist/cli/bin.js'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
)
const folder = await temporaryFolder()
const env = { PATH: process.env.PATH ?? '', HOME: folder, TMPDIR: folder, XDG_CACHE_HOME: folder }
const document = await put(folder, 'item.json', item({}, { data: asset('https://data.example/a.tif', []) }))

/** Prints what it knows, and waits for a signal. */
const WAITS = `
const { STAC_AUTH_GATEWAY: base, STAC_AUTH_GATEWAY_MAP: map } = process.env
console.log(JSON.stringify({ pid: process.pid, base, map }))
setInterval(() => {}, 1000)
`

interface Started {
  readonly ours: ChildProcess
  readonly pid: number
  readonly base: string
  readonly map: string
}

const children: number[] = []
afterEach(() => {
  for (const pid of children.splice(0)) if (isAlive(pid)) process.kill(pid, 'SIGKILL')
})

async function start(script = WAITS): Promise<Started> {
  const ours = spawn(process.execPath, [program, 'run', document, '--', process.execPath, '-e', script], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(createInterface(ours.stdout), 'line')
  const known = JSON.parse(String(line)) as Omit<Started, 'ours'>
  children.push(known.pid)
  return { ours, ...known }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const isThere = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )
const isServed = (base: string) =>
  fetch(base).then(
    () => true,
    () => false,
  )

/** What is left of a run: its program, its map and its gateway. */
const left = async ({ pid, map, base }: Started) => [isAlive(pid), await isThere(map), await isServed(base)]

describe('run', () => {
  it('has a map that only the user can read, and takes it away with the gateway when the program ends', async () => {
    const script = `
      const fs = require('node:fs'), { STAC_AUTH_GATEWAY: base, STAC_AUTH_GATEWAY_MAP: map } = process.env
      const mode = (path) => (fs.statSync(path).mode & 0o777).toString(8)
      console.log(JSON.stringify({ pid: process.pid, base, map, modes: [mode(map), mode(require('node:path').dirname(map))], content: JSON.parse(fs.readFileSync(map)) }))
      process.exit(3)`
    const started = (await start(script)) as Started & { modes: string[]; content: { base: string; targets: object[] } }
    expect(await once(started.ours, 'close')).toEqual([3, null])
    expect(await left(started)).toEqual([false, false, false])
    expect(started.modes).toEqual(['600', '700'])
    expect(started.content.base).toBe(started.base)
    expect(started.content.targets).toEqual([
      { document: 'x', key: 'data', href: 'https://data.example/a.tif', url: `${started.base}https/data.example/a.tif` },
    ])
  })

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('leaves no listener, no program and no map behind after %s', async (signal, code) => {
    const started = await start()
    expect(await left(started)).toEqual([true, true, true])
    started.ours.kill(signal)
    expect(await once(started.ours, 'close')).toEqual([code, null])
    expect(await left(started)).toEqual([false, false, false])
  })

  it('waits for a program that has its own way with a signal, also with several', async () => {
    const script = `let heard = 0; process.on('SIGTERM', () => ++heard === 2 && process.exit(40)); ${WAITS}`
    const started = await start(script)
    started.ours.kill('SIGTERM')
    await new Promise((resolve) => setTimeout(resolve, 1500))
    expect(await left(started)).toEqual([true, true, true])
    started.ours.kill('SIGTERM')
    expect(await once(started.ours, 'close')).toEqual([40, null])
    expect(await left(started)).toEqual([false, false, false])
  })

  it('that is killed does not hinder the next one', async () => {
    const killed = await start()
    killed.ours.kill('SIGKILL')
    await once(killed.ours, 'exit')
    expect(await isServed(killed.base)).toBe(false)
    const next = await start()
    expect(await left(next)).toEqual([true, true, true])
    next.ours.kill('SIGTERM')
    await once(next.ours, 'close')
    expect(await left(next)).toEqual([false, false, false])
  })

  it('leaves Ctrl-C at a terminal to the program, which may go on', async () => {
    const script =
      'process.on("SIGINT", () => { console.log("heard"); setTimeout(() => process.exit(5), 300) }); console.log("waiting"); setInterval(() => {}, 1000)'
    const steps = JSON.stringify([['waiting', '\u0003']])
    const command = [terminal, steps, process.execPath, program, 'run', document, '--', process.execPath, '-e', script]
    const { code, screen } = await new Promise<{ code: number; screen: string }>((resolve) => {
      execFile('python3', command, { env }, (error, stdout) => resolve({ code: Number(error?.code ?? 0), screen: stdout }))
    })
    expect([code, screen.match(/heard/g)]).toEqual([5, ['heard']])
  })
})
