import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Runs a script; what does not refuse at once would begin to build, test or measure, and is killed. */
async function runScript(path: string, args: string) {
  const child = spawn(process.execPath, ['--import', 'tsx', path, ...args.split(' ')], { cwd: root, timeout: 50_000 })
  const [[code], stdout, stderr] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)])
  return { code, stdout, stderr }
}

describe('a maintenance script with a wrong argument', () => {
  it.each([
    ['scripts/mutation/test.ts', 'redactor nosuch', /^no file of scripts\/mutation\/files\.ts contains nosuch\. Files: url-pattern, .*$/],
    ['scripts/mutation/test-guards.ts', 'nosuch', /^npm run test:guards takes no arguments: it tries every guard$/],
    ['scripts/typescript-versions.ts', '9.9', /^unknown version: 9\.9\. Versions: 5\.4, 5\.6, 5\.9, 6\.0, 7\.0$/],
    ['scripts/node-versions.ts', '22 nosuch', /^not a version of Node: nosuch\. Expected numbers such as 22 or 22\.12\.0$/],
    ['scripts/docs.ts', '--nosuch', /^Unknown option '--nosuch'\. Usage: npm run docs -- \[--serve\]$/],
    ['scripts/generate.ts', '--chek', /^Unknown option '--chek'\. Usage: npm run generate \[-- --check\]$/],
    ['scripts/nightly.ts', '--seed', /^Option '--seed <value>' argument missing\. Usage: npm run nightly -- .*$/],
    [
      'bench/index.mjs',
      'startup nosuch',
      /^unknown benchmark: nosuch\. Benchmarks: authorize, .*; options: --json, --smallest, --documented, --write$/,
    ],
    ['bench/index.mjs', '--write --smallest', /^--smallest and --write exclude each other$/],
    ['test/load/downloads.ts', 'small toString', /^unknown row: toString\. Rows: small, middle, .*$/],
    ['test/load/queue.ts', 'kiled', /^unknown row: kiled\. Rows: killed, overhead, workers$/],
  ])('%s %s says in one line what is wrong and what is allowed', async (path, args, line) => {
    const { code, stdout, stderr } = await runScript(path, args)
    expect(stderr.replace(/\n$/, '')).toMatch(line)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  })
})
