/** An entry for everything that can answer a request: each HTTP word, ready-made text, and each other scheme type. */
import type { CredentialObject } from '../../src/auth/credential.ts'
import type { HttpAuthScheme } from '../../src/strategies/http/http-strategy.ts'
import { schemes } from '../../src/strategies/http/schemes.ts'
import { canary } from '../harness/canary.ts'
import { testKey } from '../harness/keys.ts'
import { DATA, entries, SIGN_URL } from '../harness/victim.ts'

/** What stands in every secret field, so that it is found wherever it goes. */
export const secret = canary('contract')

export const KEYS = { rsa: testKey.rsa().pem, ed25519: testKey.ed25519().pem, p256: testKey.p256().pem }

export interface Subject {
  readonly name: string
  readonly entry: CredentialObject
}

/** Values that satisfy a field by its name, else by its kind. */
const VALUES: Readonly<Record<string, unknown>> = { username: 'ada', subject: 'mailto:ada@example.org', keyId: 'a2V5' }

const { account: _account, ...others } = entries

const PASS = { id: 'pass', type: 'http', scheme: 'privatetoken', issuerName: 'issuer.example', sendTo: DATA }

/** Every subject once for each kind of key that its entry could hold; a word takes those that it can sign with. */
export const subjects: readonly Subject[] = [
  ...schemes.flatMap(wordSubjects),
  { name: 'privatetoken with an issuer', entry: { ...PASS, issuer: async () => secret.value } },
  { name: 'privatetoken with an address', entry: { ...PASS, issuerRequestUri: SIGN_URL } },
  { name: 'ready-made text', entry: { id: 'x', type: 'http', scheme: 'x-unknown', credentials: secret.value, sendTo: DATA } },
  ...Object.values(others).map((entry) => ({ name: `${entry.type} ${entry.id}`, entry })),
  {
    name: 's3',
    entry: { id: 's3', type: 's3', accessKeyId: 'AKID', secretAccessKey: secret.value, region: 'eu', endpoint: DATA, sendTo: 's3://eo/' },
  },
]

/** All fields, and only those that are required: a new word is covered without a change here. */
function wordSubjects(scheme: HttpAuthScheme): readonly Subject[] {
  const required = Object.keys(scheme.fields).filter((name) => scheme.fields[name]?.required)
  const sets = [required, Object.keys(scheme.fields).filter((name) => scheme.fields[name]?.kind !== 'texts')]
  return sets.flatMap((names) => {
    const keys = names.includes('privateKey') ? (['rsa', 'ed25519', 'p256'] as const) : ([undefined] as const)
    return keys.map((key) => ({
      name: [scheme.name, ...(names === required ? [] : ['with every field']), ...(key ? [key] : [])].join(' '),
      entry: {
        id: scheme.name,
        type: 'http',
        scheme: scheme.name,
        ...Object.fromEntries(names.map((name) => [name, sample(scheme, name, key)])),
        sendTo: DATA,
      },
    }))
  })
}

function sample({ fields }: HttpAuthScheme, name: string, key: keyof typeof KEYS | undefined): unknown {
  const { kind, values } = fields[name] ?? {}
  if (name === 'privateKey' && key) return KEYS[key]
  if (kind === 'boolean') return true
  return VALUES[name] ?? values?.[0] ?? (kind === 'text' ? name : secret.value)
}
