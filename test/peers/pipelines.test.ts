/** `authorize --as ndjson` behind the programs that divide lines among processes. */
import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { put, temporaryFolder } from '../cli/folder.ts'
import { type Peer, startPeer } from './peer.ts'

const COMMAND = `'${process.execPath}' '${fileURLToPath(new URL('../../dist/cli/bin.js', import.meta.url))}' authorize --as ndjson`
const DOCS = fileURLToPath(new URL('../../docs/pipelines.md', import.meta.url))
const COUNT = 300
const PARTS = 4
const folder = await temporaryFolder()
let peer: Peer<unknown>

const line = (index: number, host = 'bucket') =>
  JSON.stringify({
    type: 'Feature',
    stac_version: '1.0.0',
    id: `item-${index}`,
    collection: 'c',
    geometry: null,
    links: [],
    properties: { datetime: null, 'auth:schemes': { s: { type: 's3' } } },
    assets: { data: { href: `s3://${host}/${index}.tif`, 'auth:refs': ['s'] } },
  })
const IDS = Array.from({ length: COUNT }, (_, index) => `item-${index}`)

/** Runs a script of the shell in the folder of the input. */
function shell(script: string): Promise<{ code: number; stdout: string; stderr: string }> {
  const env = { ...process.env, KEY_ID: 'AKIDEXAMPLE', SECRET: 'secret', XDG_CACHE_HOME: folder, XDG_CONFIG_HOME: folder }
  const file = join(folder, 'credentials.json')
  return new Promise((resolve) => {
    execFile('bash', ['-c', script], { cwd: folder, env: { ...env, STAC_AUTH_CREDENTIALS: file } }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    )
  })
}

/** Returns the one code block of the page that contains a text. */
async function documented(language: string, text: string): Promise<string> {
  const blocks = (await readFile(DOCS, 'utf8')).match(/```\w+\n[\s\S]*?```/g) ?? []
  const found = blocks.filter((block) => block.startsWith(`\`\`\`${language}\n`) && block.includes(text))
  expect(found).toHaveLength(1)
  return (found[0] ?? '').replace(/^```\w+\n/, '').replace(/```$/, '')
}

/** A command of the page as it runs here: in this folder, with fewer parts. */
const here = (text: string) => text.replaceAll('/in/', './').replaceAll('/out/', './out/').replaceAll('/16', `/${PARTS}`)

/** Runs a script that finds `stac-auth` and `npx` in its path, with an empty folder for outputs. */
async function runDocumented(script: string): Promise<{ code: number; stdout: string; stderr: string }> {
  await mkdir(join(folder, 'bin'), { recursive: true })
  const program = `'${process.execPath}' '${fileURLToPath(new URL('../../dist/cli/bin.js', import.meta.url))}'`
  await writeFile(join(folder, 'bin', 'stac-auth'), `#!/bin/sh\nexec ${program} "$@"\n`, { mode: 0o755 })
  await writeFile(join(folder, 'bin', 'npx'), '#!/bin/sh\nexec "$@"\n', { mode: 0o755 })
  return shell(`PATH="$PWD/bin:$PATH"; export PATH; rm -rf out; mkdir out; ${script}`)
}

const idsIn = (text: string) =>
  text
    .split('\n')
    .filter(Boolean)
    .map((row) => JSON.parse(row).id as string)

beforeAll(async () => {
  peer = await startPeer('pipelines')
  await writeFile(join(folder, 'items.ndjson'), `${IDS.map((_, index) => line(index)).join('\n')}\n`)
  const credential = {
    id: 's',
    type: 's3',
    accessKeyId: { env: 'KEY_ID' },
    secretAccessKey: { env: 'SECRET' },
    region: 'eu-central-1',
    sendTo: ['s3://bucket/'],
  }
  await put(folder, 'credentials.json', { version: 1, credentials: [credential] })
})
afterAll(async () => {
  if ('stop' in peer) await peer.stop()
})

describe('authorize --as ndjson', () => {
  it('gets its lines from GNU parallel, which keeps their order', async ({ skip }) => {
    if ('missing' in peer) return skip(peer.missing)
    const { code, stdout } = await shell(
      `parallel --will-cite --pipe -N 100 --keep-order "${COMMAND} --expires 60 --reveal" < items.ndjson`,
    )
    expect([code, idsIn(stdout)]).toEqual([0, IDS])
    expect(stdout.match(/X-Amz-Signature=[0-9a-f]{64}/g)).toHaveLength(COUNT)
  })

  it('lets GNU parallel count the parts with an error', async ({ skip }) => {
    if ('missing' in peer) return skip(peer.missing)
    await writeFile(join(folder, 'mixed.ndjson'), `${[line(0), line(1, 'other'), line(2), line(3)].join('\n')}\n`)
    const { code, stdout } = await shell(`parallel --will-cite --pipe -N 2 --keep-order "${COMMAND}" < mixed.ndjson`)
    expect([code, idsIn(stdout)]).toEqual([1, ['item-0', 'item-1', 'item-2', 'item-3']])
    expect(JSON.parse(stdout.split('\n')[1] ?? '')).toMatchObject({ error: { code: 'CREDENTIAL_TARGET_UNTRUSTED' } })
  })

  it('divides the documents among the processes of xargs', async ({ skip }) => {
    if ('missing' in peer) return skip(peer.missing)
    expect(await shell(`seq 4 | xargs -P 4 -I {} sh -c "${COMMAND} items.ndjson --shard {}/4 --reveal > part-{}.ndjson"`)).toMatchObject({
      code: 0,
    })
    const parts = await Promise.all([1, 2, 3, 4].map((part) => readFile(join(folder, `part-${part}.ndjson`), 'utf8')))
    expect(parts.every((part) => part.length > 0)).toBe(true)
    expect(parts.flatMap(idsIn).sort()).toEqual([...IDS].sort())
  })

  it('answers a caller that writes and reads line by line, as pipe of Spark does', async ({ skip }) => {
    if ('missing' in peer) return skip(peer.missing)
    const script = `
import json, subprocess, sys, threading
process = subprocess.Popen(${JSON.stringify(`${COMMAND} --expires 60 --reveal`)}, shell=True, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
def write():
    for line in open("items.ndjson"):
        process.stdin.write(line)
    process.stdin.close()
threading.Thread(target=write).start()
print(*[json.loads(line)["id"] for line in process.stdout])
sys.exit(process.wait())
`
    await writeFile(join(folder, 'pipe.py'), script)
    const { code, stdout } = await shell('python3 pipe.py')
    expect([code, stdout.trim().split(' ')]).toEqual([0, IDS])
  })
})

