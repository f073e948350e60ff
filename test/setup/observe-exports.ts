/** Lets tests observe what leaves the public functions and classes of the library, wherever they are imported from. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'vitest/config'

const root = fileURLToPath(new URL('../..', import.meta.url))
const OBSERVER = `${root}test/setup/observed-calls.ts`

/** Gives what the caller's own function gives, failures included; who asks it makes an error of ours of them. */
const PASSES_ON = 'Secret'

/** The names by file, from the report of the public surface. */
function publicNames(): ReadonlyMap<string, readonly string[]> {
  const report = readFileSync(`${root}test/types/api-report.txt`, 'utf8')
  const names = new Set([...report.matchAll(/^(?:abstract )?(?:function|class) (\w+)/gm)].map(([, name]) => name ?? ''))
  const paths = readdirSync(`${root}src`, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'))
  return new Map(
    paths.map((path) => {
      const text = readFileSync(`${root}src/${path}`, 'utf8')
      const found = [...text.matchAll(/^export (?:async )?function\*? (\w+)|^(?:export )?(?:abstract )?class (\w+)/gm)]
      const own = found.flatMap(([, work, type]) => (type !== PASSES_ON && names.has(work ?? type ?? '') ? [work ?? `class ${type}`] : []))
      return [`${root}src/${path}`, [...new Set(own)]] as const
    }),
  )
}

/** A plugin that replaces each public function by its observed form, at the end of its module. */
export function observeExports(): Plugin {
  const names = publicNames()
  return {
    name: 'observe-exports',
    enforce: 'pre',
    transform(code, id) {
      const own = names.get(id) ?? []
      if (own.length === 0) return undefined
      const lines = own.map((name) =>
        name.startsWith('class ') ? `observeMethodsOf('${name.slice(6)}', ${name.slice(6)})` : `${name} = observedForm('${name}', ${name})`,
      )
      return {
        code: `${code}\nimport { observed as observedForm, observeMethods as observeMethodsOf } from '${OBSERVER}'\n${lines.join('\n')}\n`,
        map: null,
      }
    },
  }
}
