/**
 * Writes the modules of `src` that are made from other files, and that git ignores: the compiled JSON Schemas, the types of credentials, the
 * pages of the rules. The build and the tests begin with it.
 */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** A module, what it is made from (files and folders), and its text. */
interface GeneratedModule {
  readonly path: string
  readonly from: readonly string[]
  readonly text: () => Promise<string>
}

const MODULES: readonly GeneratedModule[] = [
  {
    path: 'src/auth/credential-input.ts',
    from: ['schemas/credentials.json', 'scripts/typed-credentials.ts'],
    text: async () => (await import('./typed-credentials.ts')).typedCredentials(),
  },
  {
    path: 'src/lint/schema/validators.ts',
    from: ['schemas/authentication', 'scripts/compiled-schemas.ts'],
    text: async () => (await import('./compiled-schemas.ts')).compiledSchemas(),
  },
  { path: 'src/lint/rules/pages.ts', from: ['fixtures/rules', 'scripts/generated-code.ts'], text: async () => rulePages() },
]

/** The paths of the modules from the root. */
export const GENERATED: readonly string[] = MODULES.map(({ path }) => path)

/** Writes each module that is missing or was made from something else: its first line has the hash of what it was made from. */
export async function generateCode(): Promise<void> {
  for (const { path, from, text } of MODULES) {
    const head = `// Generated from ${from.join(' and ')} (${hashOf(from)}); git ignores it.\n`
    const file = join(root, path)
    if (!existsSync(file) || !readFileSync(file, 'utf8').startsWith(head)) writeFileSync(file, head + (await text()))
  }
}

function hashOf(from: readonly string[]): string {
  const hash = createHash('sha256')
  for (const path of from.flatMap(filesOf)) hash.update(`${path}\n${readFileSync(join(root, path), 'utf8')}\n`)
  return hash.digest('hex').slice(0, 16)
}

/** The files that people write: the file, or those of a folder. */
function filesOf(path: string): readonly string[] {
  if (statSync(join(root, path)).isFile()) return GENERATED.includes(path) ? [] : [path]
  return readdirSync(join(root, path)).flatMap((name) => filesOf(`${path}/${name}`))
}

/** Why the cases of rules exist, apart from the rules so that programs that only lint do not load these texts. */
function rulePages(): string {
  const pages = filesOf('fixtures/rules').map((path) => {
    const { part, why, repair } = JSON.parse(readFileSync(join(root, path), 'utf8'))
    return [basename(path, '.json'), { part, why, repair }] as const
  })
  return `import type { CaseDocs } from '../rule.ts'

/** Texts for the pages of rules, by the codes of the cases. */
export const pages: Readonly<Record<string, CaseDocs>> = ${JSON.stringify(Object.fromEntries(pages), null, 2)}
`
}
