/** Names the manual pages in package.json: npm shows them after a global installation only where each is named. */
import { commands } from '../program-help.ts'
import type { Files } from './files.ts'

const pages = ['stac-auth', ...commands.map((command) => `stac-auth-${command.name()}`)].map((name) => `    "./dist/man/${name}.1"`)

export const files: Files = {
  'package.json': (manifest) => manifest.replace(/(?<="man": \[\n)[^\]]*(?=\n {2}\])/, pages.join(',\n')),
}
