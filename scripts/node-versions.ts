/**
 * Runs the tests of what runs on Node under other versions of it: `npm run test:node-versions`, or `… -- 22` for one of them. With
 * `--platform` only those of the parts that use Node's own modules most, and the built command.
 *
 * The binaries are npm packages without install scripts, kept in a temporary folder for the run.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { commandLine, refuse } from './command-line.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const USAGE = 'npm run test:node-versions -- [--platform] [version ...]'
const { values, positionals } = commandLine(USAGE, { platform: { type: 'boolean', default: false } })
const malformed = positionals.filter((version) => !/^\d+(?:\.\d+){0,2}$/.test(version))
if (malformed.length > 0) refuse(`not a version of Node: ${malformed.join(', ')}. Expected numbers such as 22 or 22.12.0`)
const versions = positionals.length > 0 ? positionals : ['22', '24']
/** Connections, codings, TLS, hashes, keys, files, processes and modules: where versions of Node have differed, or may. */
const PLATFORM = [
  ...['platform', 'crypto', 'http'].map((name) => `test/${name}/`),
  ...['undici', 'guarded', 'negotiate', 'proxy', 'socks', 'request-target', 'loopback'].map((name) => `test/node/${name}`),
  ...['files', 'write-file', 'token-files', 'credential-process', 'secret-source', 'download/hash'].map((name) => `test/node/${name}`),
  'test/package/web-only',
]
const folder = mkdtempSync(join(tmpdir(), 'stac-auth-node-'))

try {
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  const binaries = versions.map((version) => `node-${version}@npm:node-${process.platform}-${process.arch}@${version}`)
  run('npm', ['install', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', ...binaries], folder)
  // The first version that fails is the last one that is tried: what it said is what one sees.
  for (const version of versions) {
    if (process.exitCode) break
    const node = join(folder, `node_modules/node-${version}/bin/node`)
    run(node, ['-p', '"Node " + process.version'], folder)
    // The web platform is the same in all of them.
    run(
      node,
      [
        join(root, 'node_modules/vitest/vitest.mjs'),
        'run',
        ...['unit', 'slow', 'replacing', 'package'].flatMap((name) => ['--project', name]),
        ...(values.platform ? PLATFORM : []),
      ],
      root,
    )
    run(node, [join(root, 'dist/cli/bin.js'), 'lint', 'examples/items'], root)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function run(command: string, args: readonly string[], cwd: string): void {
  const { status } = spawnSync(command, args, { cwd, stdio: 'inherit' })
  if (status !== 0) process.exitCode = 1
}
