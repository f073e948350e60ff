/** The session that the picture of the README shows: the built program and GDAL at a real terminal, with a server that wants a key. */
import { execFile } from 'node:child_process'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { geotiff, pattern } from '../harness/geotiff.ts'
import { keyGuard } from '../servers/guards.ts'
import { startProtectedFiles } from '../servers/protected-files.ts'

/** Where it is kept, with the escapes of its colours; ports, the folder and the random part of the gateway's URL are replaced. */
export const SESSION = fileURLToPath(new URL('../../fixtures/terminal-session.txt', import.meta.url))

const KEY = '5a1f7f0e-example'
const path = (name: string) => fileURLToPath(new URL(name, import.meta.url))
/** What is typed: a command, and the answers to its questions. */
const COMMANDS: readonly (readonly [command: string, answers: readonly (readonly [question: string, answer: string])[]])[] = [
  ['stac-auth lint item.json', []],
  ['stac-auth lint --fix item.json', []],
  [
    'stac-auth setup item.json',
    [
      ['[d]etails ', 'y\r'],
      [', not shown', `${KEY}\r`],
    ],
  ],
  ['stac-auth run item.json -- gdalinfo {B04}', []],
]

/** Runs the commands in an empty folder; what the terminal shows, with `$ ` before each command. */
export async function recordSession(folder: string): Promise<string> {
  const server = await startProtectedFiles({
    '/B04.tif': {
      content: geotiff(pattern(300, 200)),
      guard: keyGuard('header', 'x-api-key', KEY),
      type: 'image/tiff; application=geotiff',
    },
  })
  try {
    await mkdir(join(folder, 'bin'))
    await symlink(path('../../dist/cli/bin.js'), join(folder, 'bin/stac-auth'))
    await writeFile(join(folder, 'item.json'), `${JSON.stringify(itemAt(server.origin), undefined, 2)}\n`)
    let shown = ''
    for (const [command, answers] of COMMANDS) shown += `$ ${command}\n${await atTerminal(folder, command, answers)}`
    return shown
      .replaceAll(new URL(server.origin).host, '127.0.0.1:8080')
      .replaceAll(folder, '~')
      .replace(/(?<=\/vsicurl\/http:\/\/127\.0\.0\.1:)\d+\/[\da-f]{32}\//, '8081/72ffd21b4868c3ef9eee53e6592f8b52/')
  } finally {
    await server.close()
  }
}

/** As a catalog has it, with one mistake: the place of an API key is `header`. */
function itemAt(origin: string): object {
  return {
    type: 'Feature',
    stac_version: '1.1.0',
    stac_extensions: ['https://stac-extensions.github.io/authentication/v1.2.0/schema.json'],
    id: 'S2A_T32UPU',
    geometry: null,
    properties: {
      datetime: '2026-11-04T10:20:00Z',
      'auth:schemes': { key: { type: 'apiKey', in: 'headers', name: 'x-api-key' } },
    },
    links: [],
    assets: { B04: { href: `${origin}/B04.tif`, type: 'image/tiff; application=geotiff', 'auth:refs': ['key'] } },
  }
}

function atTerminal(folder: string, command: string, answers: readonly (readonly [string, string])[]): Promise<string> {
  const env = {
    PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
    HOME: folder,
    XDG_CONFIG_HOME: join(folder, '.config'),
    XDG_CACHE_HOME: join(folder, '.cache'),
    TERM: 'xterm-256color',
    LC_ALL: 'C.UTF-8',
  }
  const program = [path('../cli/at-terminal.py'), JSON.stringify(answers), ...command.split(' ')]
  return new Promise((resolve, reject) => {
    execFile('python3', program, { cwd: folder, env }, (error, stdout, stderr) => {
      // Findings end in exit code 1.
      if (error && error.code !== 1) reject(new Error(`${command}: ${stderr || stdout}`))
      else resolve(stdout.replaceAll('\r\n', '\n'))
    })
  })
}
