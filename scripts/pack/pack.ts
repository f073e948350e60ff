/** Writes the tarball that is published into the folder of the project, or another: `npm run pack -- folder`. */
import { mkdirSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { commandLine } from '../command-line.ts'
import { packInto } from './package.ts'

const { positionals } = commandLine('npm run pack -- [FOLDER]', {})
const folder = resolve(positionals[0] ?? '.')
mkdirSync(folder, { recursive: true })
const { tarball, files } = await packInto(folder)
console.log(`${tarball}: ${files.length} files, ${Math.round(statSync(tarball).size / 1000)} kB`)
