/** A document that its server does not show without a credential: `setup` asks for one. The user says which, and sees the host. */

import type { AuthError } from '../../errors.ts'
import { isAddress } from '../../http/url.ts'
import type { StacDocument } from '../../stac/document.ts'
import type { AuthScheme } from '../../stac/scheme.ts'
import { discoveryUrl } from '../../strategies/oauth2/server.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import { forUrl } from '../../text/sanitize.ts'
import { askAll } from '../credentials/create-credentials.ts'
import { needsOf, privateOriginsOf } from '../credentials/missing-credentials.ts'
import { userCredentials } from '../credentials/needed-credentials.ts'
import { urlText } from '../credentials/question.ts'
import type { Terminal } from '../credentials/terminal.ts'
import { openAuth } from '../open-auth.ts'
import type { Run } from './run.ts'

type Scheme = Readonly<Record<string, unknown>>

/** A kind of credential that a server may want, and its letter in the question. */
interface Kind {
  readonly letter: string
  readonly label: string
  /** HTTP authentication schemes (RFC 9110 §11.1) that it answers. */
  readonly answers: readonly string[]
  /** Asks for the rest. */
  scheme(terminal: Terminal, offered: readonly string[]): Promise<Scheme>
}

const KINDS: readonly Kind[] = [
  {
    letter: 'u',
    label: '[u]ser name and password',
    answers: ['basic', 'digest'],
    scheme: async (_terminal, offered) => ({ type: 'http', scheme: offered.find((name) => name === 'digest') ?? 'basic' }),
  },
  { letter: 't', label: '[t]oken', answers: ['bearer'], scheme: async () => ({ type: 'http', scheme: 'bearer' }) },
  { letter: 'k', label: 'API [k]ey', answers: [], scheme: keyScheme },
  { letter: 'o', label: '[o]penID Connect login', answers: ['bearer', 'dpop'], scheme: providerScheme },
]

const USUAL_KEY = 'x-api-key'

async function keyScheme(terminal: Terminal): Promise<Scheme> {
  for (;;) {
    const answer = (await terminal.ask(`  Name of its header, or ?NAME of its query parameter [${USUAL_KEY}]: `)) || USUAL_KEY
    const [, query, name = ''] = /^(\??)([\w.~-]+)$/.exec(answer) ?? []
    if (name !== '') return { type: 'apiKey', in: query ? 'query' : 'header', name }
  }
}

async function providerScheme(terminal: Terminal): Promise<Scheme> {
  for (;;) {
    const answer = await terminal.ask('  URL of the provider (its issuer, or its discovery document): ')
    if (isAddress(answer) && canParseUrl(answer)) return { type: 'openIdConnect', openIdConnectUrl: discoveryUrl(answer) }
    await terminal.say('  enter a URL that begins with https://, as the documentation of the provider gives it\n')
  }
}

/**
 * Asks for the credential of a document after its server refused it to a request without one. Returns the ids of the credentials that
 * were written; none without a terminal, after a redirect to another origin, and where the user does not agree.
 *
 * The challenge of the server selects among the questions. It creates no credential and names no endpoint.
 *
 * @param name the URL of the document
 * @param refusal the error of reading it
 */
export async function credentialOfDocument(name: string, { url, expected = '' }: AuthError, run: Run): Promise<readonly string[]> {
  if (!isAddress(name) || url === undefined || new URL(url).origin !== new URL(name).origin) return []
  const offered = expected.split(' ').filter(Boolean)
  const scheme = await chosenScheme(run.errand.terminal, name, offered)
  return scheme ? askFor(name, scheme, run) : []
}

/** Asks which kind of credential it is, unless the server offers only one kind. */
async function chosenScheme(terminal: Terminal, name: string, offered: readonly string[]): Promise<Scheme | undefined> {
  const { origin } = new URL(name)
  const known = offered.map((one) => one.toLowerCase())
  const why = offered.length === 0 ? 'and does not say which' : `(${offered.map((one) => urlText(one)).join(', ')})`
  await terminal.say(`${urlText(forUrl(name))} cannot be read yet: ${urlText(origin)} requires a credential ${why}\n`)
  const suitable = KINDS.filter(({ answers }) => answers.some((one) => known.includes(one)))
  const kinds = suitable.length === 0 ? KINDS : suitable
  const [only] = kinds
  if (only && kinds.length === 1) return only.scheme(terminal, known)
  for (;;) {
    const answer = await terminal.ask(`Which do you have for ${urlText(origin)}?  ${kinds.map(({ label }) => label).join(' / ')} / [S]kip `)
    const kind = kinds.find(({ letter }) => answer.toLowerCase().startsWith(letter))
    if (kind) return kind.scheme(terminal, known)
    if (answer === '' || /^s/i.test(answer)) return undefined
  }
}

/** Asks as for a link of a document with that scheme, so that the same confirmation shows where the secret goes. */
async function askFor(name: string, scheme: Scheme, { options, errand, context }: Run): Promise<readonly string[]> {
  const { hostname } = new URL(name)
  const read = { document: documentWith(name, hostname, scheme as AuthScheme), url: name }
  const auth = await openAuth(context, { ...options, mayBeMissing: true }, [name, ...(await privateOriginsOf(read))])()
  const { wanted } = await needsOf(read, auth)
  const { file, credentials } = await userCredentials(options, context)
  const places = wanted.map((one) => ({ ...one, places: one.places.map((place) => ({ ...place, counts: { document: 1 } })) }))
  // No `document`: the scheme is the user's, so it is not remembered as one that the document states.
  const occasion = { title: forUrl(name), file, credentials, settings: options, errand }
  return askAll(places, occasion, context)
}

function documentWith(href: string, name: string, scheme: AuthScheme): StacDocument {
  const links = [{ rel: 'self', href, 'auth:refs': [name] }]
  return { type: 'Catalog', stac_version: '1.1.0', id: name, description: name, 'auth:schemes': { [name]: scheme }, links }
}
