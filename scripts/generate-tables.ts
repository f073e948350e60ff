/** Fills the generated tables of docs/schemes.md and docs/rules.md, from the strategies, the HTTP authentication schemes and the linter. */
import { readFileSync } from 'node:fs'
import { defaultStrategies } from 'stac-auth'
import { rules } from 'stac-auth/lint'
import { type CredentialFields, loadStrategies } from 'stac-auth/strategy'
import { schemes } from '../dist/strategies/http/schemes.js'
import { checkOnly, emit } from './emit.ts'

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

const tables: { readonly [name: string]: string } = { schemes: schemeTable(), http: httpSchemeTable(), rules: ruleTable() }
for (const page of ['schemes', 'rules']) {
  const file = new URL(`../docs/${page}.md`, import.meta.url)
  const filled = readFileSync(file, 'utf8').replace(
    /(<!-- generated: (\w+) -->\n)[\s\S]*?(<!-- end -->)/g,
    (_all, open: string, name: string, close: string) => `${open}${tables[name] ?? ''}${close}`,
  )
  emit(file, filled, checkOnly())
}

function schemeTable(): string {
  const rows = strategies.map(({ type }) => {
    const sends = SENDS[type]
    if (sends === undefined) throw new Error(`say in ${import.meta.url} what ${type} sends`)
    return `| \`${type}\` | ${sends} |`
  })
  const fields = strategies.map(({ type, forms }) =>
    forms.length === 1
      ? wrapped(`- \`${type}\`: ${forms.map(formText)}`)
      : `- \`${type}\`\n${forms.map((form) => wrapped(`  - ${formText(form)}`)).join('')}`,
  )
  return `${table(['type', 'what goes out'], rows)}\nThe fields of a credential for each, optional ones in brackets:\n\n${fields.join('')}`
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

function formText({ when = {}, fields }: CredentialFields): string {
  const fixed = Object.entries(when)
    .filter(([, values]) => !values.includes(undefined))
    .map(([name, values]) => `${name}: ${values.join(' \\| ')}`)
  const names = Object.entries(fields).filter(([name]) => !(name in when) && name !== 'sendTo')
  const required = names.filter(([, { required: isRequired }]) => isRequired).map(([name]) => name)
  const optional = names.filter(([, { required: isRequired }]) => !isRequired).map(([name]) => name)
  return [...fixed, ...required, ...(optional.length ? [`[${optional.join(', ')}]`] : [])].join(', ')
}

function httpSchemeTable(): string {
  const rows = schemes.map(({ name, about: { standard, browsers, steps, testedAgainst } }) =>
    [`| \`${name}\``, standard, browsers, steps, `${testedAgainst} |`].join(' | '),
  )
  return table(['scheme', 'standard', 'in browsers', 'requests', 'tested against'], rows)
}

function ruleTable(): string {
  const rows = rules.flatMap(({ meta: { id, section }, cases }) => {
    const name = `[\`${id}\`](rules/${id}.md)`
    const levels = cases.map(({ meta: { code, severity } }) => ({ code, levels: `${severity.recommended} | ${severity.strict}` }))
    if (levels.length === 1) return levels.map((one) => `| ${name} | ${one.levels} | ${section} |`)
    return [`| ${name} | | | ${section} |`, ...levels.map((one) => `| – \`${one.code}\` | ${one.levels} | |`)]
  })
  return table(['rule', 'recommended', 'strict', 'about'], rows)
}

function table(head: readonly string[], rows: readonly string[]): string {
  return [`| ${head.join(' | ')} |`, `|${' --- |'.repeat(head.length)}`, ...rows, ''].join('\n')
}
