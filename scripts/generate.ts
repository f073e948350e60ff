/**
 * Writes every generated file that is kept in the repository, by the modules of `scripts/generate`. With `--check` it writes nothing, and fails
 * when a file is not what it would write.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { commandLine, refuse } from './command-line.ts'
import { type Files, root } from './generate/files.ts'
import { generateCode } from './generated-code.ts'

const USAGE = 'npm run generate [-- --check]'
const { values, positionals } = commandLine(USAGE, { check: { type: 'boolean' } })
if (positionals.length > 0) refuse(`unknown argument: ${positionals.join(', ')}. Usage: ${USAGE}`)

/** A module of `scripts/generate`, with the folder in which no other files may be. */
interface Generator {
  readonly files: Files
  readonly folder?: string
}

// Pages of rules are read from a module that is made from their fixtures.
if (!values.check) await generateCode()

const names = readdirSync(join(root, 'scripts/generate')).filter((name) => name.endsWith('.ts'))
for (const name of names.sort()) {
  const { files = {}, folder }: Partial<Generator> = await import(`./generate/${name}`)
  for (const [path, text] of Object.entries(files)) write(path, text)
  for (const path of folder === undefined ? [] : readdirSync(join(root, folder)).map((file) => `${folder}/${file}`))
    if (!Object.hasOwn(files, path)) remove(path)
}
// The types of credentials are made from a schema that may have changed.
if (!values.check) await generateCode()

function write(path: string, text: Files[string]): void {
  const file = join(root, path)
  const old = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const fresh = typeof text === 'string' ? text : text(old)
  if (fresh === old) return
  if (values.check) {
    stale(path)
    return
  }
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, fresh)
}

function remove(path: string): void {
  if (values.check) stale(path)
  else rmSync(join(root, path))
}

function stale(path: string): void {
  console.error(`${path} is out of date, run npm run generate`)
  process.exitCode = 1
}
