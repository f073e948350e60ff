import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { openBrowser } from '../../src/node/login/open-browser.ts'

const folder = await mkdtemp(join(tmpdir(), 'stac-auth-browser-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

/** A program that notes its arguments, one per line, under the name of the one that opens browsers. */
const program = join(folder, 'xdg-open')
const noted = join(folder, 'arguments')
await writeFile(program, `#!/bin/sh\nfor argument; do printf '%s\\n' "$argument"; done > '${noted}.new'\nmv '${noted}.new' '${noted}'\n`)
await chmod(program, 0o755)

const env = { PATH: `${folder}:/usr/bin:/bin`, DISPLAY: ':0' }
const linux = { platform: 'linux', env } as const

async function opened(address: string): Promise<string> {
  await rm(noted, { force: true })
  expect(await openBrowser(address, linux)).toBe(true)
  let text = ''
  await expect.poll(async () => (text = await readFile(noted, 'utf8').catch(() => ''))).not.toBe('')
  return text
}

describe('a browser is opened', () => {
  it('a browser is opened with the address as its one argument', async () => {
    expect(await opened('https://identity.example/authorize?state=a&scope=b%20c')).toBe(
      'https://identity.example/authorize?state=a&scope=b%20c\n',
    )
    expect(await opened('http://127.0.0.1:8080/')).toBe('http://127.0.0.1:8080/\n')
  })

  it.each([
    ['HTTPS://Identity.Example/$(touch$\u007bIFS}pwned)', 'https://identity.example/$(touch$%7BIFS%7Dpwned)\n'],
    ["https://identity.example/';calc;'?a='b'", 'https://identity.example/%27;calc;%27?a=%27b%27\n'],
    ['https://identity.example/?a="b"&c=<d>', 'https://identity.example/?a=%22b%22&c=%3Cd%3E\n'],
    ['  https://identity.example/ --new-window ', 'https://identity.example/%20--new-window\n'],
    ['https://b\u00fccher.example/', 'https://xn--bcher-kva.example/\n'],
  ])('%s: parsed, never read by a shell', async (address, argument) => {
    expect(await opened(address)).toBe(argument)
  })
})

describe('no browser is opened', () => {
  it.each([
    'http://identity.example/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'ms-settings:',
    '--version',
    '-a Calculator',
    'https:',
    '',
    'https://ada:secret@identity.example/',
    'https://identity.example/`id`|x{y}^\\z',
    'a:$(calc.exe)?response_type=code',
  ])('no browser is opened for %j', async (address) => {
    await rm(noted, { force: true })
    const started = await openBrowser(address, linux)
    expect(started).toBe(false)
    await expect(readFile(noted)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('no browser is opened without a display or a program, and that is not an error', async () => {
    const address = 'https://identity.example/'
    expect(await openBrowser(address, { platform: 'linux', env: { PATH: folder } })).toBe(false)
    expect(await openBrowser(address, { platform: 'linux', env: { PATH: '/nowhere', WAYLAND_DISPLAY: 'w' } })).toBe(false)
    expect(await openBrowser(address, { platform: 'win32', env: { SystemRoot: '/nowhere' } })).toBe(false)
  })
})
