import { chmod } from 'node:fs/promises'
import { PassThrough, type Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, expect, it, vi } from 'vitest'
import { runChild } from '../../../src/cli/run/child-process.ts'
import { put, temporaryFolder } from '../folder.ts'

/** Windows' Node throws for batch files (CVE-2024-27980); these are started here as it does there. */
vi.mock('node:child_process', async (original) => {
  const real = await original<typeof import('node:child_process')>()
  const spawn = (program: string, ...rest: [string[], object]) => {
    if (/\.(?:bat|cmd)$/i.test(program)) throw Object.assign(new Error('spawn EINVAL'), { code: 'EINVAL' })
    return real.spawn(program, ...rest)
  }
  return { ...real, spawn }
})

const folder = await temporaryFolder()
const streams = (stdin: Readable = new PassThrough().end(), isTTY = false) => ({
  stdin: Object.assign(stdin, { isTTY }),
  stdout: Object.assign(new PassThrough(), { isTTY }),
  stderr: Object.assign(new PassThrough(), { isTTY }),
  env: {},
  signal: new AbortController().signal,
})
const node = (script: string, ...args: string[]) => [process.execPath, '-e', script, ...args]

/** Runs a program until it has printed something, sends this process a signal, and returns how the program ended. */
async function afterSignal(signal: NodeJS.Signals, script: string, isTTY = false): Promise<number> {
  const io = streams(undefined, isTTY)
  const running = runChild(node(script), {}, io)
  await new Promise((resolve) => io.stdout.once('data', resolve))
  process.kill(process.pid, signal)
  return running
}

describe('the program of run', () => {
  it('has its arguments, its environment and the streams', async () => {
    const io = streams(new PassThrough().end('in'))
    const script =
      'process.stdin.on("data", (d) => console.log([d, process.argv[1], ...Object.keys(process.env)].join(" "))); console.error("err")'
    expect(await runChild(node(script, 'a b;$(c)'), { ONLY: 'x' }, io)).toBe(0)
    io.stdout.end()
    io.stderr.end()
    expect([await text(io.stdout), await text(io.stderr)]).toEqual(['in a b;$(c) ONLY\n', 'err\n'])
  })

  it('passes its exit code on, and its signal as 128 and the number', async () => {
    expect(await runChild(node('process.exit(7)'), {}, streams())).toBe(7)
    expect(await runChild(node('process.kill(process.pid, "SIGKILL")'), {}, streams())).toBe(137)
  })

  it('hears the signals of this process, and decides how it ends', async () => {
    const wait = 'setInterval(() => {}, 1000); console.log("ready")'
    expect(await afterSignal('SIGTERM', wait)).toBe(143)
    expect(await afterSignal('SIGHUP', wait)).toBe(129)
    expect(await afterSignal('SIGINT', wait)).toBe(130)
    expect(await afterSignal('SIGINT', `process.on("SIGINT", () => process.exit(9)); ${wait}`)).toBe(9)
  })

  it('leaves no listener behind', async () => {
    const count = () => ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'exit'].map((name) => process.listenerCount(name))
    const before = count()
    await runChild(node(''), {}, streams())
    await runChild(['/nowhere/program'], {}, streams()).catch(() => undefined)
    expect(count()).toEqual(before)
  })

  it('is named in the error when it is not found or not executable', async () => {
    const file = await put(folder, 'text', 'no program')
    await chmod(file, 0o600)
    await expect(runChild(['gdalinf'], { PATH: folder }, streams())).rejects.toMatchObject({
      code: 'USAGE',
      message: 'cannot start "gdalinf": the program was not found',
    })
    await expect(runChild([file], {}, streams())).rejects.toMatchObject({ code: 'USAGE', message: expect.stringContaining('executable') })
  })

  it('is named in the error when it is a batch file of Windows', async () => {
    for (const program of ['tool.cmd', 'C:\\x\\TOOL.BAT'])
      await expect(runChild([program], {}, streams())).rejects.toMatchObject({
        code: 'USAGE',
        message: `cannot start "${program}": it is a batch file`,
        hint: 'put cmd /c before a batch file (.cmd, .bat)',
      })
  })
})
