/** Asks for the fields of a new credential that only the user knows. */

import { resolve } from 'node:path'
import type { CredentialObject, Field, SecretSource } from '../../auth/credential.ts'
import { variableFor } from '../../auth/refusals.ts'
import { parseUrlPattern } from '../../auth/url-pattern.ts'
import type { AuthError } from '../../errors.ts'
import { isSecretPath } from '../../node/credentials/index.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import type { Context } from '../context.ts'
import type { PatternUse } from './missing-credentials.ts'
import { quoted, urlText } from './question.ts'
import type { Terminal } from './terminal.ts'

/** A new credential before its questions. */
export interface Subject {
  readonly id: string
  /** The name of the scheme in the catalog. */
  readonly name: string
  /** As far as it is known, with placeholders. */
  readonly credential: CredentialObject
  readonly places: readonly PatternUse[]
  /** The fields that must be asked for. */
  readonly open: { readonly [name: string]: Field }
  /** All fields that the scheme leaves to the user. */
  readonly fields: { readonly [name: string]: Field }
  /** Returns the problem of the credential with the answers for its first target, such as a parameter without a value. */
  problem(answers: Answers): Promise<AuthError | undefined>
}

export type Answers = Readonly<Record<string, unknown>>

/** The answers after the confirmation. */
export interface OtherAnswers {
  readonly answers: Answers
  /** Says where secrets were stored outside the credential file. */
  readonly note?: string
  /** Removes them. */
  undo?(): Promise<void>
}

/** Asks for the fields of a new credential. */
export interface Questions {
  /** Asks for what the confirmation shows: where secrets go, and scopes. */
  places(terminal: Terminal, subject: Subject): Promise<Answers>
  /** Asks for the rest, after the confirmation. */
  others(terminal: Terminal, subject: Subject, context: Context): Promise<OtherAnswers>
}

/** Asks for the required fields by their labels, and for the source of each secret. */
export const askedByName: Questions = {
  async places(terminal, { id, name, open }) {
    if (Object.values(open).some(isPlace)) await terminal.say(`${quoted(name)} does not specify:\n`)
    return askFields(terminal, id, open, isPlace)
  },
  others: async (terminal, { id, open }) => ({ answers: await askFields(terminal, id, open, (field) => !isPlace(field)) }),
}

/** Fields that decide where a secret is sent: they are part of the confirmation. */
export const isPlace = ({ kind }: Field): boolean => ['url', 'patterns', 'signed-url-patterns', 'id', 'boolean'].includes(kind)

/** Asks for the fields for which `when` holds, each until its value is valid. */
async function askFields(
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

/** Asks until the value is valid. An empty answer takes `usual`, where there is one. */
export async function askValue(terminal: Terminal, { kind, label, values }: Field, usual: readonly string[] = []): Promise<unknown> {
  if (kind === 'boolean') return /^y(?:es)?$/i.test(await terminal.ask(`  ${label}?  [y]es / [N]o `))
  const choice = values ? ` (${values.join(', ')})` : ''
  for (;;) {
    const answer =
      (await terminal.ask(`  ${label}${choice}${usual.length === 0 ? '' : ` [${usual.map(urlText).join(' ')}]`}: `)) || usual.join(' ')
    if (kind === 'patterns' || kind === 'signed-url-patterns') {
      const patterns = answer.split(/\s+/).filter(Boolean)
      if (patterns.length > 0 && patterns.every((pattern) => isPattern(pattern, kind === 'signed-url-patterns'))) return patterns
      await terminal.say('  enter URL patterns separated by spaces, such as https://data.example/ https://*.data.example/\n')
    } else if (kind === 'url' ? canParseUrl(answer) : (values?.includes(answer) ?? answer !== '')) return answer
  }
}

function isPattern(text: string, sharedHosts: boolean): boolean {
  try {
    parseUrlPattern(text, { sharedHosts })
    return true
  } catch {
    return false
  }
}

/** Returns the path of a secret file as the credential file needs it; a relative one starts in the working directory of the answer. */
export function secretPath(path: string): string {
  return isSecretPath(path) ? path : resolve(path)
}

/** Returns the source in an answer such as `env:NAME`; undefined if it is not one. */
export function sourceOf(answer: string, label: string): SecretSource | undefined {
  if (answer === 'prompt') return { prompt: label }
  const [, source = '', place = ''] = /^([a-z]+):(.+)$/.exec(answer) ?? []
  if (source === 'env') return { env: place.replace(/^\$/, '') }
  if (source === 'file') return { file: secretPath(place) }
  return source === 'keyring' ? { keyring: place } : undefined
}

/** Asks for the source of a secret; the input is visible, so it must not be the secret itself. */
async function askSource(terminal: Terminal, id: string, name: string, { label }: Field): Promise<SecretSource> {
  const usual = variableFor(id, name)
  for (;;) {
    const answer = await terminal.ask(`  ${label}, source (env:NAME, file:~/PATH, keyring:ACCOUNT, prompt) [env:${usual}]: `)
    if (answer === '') return { env: usual }
    const source = sourceOf(answer, label)
    if (source) return source
    await terminal.say('  not a source: the credential file holds where a secret is stored, never the secret itself\n')
  }
}