describe('the commands of the page about pipelines', () => {
  async function expectAllIn(names: readonly string[]): Promise<void> {
    const parts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))
    expect(parts.every((part) => part.length > 0)).toBe(true)
    expect(parts.flatMap(idsIn).sort()).toEqual([...IDS].sort())
  }

  it('authorize all lines in order with GNU parallel', async ({ skip }) => {
    if ('missing' in peer) return skip(peer.missing)
    const command = (await documented('sh', 'parallel --pipe')).replace('parallel', 'parallel --will-cite')
    expect(await runDocumented(command)).toMatchObject({ code: 0 })
    expect(idsIn(await readFile(join(folder, 'requests.ndjson'), 'utf8'))).toEqual(IDS)
  })

  it('authorize each document once with xargs', async ({ skip }) => {
    if ('missing' in peer) return skip(peer.missing)
    expect(await runDocumented(await documented('sh', 'xargs -P'))).toMatchObject({ code: 0 })
    await expectAllIn([1, 2, 3, 4].map((part) => `part-${part}.ndjson`))
  })

  it('authorize each document once in the array job of AWS Batch, also after a repeated task', async ({ skip }) => {
    if ('missing' in peer) return skip(peer.missing)
    const command = here(await documented('sh', 'AWS_BATCH_JOB_ARRAY_INDEX'))
    const jobs = [0, 1, 2, 3, 2].map((index) => `export SHARDS=${PARTS} AWS_BATCH_JOB_ARRAY_INDEX=${index}\n${command}`)
    expect(await runDocumented(`set -e\n${jobs.join('\n')}`)).toMatchObject({ code: 0 })
    await expectAllIn([0, 1, 2, 3].map((index) => `out/${index}.ndjson`))
    expect(JSON.parse(await documented('json', 'retryStrategy'))).toMatchObject({ retryStrategy: { attempts: 3 } })
  })

  it('authorize each document once in the tasks of Argo', async ({ skip }) => {
    if ('missing' in peer) return skip(peer.missing)
    const args = /args: \['(.*)'\]/.exec(await documented('yaml', 'retryStrategy'))?.[1] ?? ''
    const tasks = [1, 2, 3, 4].map((part) => here(args).replaceAll('{{inputs.parameters.shard}}', String(part)))
    expect(await runDocumented(`set -e\n${tasks.join('\n')}`)).toMatchObject({ code: 0 })
    await expectAllIn([1, 2, 3, 4].map((part) => `out/${part}.ndjson`))
  })

  it('authorize each document once in the mapped tasks of Airflow', async ({ skip }) => {
    if ('missing' in peer) return skip(peer.missing)
    const stand = `
import subprocess, sys
class BashOperator:
    @staticmethod
    def partial(task_id, retries): return BashOperator()
    def expand(self, bash_command):
        for command in bash_command: subprocess.run(["bash", "-c", command], check=True)
`
    const block = here(await documented('python', 'BashOperator')).replace('range(1, 17)', `range(1, ${PARTS + 1})`)
    await writeFile(join(folder, 'airflow.py'), stand + block)
    expect(await runDocumented('python3 airflow.py')).toMatchObject({ code: 0 })
    await expectAllIn([1, 2, 3, 4].map((part) => `out/${part}.ndjson`))
  })

  it('authorize each line of an RDD with pipe of Spark', async ({ skip }) => {
    if ('missing' in peer) return skip(peer.missing)
    // As PySpark does: the command is split like a shell does, and each partition is written to a process of its own.
    const stand = `
import json, shlex, subprocess
from types import SimpleNamespace
class Rdd:
    def __init__(self, partitions): self.partitions = partitions
    def map(self, function): return Rdd([[function(each) for each in rows] for rows in self.partitions])
    def pipe(self, command, checkCode):
        def lines(rows):
            done = subprocess.run(shlex.split(command), input="".join(row + "\\n" for row in rows), text=True, stdout=subprocess.PIPE, check=checkCode)
            return done.stdout.splitlines()
        return Rdd([lines(rows) for rows in self.partitions])
    def collect(self): return [each for rows in self.partitions for each in rows]
def text(name):
    rows = [SimpleNamespace(value=line.rstrip("\\n")) for line in open(name)]
    return SimpleNamespace(rdd=Rdd([rows[:100], rows[100:]]))
spark = SimpleNamespace(read=SimpleNamespace(text=text))
`
    await writeFile(
      join(folder, 'spark.py'),
      `${stand}${await documented('python', 'spark.read')}\nprint(*[each["id"] for each in requests.collect()])\n`,
    )
    const { code, stdout } = await runDocumented('python3 spark.py')
    expect([code, stdout.trim().split(' ')]).toEqual([0, IDS])
  })
})
