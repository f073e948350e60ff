/**
 * One process of many that share a store; the tests start it.
 *
 * `token <folder> <server>`: prints the token that is there, or obtains one. `hold <folder>`: prints `held` and keeps the lock.
 * `write <folder> <length>`: writes so much, prints what can be read then, and its warnings on stderr.
 */
import { tokenFiles } from '../../src/node/tokens/token-files.ts'
import { KEY } from '../harness/stores.ts'

const [, , work = '', folder = '', argument = ''] = process.argv
const store = tokenFiles({ folder, onWarning: (warning) => console.error(JSON.stringify(warning)) })

async function ask(path: string): Promise<string> {
  return (await fetch(`${argument}${path}`, { method: 'POST' })).text()
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

async function write(): Promise<string> {
  await store.write(KEY, 'n'.repeat(Number(argument)))
  return (await store.read(KEY)) ?? ''
}

const works: Readonly<Record<string, () => Promise<string>>> = { token, hold, write }
console.log(await works[work]?.())
