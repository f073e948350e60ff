/** What is sent: signatures, forms, and texts from which secrets are removed. */
import fc from 'fast-check'
import { encodeForm } from '../../src/services/client/form.ts'
import { presign, signHeaders } from '../../src/strategies/s3/sigv4.ts'
import { Redactor } from '../../src/text/redactor.ts'
import { type RequestHead, verify } from '../servers/s3-signature.ts'
import { type Subject, subject } from './run-cases.ts'

const NOW = Date.UTC(2026, 10, 23, 12)
const keys = { accessKeyId: 'AKIDFUZZ', secretAccessKey: 'secret/of+fuzz' }
const pathPiece = fc.constantFrom(
  ...['a', 'Z9', '/', '//', '-._~', '%20', '%2F', '%2f', '%25', '+', ' ', '!', "'", '(', ')', '*', '&', '=', ';', ':', '@', ',', '$'],
  ...['\u00e9', '\u65e5\u672c', '\u{1f6f0}', '\u0301', '%C3%A9', '%41', '[', ']', '{', '}', '|', '^', '`', '"', '<', '>', '.tif', '...'],
)
const path = fc.array(pathPiece, { maxLength: 10 }).map((all) => all.join(''))
const queryPiece = fc.constantFrom(
  'a',
  'b=1',
  'versionId=x',
  'prefix=a%2Fb',
  'x=%20',
  'x=+',
  'x=a=b',
  'A=',
  '\u00fc=1',
  'a-=1',
  'a.b=2',
  '%41=1',
  '=',
)
const query = fc.array(queryPiece, { maxLength: 4 }).map((all) => (all.length > 0 ? `?${all.join('&')}` : ''))
const place = fc.constantFrom('https://s3.eu.example/', 'https://bucket.s3.eu.example:8443/', 'http://127.0.0.1:9000/bucket/')
const request = fc.tuple(place, path, query, fc.option(fc.integer({ min: 1, max: 604_800 })), fc.boolean(), fc.boolean())

/** As the request comes over the wire to a server of the service. */
function head(method: string, url: string, headers: Readonly<Record<string, string>>): RequestHead {
  const { host, pathname, search } = new URL(url)
  return { method, url: pathname + search, headers: { ...headers, host } }
}

const signatures = subject('request for an object has a signature that the service believes', 0.07, request, async (how) => {
  const [origin, below, search, expiresIn, hasToken, requesterPays] = how
  const all = { ...keys, ...(hasToken && { sessionToken: 'token/with+all==' }) }
  const options = { region: 'eu-central-1', now: NOW, requesterPays }
  const plain = { method: 'GET', url: origin + below + search, headers: { accept: '*/*' } }
  const signed = await (expiresIn === null ? signHeaders(plain, all, options) : presign(plain, all, { ...options, expiresIn }))
  if (JSON.stringify(signed).includes(all.secretAccessKey)) return 'holds the secret key'
  try {
    verify(head(signed.method, signed.url, signed.headers), { keys: [all], region: options.region, now: NOW })
  } catch (error) {
    return `${signed.url} is refused: ${error instanceof Error ? error.message : error}`
  }
  return undefined
})

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.constantFrom('__proto__', 'a[b]', '', '&=+%'),
)
const { tree } = fc.letrec((tie) => ({
  leaf: text,
  tree: fc.dictionary(text, fc.oneof({ maxDepth: 3 }, tie('leaf'), tie('tree'), fc.array(tie('leaf'), { minLength: 1, maxLength: 3 })), {
    minKeys: 1,
    maxKeys: 4,
  }),
}))

/** A second opinion on what brackets mean: lists are objects with numbers as names. */
function readBrackets(form: string): unknown {
  const root = Object.create(null)
  for (const pair of form.split('&')) {
    const [name = '', value = ''] = pair.split('=')
    const [first = '', ...rest] = name.split('[').map((part) => decodeURIComponent(part.replace(/\]$/, '')))
    const steps = [first, ...rest]
    let at = root
    for (const step of steps.slice(0, -1)) at = at[step] ??= Object.create(null)
    at[steps.at(-1) ?? ''] = decodeURIComponent(value)
  }
  return root
}

function listsAsMembers(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const copy = Object.create(null)
  for (const [name, member] of Object.entries(value)) copy[name] = listsAsMembers(member)
  return copy
}

/** Members in the order of their names. */
function ordered(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  return Object.entries(value)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => [name, ordered(member)])
}

const forms = subject('data that a form can express comes back from the form as it was', 0.03, tree, (data) => {
  const form = encodeForm(data as Record<string, unknown>)
  if (!/^[\w.~%=&[\]-]*$/.test(form)) return `${form} has other characters`
  return JSON.stringify(ordered(readBrackets(form))) === JSON.stringify(ordered(listsAsMembers(data))) ? undefined : form
})

const secretText = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 8, maxLength: 24 }),
  fc
    .tuple(fc.stringMatching(/^[A-Za-z0-9]{6,12}$/), fc.constantFrom('+/=', ' \u00fc"', '\\', '&%', '\u{1f511}'))
    .map((parts) => parts.join('')),
)
const ENCODINGS: Readonly<Record<string, (secret: string) => string>> = {
  plain: (secret) => secret,
  percent: encodeURIComponent,
  'lower-case percent': (secret) => encodeURIComponent(secret).replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
  base64: (secret) => Buffer.from(secret).toString('base64'),
  base64url: (secret) => Buffer.from(secret).toString('base64url'),
  json: (secret) => JSON.stringify(secret).slice(1, -1),
}

const redactions = subject(
  'text has lost the secret in each encoding',
  0.03,
  fc.tuple(secretText, fc.constantFrom(...Object.keys(ENCODINGS)), fc.string({ maxLength: 20 }), fc.string({ maxLength: 20 })),
  ([secret, encoding, before, after]) => {
    if (!secret.isWellFormed()) return undefined
    const encoded = ENCODINGS[encoding]?.(secret) ?? ''
    const redactor = new Redactor()
    redactor.add(secret)
    const shown = redactor.scrub(`${before} ${encoded} ${after}`)
    return shown.includes(encoded) ? `${encoding}: ${shown}` : undefined
  },
)

export const requestSubjects: readonly Subject[] = [signatures, forms, redactions]
