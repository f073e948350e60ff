import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { connectRedis, type RedisUse, redisAddressOf, refusedWrite } from '../../../src/node/base/redis-connection.ts'

const USE: RedisUse = {
  subject: 'the queue',
  passwordHint: 'give a password',
  packages: ['ioredis'],
  rights: { rules: '+info', attempt: (client) => client.info('server') },
}

/** The answer to AUTH of Redis 7, and of Redis 5, where the default user has no password. */
const REFUSALS = [
  '-ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?',
  '-ERR Client sent AUTH, but no password is set',
]

/** A server without a password, which answers AUTH as Redis does. Returns its port, and the commands that it got. */
async function startServer(refusal: string): Promise<{ readonly port: number; readonly commands: string[] }> {
  const commands: string[] = []
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      for (const [, command = ''] of bytes.toString().matchAll(/\*\d+\r\n\$\d+\r\n(\w+)/g)) {
        commands.push(command.toLowerCase())
        socket.write(
          command.toLowerCase() === 'auth' ? `${refusal}\r\n` : command.toLowerCase() === 'info' ? '$9\r\nloading:0\r\n' : '+PONG\r\n',
        )
      }
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { port: (server.address() as AddressInfo).port, commands }
}

describe('connectRedis', () => {
  it.each(REFUSALS)('connects without the password that a server does not use, and prints nothing: %s', async (refusal) => {
    const { port, commands } = await startServer(refusal)
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    onTestFinished(() => warn.mockRestore())
    const connection = await connectRedis(redisAddressOf(`redis://:secret@127.0.0.1:${port}`), USE)
    onTestFinished(() => connection.close())
    expect(await connection.client().ping()).toBe('PONG')
    expect(warn.mock.calls).toEqual([])
    expect(commands.filter((command) => command === 'auth')).toHaveLength(1)
  })
})

/** Returns the port of a server that gives this answer to every command. */
async function startRefusing(refusal: string): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      for (const _command of bytes.toString().matchAll(/\*\d+\r\n/g)) socket.write(`${refusal}\r\n`)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

describe('an error of the server', () => {
  it.each([
    ['-ERR DB index is out of range', 'USAGE', 'it rejects these settings. Check the number of the database'],
    ["-ERR unknown command 'EVALSHA'", 'RESPONSE_INVALID', 'it refuses a command that is needed (ERR)'],
    ['-LOADING Redis is loading the dataset in memory', 'NETWORK_FAILED', 'it does not accept commands now (LOADING)'],
    ['-NOREPLICAS Not enough good replicas to write', 'NETWORK_FAILED', 'it refuses writes: too few of its replicas are connected'],
    ['-DENIED Redis is running in protected mode', 'RESPONSE_INVALID', 'it refuses a command that is needed (DENIED)'],
    ['-WRONGTYPE Operation against a key', 'RESPONSE_INVALID', 'it refuses a command that is needed (WRONGTYPE)'],
  ])('is reported by what it says: %s', async (refusal, code, why) => {
    const port = await startRefusing(refusal)
    const error = await connectRedis(redisAddressOf(`redis://127.0.0.1:${port}/9`), USE).catch((thrown) => thrown)
    expect(error).toMatchObject({ code, message: `redis://127.0.0.1:${port}/9: ${why}` })
  })
})

describe('refusedWrite', () => {
  const script = (text: string) => new Error(`ERR Error running script (call to f_0a1b): @user_script:1: @user_script: 1: -${text}`)
  const OOM = "OOM command not allowed when used memory > 'maxmemory'."

  it.each([
    ['a command', new Error(OOM), 'it is full'],
    ['a script, before Redis 7', script(OOM), 'it is full'],
    [
      'a script of a replica, before Redis 7',
      script("READONLY You can't write against a read only replica."),
      'it is a replica, which accepts no writes',
    ],
    ['a transaction', Object.assign(new Error('EXECABORT Transaction discarded'), { previousErrors: [new Error(OOM)] }), 'it is full'],
    ['another fault of a script', script('WRONGTYPE Operation against a key'), undefined],
    ['something else', new Error('connect ECONNREFUSED'), undefined],
  ])('says why a server does not write: %s', (_what, error, why) => {
    expect(refusedWrite(error)).toBe(why)
  })
})
