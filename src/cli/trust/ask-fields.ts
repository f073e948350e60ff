/** Asks for the fields of an entry that only its user knows; for secrets only where they are kept. */
import type { Field, SecretSource } from '../../auth/credential.ts'
import { variableFor } from '../../auth/missing.ts'
import { parseGrant } from '../../auth/parse-grant.ts'
import type { Terminal } from './terminal.ts'

/** Fields that decide where something goes, or whether it may: they are part of what is agreed to. */
export const isPlace = ({ kind }: Field): boolean => ['url', 'patterns', 'signed-url-patterns', 'id', 'boolean'].includes(kind)

/** The values of the fields for which `when` holds, asked for until they are what they must be. */
export async function askFields(
  terminal: Terminal,
  id: string,
  fields: { readonly [name: string]: Field },
  when: (field: Field) => boolean,
): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(fields)) {
    if (when(field)) answers[name] = field.kind === 'secret' ? await askSource(terminal, id, name, field) : await askValue(terminal, field)
  }
  return answers
}

async function askValue(terminal: Terminal, { kind, label, values }: Field): Promise<unknown> {
  if (kind === 'boolean') return /^y(?:es)?$/i.test(await terminal.ask(`  ${label}?  [y]es / [N]o `))
  const choice = values ? ` (${values.join(', ')})` : ''
  for (;;) {
    const answer = await terminal.ask(`  ${label}${choice}: `)
    if (kind === 'patterns' || kind === 'signed-url-patterns') {
      const patterns = answer.split(/\s+/).filter(Boolean)
      if (patterns.length > 0 && patterns.every((pattern) => isPattern(pattern, kind === 'signed-url-patterns'))) return patterns
      await terminal.say('  write patterns such as https://data.example/ or https://*.data.example/, with blanks between them\n')
    } else if (kind === 'url' ? URL.canParse(answer) : (values?.includes(answer) ?? answer !== '')) return answer
  }
}

function isPattern(text: string, sharedHosts: boolean): boolean {
  try {
    parseGrant(text, { sharedHosts })
    return true
  } catch {
    return false
  }
}

const SOURCES = ['env', 'file', 'keyring', 'prompt']

/** What is typed here is seen on the screen, so it must not be the secret. */
async function askSource(terminal: Terminal, id: string, name: string, { label }: Field): Promise<SecretSource> {
  const usual = variableFor(id, name)
  for (;;) {
    const answer = await terminal.ask(`  ${label}, where it is kept (env:NAME, file:~/PATH, keyring:ACCOUNT, prompt) [env:${usual}]: `)
    if (answer === '') return { env: usual }
    if (answer === 'prompt') return { prompt: label }
    const [, source = '', place = ''] = /^([a-z]+):(.+)$/.exec(answer) ?? []
    if (SOURCES.includes(source)) return { [source]: place } as unknown as SecretSource
    await terminal.say('  that names no place: the entry says where the secret is, never what it is\n')
  }
}
