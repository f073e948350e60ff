/** Checks of what the program knows of providers: credentials made from it, and the files of a document. Nothing is sent. */
import type { CredentialObject, CredentialSet } from '../../auth/credential.ts'
import type { Provider } from '../../providers/provider.ts'
import { providers } from '../../providers/registry.ts'
import { needsOfProviders, type RecognizedTarget } from '../known-providers.ts'
import { type Change, changesOf } from '../setup/provider-state.ts'
import { type Check, ok, warning } from './check.ts'

/** Compares the credentials that were made from a provider with what is known of it now. Values of the user are not shown. */
export function registryChecks({ credentials }: CredentialSet<CredentialObject>): readonly Check[] {
  return credentials.flatMap((credential) =>
    typeof credential.provider === 'string' ? [registryCheck(credential.provider, credential)] : [],
  )
}

function registryCheck(id: string, credential: CredentialObject): Check {
  const check = `provider ${id}`
  const name = `"${String(credential.id)}"`
  const provider = providers.find((one) => one.id === id)
  if (!provider) return ok(check, `is not known to this version; ${name} is used as it is`)
  const changes = changesFor(provider, credential)
  if (changes.length === 0) return ok(check, `${name} is as known on ${provider.checked}`)
  return warning(
    check,
    'CONFIG_INVALID',
    `${name} differs from what is known on ${provider.checked}: ${changes.join('; ')}`,
    `stac-auth setup ${id}`,
  )
}

/** Returns what differs from the most similar credential of the provider. */
function changesFor({ id: provider, ways }: Provider, credential: CredentialObject): readonly string[] {
  const all = ways.flatMap(({ credentials }) => credentials).filter(({ type }) => type === credential.type)
  const same = all.filter(({ id }) => id === credential.id)
  const found = (same.length > 0 ? same : all).map((template) => {
    const chain = ['with', 'subject'].filter((name) => template[name] !== undefined && credential[name] === undefined)
    const changes = [...chain.map((field) => ({ field, after: template[field] })), ...changesOf(template, credential, provider)]
    return changes.map(changeText)
  })
  return found.sort((one, other) => one.length - other.length)[0] ?? [`it has no way in of the type "${String(credential.type)}"`]
}

/** Users may add hosts of their own, so that a list only lacks some. */
function changeText({ field, before, after }: Pick<Change, 'field' | 'before' | 'after'>): string {
  if (!Array.isArray(after)) return `${field} is ${JSON.stringify(after)}`
  return `${field} lacks ${listOf(after.filter((one) => ![before].flat().includes(one)))}`
}

const MOST_VALUES = 3

function listOf(values: readonly unknown[]): string {
  const more = values.length - MOST_VALUES
  return `${values.slice(0, MOST_VALUES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** Says what the files of known providers need, and the limits of these providers. */
export function providerChecks(recognized: readonly RecognizedTarget[]): readonly Check[] {
  const needs = needsOfProviders(recognized)
  const found = [...new Set(recognized.map(({ provider }) => provider))]
  return found.flatMap((provider) => {
    const check = `provider ${provider.id}`
    const states = needs
      .filter((need) => need.provider === provider)
      .map(({ text, state, command }) => {
        if (command === undefined) return ok(check, text)
        if (state === 'login required') return warning(check, 'LOGIN_REQUIRED', text, command)
        return warning(check, 'NO_CREDENTIAL', `${text}, and no credential is used for them`.replace(/^(1 .*)them$/, '$1it'), command)
      })
    return [...states, ...provider.notes.map((note) => ok(check, note))]
  })
}
