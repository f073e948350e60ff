/** What the demo protects: a file for each scheme, and which credential of the user opens it. */
import type { AuthScheme } from 'stac-auth'
import { type Addresses, PORTAL_WORD, SCOPE } from './addresses.ts'

/** A file and what opens it. */
export interface Holding {
  /** Name of the scheme in the documents. */
  readonly name: string
  /** Type of the scheme and what kind of it. */
  readonly title: string
  readonly scheme: AuthScheme
  readonly href: string
  /** Id of the credential that opens it. */
  readonly credential: string
  /** The code of the refusal when a secret of that credential is wrong. */
  readonly refusal: 'AUTH_REJECTED' | 'OAUTH_ERROR' | 'HTTP_404'
  /** The authorization belongs to the connection that carries it, so it is not handed out. */
  readonly bound?: true
}

/** The files, with the servers at these URLs. */
export function holdingsAt(addresses: Addresses): readonly Holding[] {
  return [
    ...httpHoldings(addresses),
    sealedHolding(addresses),
    ...keyHoldings(addresses),
    oauthHolding(addresses),
    ...signedHoldings(addresses),
    S3_HOLDING,
  ]
}

const refusal = 'AUTH_REJECTED'

const PASSWORDS = ['basic', 'digest', 'mutual', 'scram-sha-1', 'scram-sha-256']
const KNOWN = [...PASSWORDS, 'bearer', 'dpop', 'gnap', 'hoba', 'oauth', 'privatetoken', 'vapid'].sort()
const WORDS = [...KNOWN, PORTAL_WORD]
/** Credentials that are not called as the word is. */
const ENTRIES: Readonly<Record<string, string>> = { basic: 'ada', bearer: 'mission' }

function httpHoldings({ files }: Addresses): readonly Holding[] {
  return WORDS.map((scheme) => {
    const word = scheme.toLowerCase()
    return {
      name: `http-${word}`,
      title: `http ${word}`,
      scheme: { type: 'http', scheme },
      href: `${files}/${word}/data.bin`,
      credential: ENTRIES[word] ?? word,
      refusal,
    }
  })
}

/** Who cannot prove anything is told that there is nothing. */
function sealedHolding({ sealed }: Addresses): Holding {
  const scheme = 'concealed'
  return {
    name: `http-${scheme}`,
    title: `http ${scheme}`,
    scheme: { type: 'http', scheme },
    href: `${sealed}/${scheme}/data.bin`,
    credential: scheme,
    refusal: 'HTTP_404',
    bound: true,
  }
}

function keyHoldings({ files }: Addresses): readonly Holding[] {
  const places = [
    ['header', 'X-Api-Key'],
    ['query', 'apikey'],
    ['cookie', 'session'],
  ] as const
  return places.map(([place, name]) => ({
    name: `key-${place}`,
    title: `apiKey ${place}`,
    scheme: { type: 'apiKey', in: place, name },
    href: `${files}/key/${place}.bin`,
    credential: `${place}-key`,
    refusal,
  }))
}

function oauthHolding({ files, tokenUrl }: Addresses): Holding {
  return {
    name: 'oauth2',
    title: 'oauth2 clientCredentials',
    scheme: { type: 'oauth2', flows: { clientCredentials: { tokenUrl, scopes: { [SCOPE]: 'Read files' } } } },
    href: `${files}/oauth2/data.bin`,
    credential: 'client',
    refusal: 'OAUTH_ERROR',
  }
}

/** One signing API wants the URL, the other bucket and key; both ask for a credential of their own. */
function signedHoldings({ signing, blobs }: Addresses): readonly Holding[] {
  const inQuery = { in: 'query', required: true } as const
  const inBody = { in: 'body', required: true } as const
  const get = { method: 'GET', authorizationApi: `${signing}/get/sign`, parameters: { href: inQuery }, responseField: 'href' }
  const parameters = { bucket: inBody, key: inBody }
  const post = { method: 'POST', authorizationApi: `${signing}/post/sign`, parameters, responseField: 'signed_url' }
  return [
    {
      name: 'signed-get',
      title: 'signedUrl GET',
      scheme: { type: 'signedUrl', flows: { authorizationCode: get } },
      href: `${blobs}/images/data.bin`,
      credential: 'get-signer',
      refusal,
    },
    {
      name: 'signed-post',
      title: 'signedUrl POST',
      scheme: { type: 'signedUrl', flows: { authorizationCode: post } },
      href: 's3://archive/data.bin',
      credential: 'post-signer',
      refusal: 'OAUTH_ERROR',
    },
  ]
}

const S3_HOLDING: Holding = { name: 's3', title: 's3', scheme: { type: 's3' }, href: 's3://vault/data.bin', credential: 'store', refusal }
