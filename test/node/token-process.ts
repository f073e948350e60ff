/**
 * One process of many that share a store; the tests start it.
 *
 * `token <folder> <server>`: prints the token that is there, or obtains one. `hold <folder>`: prints `held` and keeps the lock.
 * `wait <folder>`: prints the token that comes while another process has the lock, after `waiting`.
 * `write <folder> <length>`: writes so much, prints what can be read then, and its warnings on stderr.
 */
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { tokenFiles } from '../../src/node/tokens/token-files.ts'
import { KEY } from '../harness/stores.ts'

const [, , work = '', folder = '', argument = ''] = process.argv
const store = tokenFiles({ folder, onWarning: (warning) => console.error(JSON.stringify(warning)) })

/** With `node:http`: each of many processes would load `fetch`. */
async function ask(path: string): Promise<string> {
  const [response] = (await once(request(`${argument}${path}`, { method: 'POST' }).end(), 'response')) as [IncomingMessage]
  return text(response)
}

async function token(): Promise<string> {
  await ask('/ready')
  const known = await store.read(KEY)
  if (known !== undefined) return known
  return store.exclusively(KEY, async () => {
    const meanwhile = await store.read(KEY)
    if (meanwhile !== undefined) return meanwhile
    const fresh = await ask('/token')
    await store.write(KEY, fresh)
    return fresh
  })
}

async function hold(): Promise<string> {
  return store.exclusively(KEY, () => {
    console.log('held')
    return new Promise<string>((resolve) => setTimeout(resolve, 60_000, 'let go'))
  })
}

async function wait(): Promise<string> {
  const told = store.exclusively(
    KEY,
    async () => 'the lock',
    undefined,
    () => store.read(KEY),
  )
  console.log('waiting')
  return told
}

async function write(): Promise<string> {
  await store.write(KEY, 'n'.repeat(Number(argument)))
  return (await store.read(KEY)) ?? ''
}

const works: Readonly<Record<string, () => Promise<string>>> = { token, hold, wait, write }
console.log(await works[work]?.())
