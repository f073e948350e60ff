/** Fills the credentials of docs/cookbook from examples/providers.json, which the tests use. `--check` compares only. */
import { readdirSync, readFileSync } from 'node:fs'
import { checkOnly, emit } from './emit.ts'

const root = new URL('../', import.meta.url)
const { credentials } = JSON.parse(readFileSync(new URL('examples/providers.json', root), 'utf8')) as {
  readonly credentials: readonly { readonly id: string }[]
}

for (const name of readdirSync(new URL('docs/cookbook/', root))) {
  const page = new URL(`docs/cookbook/${name}`, root)
  const filled = readFileSync(page, 'utf8').replace(
    /(<!-- credentials: ([\w -]+) -->\n)[\s\S]*?(<!-- end -->)/g,
    (_all, open: string, ids: string, close: string) => `${open}${fileWith(ids.split(' '))}${close}`,
  )
  emit(page, filled, checkOnly())
}

/** A credential file with these credentials. */
function fileWith(ids: readonly string[]): string {
  const chosen = ids.map((id) => {
    const credential = credentials.find((one) => one.id === id)
    if (!credential) throw new Error(`examples/providers.json has no credential "${id}"`)
    return credential
  })
  const text = JSON.stringify({ version: 1, credentials: chosen }, undefined, 2)
  // Short members fit on one line.
  const compact = text
    .replace(/\{\s+("(?:env|file)": "[^"]*")\s+\}/g, '{ $1 }')
    .replace(/\[\s+("[^\]]*?")\s+\]/g, (_, inner: string) => `[${inner.replace(/\s+/g, ' ')}]`)
  return `\`\`\`json\n${compact}\n\`\`\`\n`
}
