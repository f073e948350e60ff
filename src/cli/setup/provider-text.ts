/** What is said about providers: what only the user has, ways in, and what has changed. */
import type { CredentialObject, SecretValue } from '../../auth/credential.ts'
import { credentialsFrom, type Hole, type Provider, type Way } from '../../providers/provider.ts'
import { forJson, forLine } from '../../text/sanitize.ts'
import { plain } from '../credentials/question.ts'
import type { Change } from './provider-state.ts'

/** Names what only the user has for a way in. */
export function needsText(way: Way): string {
  const labels = requiredHoles(way).map(([, { label }]) => label.replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase()))
  if (labels.length > 0) return labels.join(', ')
  return needsAccount(way) ? 'a login in the browser' : 'nothing'
}

/** Returns the holes that must be filled. */
export function requiredHoles({ holes }: Way): readonly (readonly [name: string, hole: Hole])[] {
  return Object.entries(holes).filter(([, { optional }]) => !optional)
}

/** Returns the ways in with those first whose values are all in variables of the environment. */
export function inOrder(ways: readonly Way[], env: Environment): readonly Way[] {
  const isReady = (way: Way) => {
    const holes = requiredHoles(way)
    return holes.length > 0 && holes.every(([, hole]) => variableOf(hole, env) !== undefined)
  }
  return [...ways.filter(isReady), ...ways.filter((way) => !isReady(way))]
}

type Environment = Readonly<Record<string, string | undefined>>

/** Returns the first variable for a hole that is set. */
export function variableOf({ env = [] }: Hole, environment: Environment): string | undefined {
  return env.find((name) => environment[name])
}

/** True for a way in that needs something of the user, or a login. */
export function needsAccount(way: Way): boolean {
  return requiredHoles(way).length > 0 || way.works.length === 0
}

/** Returns what stands for the values of the user: variables for secrets. */
export function placeholders(way: Way): Readonly<Record<string, SecretValue>> {
  const values = requiredHoles(way).map(([name, { kind, env: [variable = 'SECRET'] = [] }]): [string, SecretValue] => [
    name,
    kind === 'text' ? '…' : { env: variable },
  ])
  return Object.fromEntries(values)
}

/** Returns the credentials of a way as they stand in a credential file whose secrets are in variables. */
export function exampleOf(provider: Provider, way: Way): readonly CredentialObject[] {
  return credentialsFrom(provider, way.id, placeholders(way)) as readonly unknown[] as readonly CredentialObject[]
}

/** Where the user gets what is asked for. */
export function accountText({ account }: Provider): string {
  return `  ${account.url}  ${account.text}\n`
}

/** One line for each field that the registry has another value for. */
export function changesText(changes: readonly Change[], own: readonly string[]): string {
  const lines = changes.flatMap(({ id, field, before, after }) => {
    const name = `  ${plain(id)} ${field}`
    if (!Array.isArray(after)) return [...(before === undefined ? [] : [`${name}  - ${textOf(before)}`]), `${name}  + ${textOf(after)}`]
    const known = [before ?? []].flat()
    return after.filter((one) => !known.includes(one)).map((one) => `${name}  + ${textOf(one)}`)
  })
  const kept = own.map((pattern) => `  ${forLine(pattern)} stays: it is not in the registry, remove it if you did not add it`)
  return [...lines, ...kept].map((line) => `${line}\n`).join('')
}

function textOf(value: unknown): string {
  return plain(typeof value === 'string' ? value : forJson(value), 300)
}
