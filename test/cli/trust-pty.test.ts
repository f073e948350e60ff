/** The question at a real terminal: the built program, with a pseudo-terminal around it. */
import { execFile } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { put, temporaryFolder } from './folder.ts'
import { itemWith } from './items.ts'

const folder = await temporaryFolder()
const [terminal, program] = ['at-terminal.py', '../../dist/cli/bin.js'].map((path) => fileURLToPath(new URL(path, import.meta.url)))
const document = await put(folder, 'item.json', itemWith({ a: { href: 'https://data.example/a', 'auth:refs': ['key'] } }))

/** Everything on the screen, and the exit code. */
function atTerminal(steps: readonly (readonly [string, string])[], env: Readonly<Record<string, string>>, ...argv: readonly string[]) {
  const command = [terminal ?? '', JSON.stringify(steps), process.execPath, program ?? '', ...argv]
  const surroundings = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    XDG_CACHE_HOME: folder,
    TERM: 'xterm-256color',
    LC_ALL: 'C.UTF-8',
    ...env,
  }
  return new Promise<{ code: number; screen: string }>((resolve) => {
    execFile('python3', command, { env: surroundings }, (error, stdout) => resolve({ code: Number(error?.code ?? 0), screen: stdout }))
  })
}

const ASKED = '[d]etails '
let users = 0
const newFile = () => join(folder, String(++users), 'credentials.json')
const addTo = (file: string) => ['credentials', 'add', document, '--credentials', file]

