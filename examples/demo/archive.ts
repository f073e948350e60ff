/** The servers that keep files and open them. Each checks what it is sent, as a server in the world would. */
import { createHash, randomBytes } from 'node:crypto'
import { bearerGuard, type Guard, sameText } from '../../test/servers/guards.ts'
import { CERTIFIED } from '../../test/servers/harness.ts'
import { type IssuerKey, issuerKey, privateTokenGuard, REQUEST_PATH, startTokenIssuer } from '../../test/servers/private-token-server.ts'
import { type ServedFile, startProtectedFiles } from '../../test/servers/protected-files.ts'
import { startS3Server } from '../../test/servers/s3-server.ts'
import { startSigningServer } from '../../test/servers/signing-server.ts'
import { startTokenServer } from '../../test/servers/token-server.ts'
import { createUrlSigner } from '../../test/servers/url-signer.ts'
import { type Addresses, CLIENT_ID, REGION, SCOPE } from './addresses.ts'
import { guardsFor, sealedGuards } from './guards.ts'
import type { Secrets } from './secrets.ts'

/** How each server is started; a test puts one in that does not check. */
export const STARTERS = {
  files: startProtectedFiles,
  tokens: startTokenServer,
  issuer: startTokenIssuer,
  sealed: (files: Parameters<typeof startProtectedFiles>[0]) => startProtectedFiles(files, CERTIFIED),
  signing: startSigningServer,
  blobs: startProtectedFiles,
  s3: startS3Server,
}

export interface Archive {
  readonly addresses: Addresses
  /** SHA-256 of the file at a URL of a document, in hex. */
  digestAt(href: string): string
  /** How many requests came in. */
  requests(): number
  /** How many answers gave a file away. */
  deliveries(): number
  close(): Promise<void>
}

/** RSA keys take long to make: all archives of a process share this one. */
let sharedKey: IssuerKey | undefined

/** Starts the servers; they believe these secrets and no others. */
export async function startArchive(secrets: Secrets, start: typeof STARTERS): Promise<Archive> {
  const signer = createUrlSigner({ key: randomBytes(32) })
  const tokens = await start.tokens({ client: { id: CLIENT_ID, secret: secrets.clientSecret, scopes: [SCOPE] } })
  const byToken = bearerGuard((token) => sameText(token, secrets.token))
  const byClient = bearerGuard((token) => tokens.accepts(token, SCOPE))
  sharedKey ??= issuerKey()
  const key = sharedKey
  const issuer = await start.issuer(key, secrets.token)
  const stored = randomBytes(65_536)
  const served = behind({
    ...guardsFor(secrets),
    '/bearer/data.bin': byToken,
    '/oauth2/data.bin': byClient,
    '/privatetoken/data.bin': privateTokenGuard({ key }),
  })
  const signed = behind({ '/images/data.bin': signer.guard, '/archive/data.bin': signer.guard })
  const bound = behind(sealedGuards(secrets))
  const files = await start.files(served)
  const sealed = await start.sealed(bound)
  const blobs = await start.blobs(signed)
  const signing = await start.signing({ signer, objects: blobs.origin, get: byToken, post: byClient })
  const s3 = await start.s3({ objects: { 'vault/data.bin': stored }, keys: [secrets], region: REGION })
  const answering = [files, sealed, tokens, issuer, signing, blobs]
  const contents: Readonly<Record<string, ServedFile>> = { ...served, ...bound, ...signed, '/vault/data.bin': { content: stored } }
  return {
    addresses: {
      files: files.origin,
      sealed: sealed.origin,
      tokenUrl: tokens.tokenUrl,
      issuerRequestUri: `${issuer.origin}${REQUEST_PATH}`,
      signing: signing.origin,
      blobs: blobs.origin,
      s3: s3.url,
    },
    digestAt: (href) => sha256(contents[pathOf(href)]?.content ?? ''),
    requests: () => answering.reduce((sum, { exchanges }) => sum + exchanges.length, s3.log.length),
    deliveries: () => {
      const answers = [...files.exchanges, ...sealed.exchanges, ...blobs.exchanges].map(({ answer }) => answer)
      return [...answers, ...s3.log].filter(({ status }) => status < 300).length
    },
    close: async () => {
      await Promise.all([...answering, s3].map((server) => server.close()))
    },
  }
}

/** SHA-256 in hex. */
export function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}

/** A file of random bytes for each guard, so that nothing can be right by chance. */
function behind(guards: Readonly<Record<string, Guard>>): Readonly<Record<string, ServedFile>> {
  return Object.fromEntries(Object.entries(guards).map(([path, guard], index) => [path, { guard, content: randomBytes(65_536 + index) }]))
}

function pathOf(href: string): string {
  const { protocol, host, pathname } = new URL(href)
  return protocol === 's3:' ? `/${host}${pathname}` : pathname
}
