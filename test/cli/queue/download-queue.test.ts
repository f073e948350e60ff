import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { put, temporaryFolder } from '../folder.ts'
import { itemWith } from '../items.ts'
import { run } from '../run.ts'

const folder = await temporaryFolder()
const input = await put(folder, 'item.json', itemWith({ data: { href: 'https://d.example/a.tif' } }))

describe('download --queue', () => {
  it.each([
    ['--concurrency', '4'],
    ['--limit-rate', '10M'],
  ])('refuses %s, which is a limit of one process', async (option, value) => {
    const { code, stderr } = await run(['download', input, '-d', folder, option, value, '--queue', 'redis://127.0.0.1:1'])
    expect([code, stderr]).toEqual([2, expect.stringContaining(`${option} does not apply to the workers of --queue`)])
  })

  it('says how to name the queue when there is no URL', async () => {
    const { code, stderr } = await run(['download', input, '-d', folder, '--queue'])
    expect([code, stderr]).toEqual([2, expect.stringContaining('set STAC_AUTH_QUEUE to its URL')])
  })

  it('says that it has taken the input for the URL', async () => {
    const { code, stderr } = await run(['download', '-d', folder, '--queue', input])
    expect([code, stderr]).toEqual([2, expect.stringContaining('put -- before the inputs')])
  })

  it('reports a mistake in the options before it connects', async () => {
    const { code, stderr } = await run(['download', input, '-d', folder, '--template', '{nope}', '--queue', 'redis://127.0.0.1:1'])
    expect([code, stderr]).toEqual([2, expect.stringContaining('has a field {nope}')])
  })

  it('needs no queue for a dry run', async () => {
    const { code, stdout } = await run(['download', input, '-d', folder, '--dry-run', '--queue', 'redis://127.0.0.1:1'])
    expect([code, stdout]).toEqual([0, expect.stringContaining('1 file of unknown size')])
  })
})

describe('queue', () => {
  it('refuses a folder that no queue has used, and writes nothing there', async () => {
    const other = await temporaryFolder()
    const { code, stderr } = await run(['queue', 'show', '-d', other, '--queue', 'redis://127.0.0.1:1'])
    expect([code, stderr]).toEqual([2, expect.stringContaining('has no queue')])
    const { readdir } = await import('node:fs/promises')
    expect(await readdir(other)).toEqual([])
  })

  it('that requires a password is not a document for setup', async () => {
    const server = createServer((socket) => {
      // An answer for each command, as Redis gives: several may arrive together.
      socket.on('data', (bytes) =>
        socket.write(bytes.toString().replace(/\*\d+\r\n(\$\d+\r\n[^\r]*\r\n)*/g, '-NOAUTH Authentication required.\r\n')),
      )
      socket.on('error', () => {})
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const queue = `redis://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { code, stderr } = await run(['queue', 'work', '--queue', queue])
    expect([code, stderr]).toEqual([
      3,
      `error AUTH_REJECTED: ${queue}: it requires a password\n  STAC_AUTH_QUEUE=redis://:password@host:port\n`,
    ])
  })
})
