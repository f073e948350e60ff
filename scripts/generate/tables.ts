/** Fills the tables of docs/schemes.md, from the strategies and the HTTP authentication schemes, and of docs/translation.md. */
import { defaultStrategies } from 'stac-auth'
import type { CredentialFields } from 'stac-auth/strategy'
import { loadStrategies } from '../../dist/auth/strategy.js'
import { schemes } from '../../dist/strategies/http/schemes.js'
import { operations } from '../../src/services/translation/operations.ts'
import { type Files, fill, table } from './files.ts'

const strategies = await loadStrategies(defaultStrategies)

/** What each type sends, in a few words; a type without words fails here. */
const SENDS: { readonly [type: string]: string } = {
  http: '`Authorization: <scheme> …` (RFC 9110): computed for the schemes below, ready-made text for any other',
  apiKey: 'the key, as header, query parameter or cookie',
  oauth2:
    'a token by the grant of the credential (RFC 6749, RFC 8628, RFC 8693), bound to a key where it says so (RFC 9449), stored and refreshed',
  openIdConnect: 'the same, with endpoints and keys as the provider publishes them, and ID tokens checked',
  signedUrl: 'nothing: the URL is replaced by the one that your signing API returns',
  s3: 'an AWS Signature Version 4, headers or presigned',
}

function schemeTable(): string {
  const rows = strategies.map(({ type }) => {
    const sends = SENDS[type]
    if (sends === undefined) throw new Error(`say in ${import.meta.url} what ${type} sends`)
    return [`\`${type}\``, sends]
  })
  const logins = strategies.filter(({ type }) => type === 'oauth2' || type === 'openIdConnect').flatMap(({ forms }) => forms)
  const shared = optionalOf(logins[0] as CredentialFields).filter((name) => logins.every((form) => optionalOf(form).includes(name)))
  const fields = strategies.map(({ type, forms }) =>
    forms.length === 1
      ? wrapped(`- \`${type}\`: ${forms.map((form) => formText(form, []))}`)
      : `- \`${type}\`\n${forms.map((form) => wrapped(`  - ${formText(form, logins.includes(form) ? shared : [])}`)).join('')}`,
  )
  return `${table(['type', 'what goes out'], rows)}\nThe fields of a credential for each, optional ones in brackets:\n\n${fields.join('')}\n${wrapped(`- …: the optional fields of all logins: ${shared.join(', ')}`)}`
}

function optionalOf({ when = {}, fields }: CredentialFields): readonly string[] {
  return Object.entries(fields).flatMap(([name, { required }]) => (required || name in when || name === 'sendTo' ? [] : [name]))
}

/** A list item in lines of at most 140 characters. */
function wrapped(item: string): string {
  const indent = ' '.repeat(item.indexOf('-') + 2)
  const lines = ['']
  for (const word of item.split(/(?<=\S) /)) {
    const last = lines.at(-1) ?? ''
    if (last !== '' && last.length + word.length >= 140) lines.push(indent + word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return `${lines.join('\n')}\n`
}

function formText(form: CredentialFields, shared: readonly string[]): string {
  const { when = {}, fields } = form
  const fixed = Object.entries(when)
    .filter(([, values]) => !values.includes(undefined))
    .map(([name, values]) => `${name}: ${values.join(' \\| ')}`)
  const all = optionalOf(form)
  const required = Object.keys(fields).filter((name) => !(name in when) && name !== 'sendTo' && !all.includes(name))
  const optional = [...all.filter((name) => !shared.includes(name)), ...(shared.length > 0 ? ['…'] : [])]
  return [...fixed, ...required, ...(optional.length ? [`[${optional.join(', ')}]`] : [])].join(', ')
}

function httpSchemeTable(): string {
  const rows = schemes.map(({ name, about: { standard, browsers, steps, testedAgainst } }) =>
    [`\`${name}\``, standard, browsers, steps, testedAgainst].map(String),
  )
  return table(['scheme', 'standard', 'in browsers', 'requests', 'tested against'], rows)
}

/** The methods by the scope that they need; a mark shows what is not repeated. */
function operationList(): string {
  const all = Object.values(operations)
  const line = (scope: string) => {
    const names = all
      .filter(({ right }) => right === scope)
      .map(({ name, replay, stability }) => {
        const mark = replay === 'unsafe' ? '*' : replay === 'once' ? '¹' : ''
        return `\`${name}\`${mark}${stability === undefined ? '' : ` (${stability})`}`
      })
    return `- \`${scope}\`: ${names.join(', ')}\n`
  }
  return [...new Set(all.map(({ right }) => right))].map((scope) => wrapped(line(scope).trimEnd())).join('')
}

export const files: Files = {
  'docs/schemes.md': fill({ schemes: schemeTable(), http: httpSchemeTable() }),
  'docs/translation.md': fill({ operations: operationList() }),
}
