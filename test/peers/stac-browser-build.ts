/** STAC Browser with the changes of examples/stac-browser, built in a temporary folder: the newest on npm, or a clone of its repository. */
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from '../architecture/files.ts'

const run = promisify(execFile)
const example = join(root, 'examples/stac-browser')

export interface BuiltBrowser {
  readonly version: string
  /** Files by path, each with its type. */
  readonly files: Readonly<Record<string, { readonly type: string; readonly body: Buffer }>>
}

const TYPES: Readonly<Record<string, string>> = { html: 'text/html', js: 'text/javascript', css: 'text/css', svg: 'image/svg+xml' }

/** The path below which the pages are. */
export const PREFIX = '/browse/'

/** The environment of a test would make a build for tests. */
const PRODUCTION = { ...process.env, NODE_ENV: 'production', SB_pathPrefix: PREFIX }

/** The commit of a clone of STAC Browser to build instead of the package on npm: the folder of the clone. */
const CLONE = process.env.STAC_BROWSER

/** The patch for it. */
export const PATCH = join(example, CLONE === undefined ? '4.0.patch' : '5.1.patch')

/** Installs, changes and builds it, with the credentials of the example. Takes about a minute. */
export async function buildStacBrowser(): Promise<BuiltBrowser> {
  const folder = await mkdtemp(join(tmpdir(), 'stac-browser-'))
  try {
    const source = join(folder, 'package')
    await unpack(folder)
    await run('git', ['apply', '--whitespace=nowarn', PATCH], { cwd: source })
    const version = await withoutLinter(join(source, 'package.json'))
    await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--no-package-lock'], { cwd: source })
    await addOurselves(join(source, 'node_modules'))
    await cp(join(example, 'stac-auth.js'), join(source, 'src/stac-auth.js'))
    await cp(join(example, 'stac-auth.config.js'), join(source, 'stac-auth.config.js'))
    if (CLONE === undefined) await withoutMinifying(join(source, 'vue.config.js'))
    const build = CLONE === undefined ? ['vue-cli-service', 'build', '--noSourceMaps'] : ['vite', 'build', '--minify', 'false']
    await run('npx', ['--no-install', ...build], { cwd: source, env: PRODUCTION, maxBuffer: 1e8 })
    return { version, files: await filesIn(join(source, 'dist')) }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function unpack(folder: string): Promise<void> {
  if (CLONE === undefined) await run('npm', ['pack', '--silent', '@radiantearth/stac-browser'], { cwd: folder })
  else await run('git', ['archive', '--prefix=package/', '-o', join(folder, 'source.tgz'), 'HEAD'], { cwd: CLONE })
  const [archive = ''] = await readdir(folder)
  await run('tar', ['xzf', archive], { cwd: folder })
}

/** The linter is not needed for a build. */
async function withoutLinter(path: string): Promise<string> {
  const manifest = JSON.parse(await readFile(path, 'utf8'))
  const wanted = ([name]: [string, unknown]) => !name.includes('eslint')
  for (const group of ['dependencies', 'devDependencies'])
    manifest[group] = Object.fromEntries(Object.entries<string>(manifest[group]).filter(wanted))
  await writeFile(path, JSON.stringify(manifest))
  return manifest.version
}

/** Shorter names would take half of the time of the build, and change nothing of what it does. */
async function withoutMinifying(path: string): Promise<void> {
  const text = await readFile(path, 'utf8')
  const changed = text.replace('configureWebpack: {', 'configureWebpack: { optimization: { minimize: false },')
  if (changed === text) throw new Error(`${path} has no configureWebpack`)
  await writeFile(path, changed)
}

/** What npm would install: the published files, and the only dependency that pages load. */
async function addOurselves(modules: string): Promise<void> {
  await mkdir(join(modules, 'stac-auth'))
  for (const name of ['dist', 'package.json']) await cp(join(root, name), join(modules, 'stac-auth', name), { recursive: true })
  for (const name of ['openid-client', 'oauth4webapi']) await symlink(join(root, 'node_modules', name), join(modules, name)).catch(() => {})
}

async function filesIn(folder: string): Promise<BuiltBrowser['files']> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = names.filter((entry) => entry.isFile())
  const read = await Promise.all(
    files.map(async ({ parentPath, name }) => {
      const type = TYPES[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream'
      return [join(parentPath, name).slice(folder.length), { type, body: await readFile(join(parentPath, name)) }] as const
    }),
  )
  return Object.fromEntries(read)
}
