/** Asks for what only the user knows of a new credential: secrets are typed, or the user says where they are. */
import { dirname, resolve } from 'node:path'
import type { CredentialObject, Field, SecretSource } from '../../auth/credential.ts'
import { variableFor } from '../../auth/refusals.ts'
import { parseUrlPattern } from '../../auth/url-pattern.ts'
import { type AuthError, isAuthError } from '../../errors.ts'
import { namesOf } from '../../lint/pointer.ts'
import { isSecretPath, type StoredSecret, secretSource, storeSecret } from '../../node/credentials/index.ts'
import type { Hole, Way } from '../../providers/provider.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import { forLine } from '../../text/sanitize.ts'
import { shellWords } from '../../text/shell-word.ts'
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
  /** True to ask also for what the credential may do without. */
  readonly optional: boolean
}

type Answers = Readonly<Record<string, unknown>>

/** The answers after the confirmation. */
interface OtherAnswers {
  readonly answers: Answers
  /** Says where secrets were stored outside the credential file. */
  readonly note?: string
  /** Removes them. */
  undo(): Promise<void>
}

/** Asks for what the confirmation shows: where secrets go, and scopes. */
export async function askPlaces(terminal: Terminal, { name, credential, places, open, fields, optional }: Subject): Promise<Answers> {
  const answers: Record<string, unknown> = {}
  const asked = Object.entries(open).filter(([, field]) => isPlace(field))
  const hasScopes = optional && fields.scopes !== undefined && credential.scopes === undefined
  if (asked.length > 0 || hasScopes) await terminal.say(`${quoted(name)} does not say:\n`)
  for (const [member, field] of asked) {
    const hosts = places.map(({ pattern }) => pattern).filter((pattern) => pattern.startsWith('http'))
    answers[member] = await askValue(terminal, field, field.kind === 'signed-url-patterns' ? hosts : [])
  }
  const scopes = hasScopes
    ? wordsIn(await terminal.ask('  Scopes to request, as the provider names them, separated by spaces [none]: '))
    : []
  return { ...answers, ...(scopes.length > 0 && { scopes }) }
}

/**
 * Asks for the rest, after the confirmation.
 *
 * @param problem returns what is wrong with the credential with these answers for its first target, such as a parameter without a value
 */
export async function askOthers(
  terminal: Terminal,
  subject: Subject,
  problem: (answers: Answers) => Promise<AuthError | undefined>,
  context: Context,
): Promise<OtherAnswers> {
  const secrets = new Secrets(terminal, subject.id, context)
  const answers = {
    ...(await required(secrets, terminal, subject)),
    ...(subject.optional && (await optionalSecrets(secrets, terminal, subject))),
  }
  const complete = { ...answers, ...(await parameters(terminal, subject, problem, answers)) }
  return secrets.stored(complete)
}

/**
 * Asks for what only the user has for a way in of a provider. Variables of the environment that users of the provider have are taken as they
 * are; what not every account has is not asked for.
 *
 * @param id the name of stored secrets, before that of the hole
 */
export async function askHoles(id: string, { holes }: Way, terminal: Terminal, context: Context): Promise<OtherAnswers> {
  const secrets = new Secrets(terminal, id, context)
  const answers: Record<string, unknown> = {}
  for (const [name, hole] of Object.entries(holes)) {
    const variable = variableOf(hole, context.io.env)
    if (variable !== undefined) await context.diagnostics.note(`${hole.label}: from the variable ${variable}, which is set`)
    else if (hole.optional) continue
    answers[name] = variable === undefined ? await answerTo(name, hole, secrets, terminal) : fromVariable(hole, variable, context.io.env)
  }
  return secrets.stored(answers)
}

/** Returns the first variable for a hole that is set. */
export function variableOf({ env = [] }: Hole, environment: Context['io']['env']): string | undefined {
  return env.find((name) => environment[name])
}

function fromVariable({ kind }: Hole, name: string, environment: Context['io']['env']): unknown {
  return kind === 'text' ? environment[name] : { env: name }
}

async function answerTo(name: string, { kind, label, env: [usual] = [] }: Hole, secrets: Secrets, terminal: Terminal): Promise<unknown> {
  if (kind === 'secret') return secrets.ask(name, { kind, label }, usual)
  const text = String(await askValue(terminal, { kind: 'text', label }))
  return (kind === 'text-or-secret' ? sourceOf(text, label) : undefined) ?? text
}

