import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { awsKeys, keysOfProcess, wordsOf } from '../../src/node/credentials/aws-keys.ts'
import { canaryOf, leaks, shown } from '../harness/canary.ts'
import { failureOf } from '../harness/failure.ts'

let folder: string
let program: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'credential process '))
  program = join(folder, 'keys.mjs')
})
afterEach(() => rm(folder, { recursive: true }))

/** The line that runs this script. */
async function lineOf(script: string, words = ''): Promise<string> {
  await writeFile(program, script)
  return `"${process.execPath}" '${program}' ${words}`
}

const printing = (answer: unknown) => lineOf(`console.log(${JSON.stringify(JSON.stringify(answer, null, 2))})`)
const KEYS = { AccessKeyId: 'ASIA1', SecretAccessKey: 'canary-secret' }

describe('keys of a program', () => {
  it('keys of a program are read with their expiry', async () => {
    const line = await printing({ Version: 1, ...KEYS, SessionToken: 'token', Expiration: '2026-11-20T12:00:00+01:00' })
    const expiration = Date.parse('2026-11-20T11:00:00Z')
    expect(await keysOfProcess(line)).toEqual({
      accessKeyId: 'ASIA1',
      secretAccessKey: 'canary-secret',
      sessionToken: 'token',
      expiration,
    })
    expect(await keysOfProcess(await printing({ Version: 1, ...KEYS }))).toEqual({
      accessKeyId: 'ASIA1',
      secretAccessKey: 'canary-secret',
    })
  })

  it('keys of a program come by way of a profile, with its region', async () => {
    const config = join(folder, 'config')
    await writeFile(config, `[profile tool]\nregion = eu-west-1\ncredential_process = ${await printing({ Version: 1, ...KEYS })}\n`)
    const keys = await awsKeys({ profile: 'tool' }, { AWS_CONFIG_FILE: config, AWS_SHARED_CREDENTIALS_FILE: join(folder, 'none') })()
    expect(keys).toEqual({ accessKeyId: 'ASIA1', secretAccessKey: 'canary-secret', region: 'eu-west-1' })
  })

  it('keys of a program are requested without a shell', async () => {
    const seen = join(folder, 'seen')
    const script = `import { writeFileSync } from 'node:fs'
writeFileSync(${JSON.stringify(seen)}, JSON.stringify(process.argv.slice(2)))
console.log('{"Version":1,"AccessKeyId":"A","SecretAccessKey":"a"}')`
    await keysOfProcess(await lineOf(script, '$HOME "two words" `id`; > out | cat'))
    expect(JSON.parse(await readFile(seen, 'utf8'))).toEqual(['$HOME', 'two words', '`id`;', '>', 'out', '|', 'cat'])
  })

  it.each<[string, () => Promise<string>, string]>([
    ['ends with an error', () => lineOf("console.error('canary-secret'); process.exit(3)"), 'exited with code 3'],
    ['prints text', () => lineOf("console.log('canary-secret')"), 'did not print JSON with "Version": 1'],
    ['prints another version', () => printing({ Version: 2, ...KEYS }), 'did not print JSON with "Version": 1'],
    ['prints half a pair', () => printing({ Version: 1, SecretAccessKey: 'canary-secret' }), 'did not print usable keys'],
    ['prints what no header takes', () => printing({ Version: 1, ...KEYS, SessionToken: 'a\nb' }), 'did not print usable keys'],
    ['is not there', async () => 'stac-auth-no-such-program --x', 'stac-auth-no-such-program was not found'],
    ['has an open quote', async () => '"/opt/tool --x', 'cannot be separated from its arguments'],
    ['is no program', async () => '""', 'cannot be separated from its arguments'],
  ])('keys of a program are missing when it %s', async (_what, line, message) => {
    const error = await failureOf(keysOfProcess(await line()))
    expect(error).toMatchObject({ code: 'CREDENTIAL_SOURCE', message: expect.stringContaining(message) })
    expect(leaks([canaryOf('canary-secret')], { error: shown(error) })).toEqual([])
  })
})

describe('the words of a line', () => {
  it.each([
    ['a  b\tc', ['a', 'b', 'c']],
    ['"a b" c', ['a b', 'c']],
    [String.raw`a\ b 'c\d' "e\"f\g"`, ['a b', String.raw`c\d`, String.raw`e"f\g`]],
    [`--x="a b"'c d'e`, ['--x=a bc de']],
    ['', []],
  ])('the words of a line are those of a shell: %j', (line, words) => {
    expect(wordsOf(line, false)).toEqual(words)
  })

  it('the words of a line keep their backslashes on Windows', () => {
    expect(wordsOf(String.raw`"C:\Program Files\tool.exe" --x C:\y 'z'`, true)).toEqual([
      String.raw`C:\Program Files\tool.exe`,
      '--x',
      String.raw`C:\y`,
      'z',
    ])
  })

  it.each(['"a', "'a", 'a "b'])('the words of a line are none where a quote is left open: %j', (line) => {
    expect(wordsOf(line, false)).toBeUndefined()
  })
})
