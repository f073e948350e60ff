/** A Redis server with a password and persistence, which can be killed and started again. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export interface RedisProcess {
  /** With the password. */
  readonly url: string
  readonly port: number
  readonly password: string
  /** Kills the server, and starts it again from its log. */
  restart(): Promise<void>
  stop(): Promise<void>
}

export async function startRedis(folder: string): Promise<RedisProcess> {
  const dir = join(folder, 'redis')
  await mkdir(dir, { recursive: true })
  const port = await freePort()
  const password = `p@ss/${process.pid}`
  const config = join(dir, 'redis.conf')
  const lines = [
    'bind 127.0.0.1',
    `port ${port}`,
    `requirepass ${password}`,
    'save ""',
    'appendonly yes',
    'appendfsync everysec',
    `dir ${dir}`,
  ]
  await writeFile(config, `${lines.join('\n')}\nmaxmemory-policy noeviction\n`, { mode: 0o600 })
  let child = await launched(config, port)
  return {
    url: `redis://:${encodeURIComponent(password)}@127.0.0.1:${port}`,
    port,
    password,
    restart: async () => {
      await killed(child, 'SIGKILL')
      child = await launched(config, port)
    },
    stop: () => killed(child, 'SIGTERM'),
  }
}

async function launched(config: string, port: number): Promise<ChildProcess> {
  const child = spawn('redis-server', [config], { stdio: 'ignore' })
  await once(child, 'spawn')
  for (let tries = 0; !(await listens(port)); tries++) {
    if (tries > 200 || child.exitCode !== null) throw new Error('redis-server does not listen')
    await sleep(50)
  }
  return child
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function killed(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill(signal)
  await once(child, 'exit')
}