/** Fields that decide where a secret is sent: they are part of the confirmation. */
const isPlace = ({ kind }: Field): boolean => ['url', 'patterns', 'signed-url-patterns', 'id', 'boolean'].includes(kind)

/** Asks until the value is valid. An empty answer takes `usual`, where there is one. */
async function askValue(terminal: Terminal, { kind, label, values }: Field, usual: readonly string[] = []): Promise<unknown> {
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
function secretPath(path: string): string {
  return isSecretPath(path) ? path : resolve(path)
}

/** Returns the source in an answer such as `env:NAME`; undefined if it is not one. */
function sourceOf(answer: string, label: string): SecretSource | undefined {
  if (answer === 'prompt') return { prompt: label }
  const [, source = '', place = ''] = /^([a-z]+):(.+)$/.exec(answer) ?? []
  if (source === 'env') return { env: place.replace(/^\$/, '') }
  if (source === 'file') return { file: secretPath(place) }
  return source === 'keyring' ? { keyring: place } : undefined
}

/** A source where a secret is asked for: users may know its name by heart. */
function named(typed: string, label: string): SecretSource | undefined {
  return /^(?:env|file|keyring):/.test(typed) ? sourceOf(typed, label) : undefined
}

/** A typed secret, until it is stored. */
class Typed {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

async function required(secrets: Secrets, terminal: Terminal, { open }: Subject): Promise<Answers> {
  const answers: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(open)) {
    if (isPlace(field)) continue
    answers[name] = field.kind === 'secret' ? await secrets.ask(name, field) : await askValue(terminal, field)
  }
  return answers
}

/** Asks for secrets that a credential may do without: that of a client, or keys that may stand elsewhere. */
async function optionalSecrets(secrets: Secrets, terminal: Terminal, { open, fields, credential }: Subject): Promise<Answers> {
  const { clientSecret, accessKeyId, secretAccessKey } = fields
  if (
    clientSecret &&
    !open.clientSecret &&
    (await terminal.ask('  Does the client have a secret?  [y]es / [N]o ')).toLowerCase().startsWith('y')
  )
    return { clientSecret: await secrets.ask('clientSecret', clientSecret) }
  if (!accessKeyId || !secretAccessKey || (credential.credentialsUrl ?? credential.stsEndpoint) !== undefined) return {}
  const answer = await placeOfKeys(terminal)
  if (answer === 'p') return { profile: (await terminal.ask('  Profile [default]: ')) || 'default' }
  if (answer === 'u') return {}
  const pair = {
    accessKeyId: await secrets.ask('accessKeyId', accessKeyId),
    secretAccessKey: await secrets.ask('secretAccessKey', secretAccessKey),
  }
  const sessionToken = await secrets.askIfAny('Session token, not shown (press Enter if the keys have none)')
  return { ...pair, ...(sessionToken && { sessionToken }) }
}

/** Asks where the keys are, again after any other answer: it may be a key, typed where it is shown. */
async function placeOfKeys(terminal: Terminal): Promise<string> {
  const question = '  Keys: [T]ype them now / in an AWS [p]rofile / in the [u]sual places (variables AWS_…, ~/.aws)  [t]: '
  for (;;) {
    const answer = (await terminal.ask(question)) || 't'
    const [, letter] = /^([tpu])(?:ype|rofile|sual)?$/i.exec(answer) ?? []
    if (letter) return letter.toLowerCase()
    await terminal.say('  answer t, p or u; a key is never typed where it is shown\n')
  }
}

const MAX_PARAMETERS = 20

/** Asks for the values of parameters that a signing API requires and that the URL does not contain. */
async function parameters(
  terminal: Terminal,
  { fields }: Subject,
  problem: Parameters<typeof askOthers>[2],
  answers: Answers,
): Promise<Answers> {
  const values: Record<string, unknown> = {}
  if (fields.parameters === undefined) return {}
  for (let count = 0; count < MAX_PARAMETERS; count++) {
    const all = Object.keys(values).length === 0 ? {} : { parameters: values }
    const found = await problem({ ...withoutTyped(answers), ...all })
    const name = found?.code === 'PARAM_UNBOUND' ? namesOf(found.pointer ?? '').at(-1) : undefined
    if (name === undefined || Object.hasOwn(values, name)) return all
    const text = await terminal.ask(`  Value of ${quoted(name)} for the signing service (or env:NAME, file:PATH): `)
    values[name] = sourceOf(text, name) ?? text
  }
  return { parameters: values }
}

function withoutTyped(answers: Answers): Answers {
  return Object.fromEntries(Object.entries(answers).map(([name, value]) => [name, value instanceof Typed ? { prompt: name } : value]))
}

function wordsIn(text: string): readonly string[] {
  return text.split(/\s+/).filter(Boolean)
}

/** Asks for the secrets of one credential. Typed ones are stored when all questions are answered. */
class Secrets {
  readonly #terminal: Terminal
  readonly #id: string
  readonly #context: Context

  constructor(terminal: Terminal, id: string, context: Context) {
    this.#terminal = terminal
    this.#id = id
    this.#context = context
  }

  /** Returns a typed secret, or its source. */
  async ask(name: string, { label, lines }: Field, variable = variableFor(this.#id, name)): Promise<Typed | SecretSource> {
    for (;;) {
      const others = 'a variable, a file or a command'
      const typed = lines ? '' : await this.#terminal.askHidden(`  ${label}, not shown (press Enter if it is in ${others}): `)
      const answer = typed === '' ? await this.#source(variable, label, lines === true) : (named(typed, label) ?? new Typed(typed))
      if (answer) return answer
    }
  }

  async askIfAny(question: string): Promise<Typed | undefined> {
    const typed = await this.#terminal.askHidden(`  ${question}: `)
    return typed === '' ? undefined : new Typed(typed)
  }

  /** Returns undefined for an empty answer. */
  async #source(usual: string, label: string, isText: boolean): Promise<SecretSource | undefined> {
    const terminal = this.#terminal
    const what = isText
      ? `  ${label} is in a [v]ariable / a [F]ile / a [c]ommand prints it: `
      : '  It is in a [v]ariable / a [f]ile / a [c]ommand prints it: '
    const answer = (await terminal.ask(what)) || (isText ? 'f' : '')
    if (/^v(?:ariable)?$/i.test(answer)) return this.#variable(usual)
    if (/^f(?:ile)?$/i.test(answer)) return this.#file()
    if (/^c(?:ommand)?$/i.test(answer)) return this.#command()
    const source = sourceOf(answer, label)
    if (!source && answer !== '') await terminal.say('  answer v, f or c; a secret is never typed where it is shown\n')
    return source
  }

  async #variable(usual: string): Promise<SecretSource> {
    for (;;) {
      const name = (await this.#terminal.ask(`  Variable [${usual}]: `)) || usual
      if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
        await this.#terminal.say('  enter the name of a variable, without $\n')
        continue
      }
      if (!this.#context.io.env[name]) await this.#terminal.say(`  ${name} is not set here: set it before you use the credential\n`)
      return { env: name }
    }
  }

  async #file(): Promise<SecretSource | undefined> {
    const name = await this.#terminal.ask('  File with nothing but the secret: ')
    if (name === '') return undefined
    const source = { file: secretPath(name) }
    try {
      await secretSource(source).read()
      return source
    } catch (error) {
      if (!isAuthError(error)) throw error
      await this.#terminal.say(`  ${forLine(error.message)}\n`)
      return undefined
    }
  }

  async #command(): Promise<SecretSource | undefined> {
    const words = shellWords(await this.#terminal.ask('  Command that prints the secret on one line: '))
    if (words !== undefined && words.length > 0) return { command: words }
    await this.#terminal.say('  enter a program and its arguments; quotes must be closed, and no shell is used\n')
    return undefined
  }

  /** Stores the typed secrets among the answers. Errors: those of {@link storeSecret}; nothing is left then. */
  async stored(answers: Answers): Promise<OtherAnswers> {
    const { io } = this.#context
    const kept: StoredSecret[] = []
    const undo = async () => {
      for (const { remove } of kept) await remove().catch(() => undefined)
    }
    const sources: Record<string, unknown> = { ...answers }
    try {
      for (const [name, answer] of Object.entries(answers)) {
        if (!(answer instanceof Typed)) continue
        const stored = await storeSecret(`${this.#id}.${name}`, answer.text, io.env)
        kept.push(stored)
        sources[name] = stored.source
      }
    } catch (error) {
      await undo()
      throw error
    }
    const [first] = kept
    const what = kept.length === 1 ? 'the secret is' : 'the secrets are'
    const place = first?.path === undefined ? 'the keyring of the system' : placesText(kept)
    return { answers: sources, ...(first && { note: `${what} stored in ${place}` }), undo }
  }
}

/** Names the file, or the folder of several. */
function placesText(kept: readonly StoredSecret[]): string {
  const [first = '', ...others] = kept.flatMap(({ path }) => path ?? [])
  return `${others.length === 0 ? first : dirname(first)}, which only you can read`
}
