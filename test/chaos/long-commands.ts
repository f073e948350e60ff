/** The commands that run for long, each with what it works on, and what must be there when it has done all of it. */
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { MANIFEST_NAME } from '../../src/node/download/manifest.ts'
import { differenceOf } from '../servers/chaos/depot-content.ts'
import { contentOf, FILES, fileName, SIZE, type Site } from './site.ts'

export interface LongCommand {
  readonly name: string
  /** Arguments; the folder is the command's own. */
  arguments(site: Site, folder: string): Promise<readonly string[]>
  /** Its standard input. */
  input?(site: Site): string
  /** What a user of it does while it runs; the command ends with SIGTERM when this is over. */
  use?(stdout: () => string, isOver: () => boolean): Promise<readonly string[]>
  /** Waits until a signal ends it. */
  readonly waits?: boolean
  /** The exit code after a signal, where it is not that of other commands. */
  readonly ends?: Readonly<Record<string, number>>
  /** What is wrong after a run that nothing disturbed. */
  problems(site: Site, folder: string, stdout: string): Promise<readonly string[]>
}

const items = (site: Site) => Array.from({ length: FILES }, (_, number) => site.item(number))

async function credentials(site: Site, folder: string): Promise<readonly string[]> {
  const path = join(folder, 'credentials.json')
  await writeFile(path, JSON.stringify(site.credentials()), { mode: 0o600 })
  return ['--credentials', path]
}

async function documents(site: Site, folder: string, count: number): Promise<readonly string[]> {
  await mkdir(join(folder, 'documents'), { recursive: true })
  return Promise.all(
    items(site)
      .slice(0, count)
      .map(async (item, number) => {
        const path = join(folder, 'documents', `${number}.json`)
        await writeFile(path, JSON.stringify(item))
        return path
      }),
  )
}

const lines = (stdout: string) =>
  stdout
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)

/** Reads every file through the gateway, again where it fails, and compares it. */
const READER = `
const { targets } = JSON.parse(require('node:fs').readFileSync(process.env.STAC_AUTH_GATEWAY_MAP, 'utf8'))
const read = async ({ url }) => {
  for (let attempt = 0; attempt < 4; attempt++) {
    const bytes = await fetch(url).then(async (response) => response.ok ? (await response.arrayBuffer()).byteLength : 0).catch(() => 0)
    if (bytes === ${SIZE}) return true
  }
  return false
}
Promise.all(targets.map(read)).then((all) => { process.exitCode = all.every(Boolean) ? 0 : 9 })
`

export const LONG_COMMANDS: readonly LongCommand[] = [
  {
    name: 'lint --crawl',
    arguments: async (site) => ['lint', '--crawl', `${site.documents}/catalog.json`, '--format', 'ndjson'],
    problems: async (_site, _folder, stdout) => {
      const summary = lines(stdout).at(-1)?.summary as { documents?: number } | undefined
      return summary?.documents === FILES + 1 ? [] : [`read ${summary?.documents} documents`]
    },
  },
  {
    name: 'download',
    arguments: async (site, folder) => [
      ...['download', '--crawl', `${site.documents}/catalog.json`, '-d', join(folder, 'files'), '--template', '{name}', '--json'],
      ...['--stall-timeout', '2', '--concurrency', '4', ...(await credentials(site, folder))],
    ],
    problems: async (_site, folder) => {
      const files = join(folder, 'files')
      const names = existsSync(files) ? await readdir(files) : []
      const wanted = Array.from({ length: FILES }, (_, number) => number)
      const leftovers = names.filter((name) => name !== MANIFEST_NAME && !wanted.some((number) => name === fileName(number)))
      const differences = await Promise.all(
        wanted.map((number) => differenceOf(join(files, fileName(number)), contentOf(number), SIZE).catch(() => `no ${fileName(number)}`)),
      )
      return [...leftovers.map((name) => `left over: ${name}`), ...differences.filter((difference) => difference !== undefined)]
    },
  },
  {
    name: 'authorize --as ndjson',
    arguments: async (site, folder) => ['authorize', '--as', 'ndjson', '--reveal', ...(await credentials(site, folder))],
    input: (site) =>
      items(site)
        .map((item) => `${JSON.stringify(item)}\n`)
        .join(''),
    problems: async (_site, _folder, stdout) => {
      const done = lines(stdout).filter(({ headers }) => headers !== undefined).length
      return done === FILES ? [] : [`authorized ${done} requests`]
    },
  },
  {
    name: 'gateway',
    arguments: async (site, folder) => ['gateway', '--json', ...(await documents(site, folder, 4)), ...(await credentials(site, folder))],
    use: throughGateway,
    problems: async () => [],
  },
  {
    name: 'run',
    arguments: async (site, folder) => {
      const paths = await documents(site, folder, 4)
      return ['run', ...paths, ...(await credentials(site, folder)), '--', process.execPath, '-e', READER]
    },
    // Its program has got the signal as well, and it ends as its program has ended.
    ends: { SIGHUP: 129 },
    problems: async () => [],
  },
  {
    name: 'login',
    arguments: async (site, folder) => ['login', 'person', '--browser', '--yes', ...(await credentials(site, folder))],
    waits: true,
    problems: async () => [],
  },
  {
    name: 'queue work',
    // The server accepts the connection and says nothing; `test/peers/redis-queue.test.ts` has one that works.
    arguments: async (site) => ['queue', 'work', '--queue', `redis://${site.silent}`],
    waits: true,
    problems: async () => [],
  },
]

/** Reads the files of a gateway as a program would, each again where it fails. */
async function throughGateway(stdout: () => string, isOver: () => boolean): Promise<readonly string[]> {
  const targets = () =>
    lines(stdout().replace(/[^\n]*$/, '')).flatMap(
      ({ ready }) => (ready as { targets: readonly { url: string }[] } | undefined)?.targets ?? [],
    )
  while (targets().length === 0 && !isOver()) await new Promise((resolve) => setTimeout(resolve, 20))
  const problems = targets().map(async ({ url }) => {
    for (let attempt = 0; attempt < 4 && !isOver(); attempt++) {
      const bytes = await fetch(url)
        .then(async (response) => (response.ok ? (await response.arrayBuffer()).byteLength : 0))
        .catch(() => 0)
      if (bytes === SIZE) return []
    }
    return [`could not read ${new URL(url).pathname.split('/').at(-1)}`]
  })
  return (await Promise.all(problems)).flat()
}

/** All text in the files below a folder, by path; files of the token store are left out by their folder. */
export async function textsBelow(folder: string, except: string): Promise<Readonly<Record<string, string>>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  const texts = paths.filter((path) => !path.startsWith(except)).map(async (path) => [path, await readFile(path, 'latin1')] as const)
  return Object.fromEntries(await Promise.all(texts))
}