describe('at a terminal', () => {
  it('a yes that is typed writes the credential', async () => {
    const file = newFile()
    const steps = [
      [ASKED, 'd\r'],
      [ASKED, 'y\r'],
      ['not shown', 'env:MY_KEY\r'],
    ] as const
    const { code, screen } = await atTerminal(steps, {}, ...addTo(file))
    expect(screen).toContain(
      `${document} asks for "key" (API key, header x-api-key)\r\n  secret goes to   https://data.example/ (1 asset)\r\n`,
    )
    expect(screen).toContain(`${ASKED}y\r\n`)
    expect([code, JSON.parse(await readFile(file, 'utf8')).credentials[0].value]).toEqual([0, { env: 'MY_KEY' }])
  })

  it.each([
    ['a no', 'n\r', 3],
    ['an empty line', '\r', 3],
    ['Ctrl-C', '\x03', 130],
    ['Ctrl-D', '\x04', 130],
  ])('%s writes nothing', async (_name, typed, code) => {
    const file = newFile()
    expect(await atTerminal([[ASKED, typed]], {}, ...addTo(file))).toMatchObject({ code })
    await expect(stat(file)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('no escape is sent with NO_COLOR, and with TERM=dumb nothing is asked', async () => {
    const plain = await atTerminal([[ASKED, 'n\r']], { NO_COLOR: '1' }, ...addTo(newFile()))
    expect(plain.screen).not.toContain('\x1b')
    const dumb = await atTerminal([], { TERM: 'dumb' }, ...addTo(newFile()))
    expect(dumb).toMatchObject({ code: 3, screen: expect.stringContaining('"id":"key"') })
    expect(dumb.screen).not.toContain(ASKED)
  })
})

describe('setup at a terminal', () => {
  const SECRET = ', not shown (press Enter if it is in a variable, a file or a command): '
  const setUp = (steps: readonly (readonly [string, string])[]) => {
    const home = join(folder, `home-${++users}`)
    const file = join(home, 'credentials.json')
    const result = atTerminal(steps, { XDG_CONFIG_HOME: home, NO_COLOR: '1' }, 'setup', document, '--credentials', file)
    return result.then((outcome) => ({ ...outcome, home, file }))
  }

  it('takes a secret that is typed and corrected without showing it', async () => {
    const steps = [
      [ASKED, 'y\r'],
      [SECRET, 'wrong\x15secrez\x7ft\x1b[D-1\r'],
    ] as const
    const { screen, file, home } = await setUp(steps)
    expect(screen).toContain(`Key (header x-api-key)${SECRET}\r\nthe secret is stored in `)
    expect(screen).not.toMatch(/secre[tz]-|wrong/)
    const { value } = JSON.parse(await readFile(file, 'utf8')).credentials[0]
    expect(value).toEqual({ file: join(home, 'stac-auth/secrets/key.value') })
    expect(await readFile(value.file, 'utf8')).toBe('secret-1\n')
  })

  it.each([
    ['removes spaces at its ends, and says so', [[SECRET, '  two words \r']], 'two words', 'spaces at the ends are removed'],
    [
      'keeps a tab',
      [
        [SECRET, 'a\tb\r'],
        ['again?', 'n\r'],
      ],
      'a\tb',
      'is stored in',
    ],
    ['deletes a word with Ctrl-W', [[SECRET, 'one two\x17three\r']], 'one three', 'is stored in'],
    [
      'asks again for bytes that are not UTF-8',
      [
        [SECRET, 'p\udce4\r'],
        [SECRET, 's3\r'],
      ],
      's3',
      'the terminal did not send UTF-8',
    ],
  ] as const)('%s', async (_title, steps, stored, said) => {
    const { screen, file } = await setUp([[ASKED, 'y\r'], ...steps])
    expect(screen).toContain(said)
    const { value } = JSON.parse(await readFile(file, 'utf8')).credentials[0]
    expect(await readFile(value.file, 'utf8')).toBe(`${stored}\n`)
  })

  it('asks again after an arrow key or bytes that are not UTF-8, and accepts a pasted answer', async () => {
    const { code, screen } = await setUp([
      [ASKED, 'y\x1b[D\r'],
      [ASKED, '\udce4\r'],
      [ASKED, '\x1b[200~y\x1b[201~\r'],
      [SECRET, '\x03'],
    ])
    expect([code, screen]).toEqual([130, expect.stringContaining('a control character or an arrow key: type it again')])
    expect(screen).toContain('the terminal did not send UTF-8')
  })

  it('says that TERM=dumb is why nothing can be asked', async () => {
    const { screen } = await atTerminal([], { TERM: 'dumb' }, 'setup', document, '--credentials', newFile())
    expect(screen).toContain('setup asks for one at a terminal, and TERM is dumb here')
  })

  it.each([
    ['Ctrl-C', '\x03'],
    ['Ctrl-D', '\x04'],
  ])('%s at a secret writes nothing', async (_name, key) => {
    const { code, screen, file } = await setUp([
      [ASKED, 'y\r'],
      [SECRET, `half${key}`],
    ])
    expect([code, screen]).toEqual([130, expect.stringMatching(/error ABORTED: interrupted\r\n$/)])
    expect(screen).not.toContain('half')
    await expect(stat(file)).rejects.toMatchObject({ code: 'ENOENT' })
  })
})

it('setup of a known provider takes one yes and the key at a terminal', async () => {
  const home = join(folder, `home-${++users}`)
  const file = join(home, 'credentials.json')
  const steps = [
    [ASKED, 'y\r'],
    ['API key, not shown', 'secret-1\r'],
  ] as const
  const { code, screen } = await atTerminal(steps, { XDG_CONFIG_HOME: home, NO_COLOR: '1' }, 'setup', 'geodes', '--credentials', file)
  expect(screen).toContain('  secret goes to   https://geodes-portal.cnes.fr/\r\n')
  expect(screen).toContain('next:\r\n  stac-auth download DOC -d data')
  expect(screen).not.toContain('secret-1')
  expect([code, JSON.parse(await readFile(file, 'utf8')).credentials]).toMatchObject([
    0,
    [{ id: 'geodes', provider: 'geodes', use: 'by-address', value: { file: join(home, 'stac-auth/secrets/geodes.apiKey') } }],
  ])
})
