/** The archive of the demo with one GeoTIFF behind every scheme, a public copy of it, and a user who has all credentials. */
import { randomBytes } from 'node:crypto'
import { STARTERS } from '../../examples/demo/archive.ts'
import { credentialsFor } from '../../examples/demo/credentials.ts'
import { randomSecrets, type Secrets } from '../../examples/demo/secrets.ts'
import { type Servers, startServers } from '../../examples/demo/servers.ts'
import { asset, item, type Json } from '../harness/documents.ts'
import { geotiff, pattern } from '../harness/geotiff.ts'
import { type AnsweringServer, type Inquiry, jsonAnswer, startAnswering } from '../servers/answering-server.ts'
import { dpopResource } from '../servers/dpop-resource.ts'
import { accountOf, type Guard, sameText } from '../servers/guards.ts'
import { TEST_CA } from '../servers/harness.ts'
import { isSignedBy, publicKeyOf, readJws, thumbprintOf } from '../servers/jws.ts'
import { protectedFiles, startProtectedFiles } from '../servers/protected-files.ts'
import { type ShellUser, shellUser } from './shell-user.ts'

const IMAGE = pattern(640, 480)
const FILE = geotiff(IMAGE)

/** Seconds after which access tokens end. */
const TOKEN_LIFE = 5

export interface GatewayArchive {
  readonly servers: Servers
  readonly secrets: Secrets
  /** URL of the copy that anybody may read. */
  readonly publicCopy: string
  /** An Item whose asset `data` needs a token that is bound to a key (RFC 9449) and ends after {@link TOKEN_LIFE}. */
  readonly boundItem: Json
  /** Somebody with all credentials, in a folder of their own. */
  user(variables?: Readonly<Record<string, string>>): Promise<ShellUser>
  close(): Promise<void>
}

export async function startGatewayArchive(): Promise<GatewayArchive> {
  const secrets = randomSecrets()
  const files: typeof STARTERS.files = (served, certified) =>
    startProtectedFiles(Object.fromEntries(Object.entries(served).map(([path, file]) => [path, { ...file, content: FILE }])), certified)
  const servers = await startServers(secrets, {
    ...STARTERS,
    files,
    blobs: files,
    sealed: (served) =>
      STARTERS.sealed(Object.fromEntries(Object.entries(served).map(([path, file]) => [path, { ...file, content: FILE }]))),
    tokens: (options) => STARTERS.tokens({ ...options, lifetime: TOKEN_LIFE }),
    s3: (options) => STARTERS.s3({ ...options, objects: { 'vault/data.bin': FILE } }),
  })
  const open = await startProtectedFiles({ '/data.bin': { content: FILE } })
  const bound = await startBoundFile(secrets.clientSecret)
  return {
    servers,
    secrets,
    publicCopy: `${open.origin}/data.bin`,
    boundItem: item(
      { o: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: `${bound.origin}/token`, scopes: {} } } } },
      { data: asset(`${bound.origin}/data.bin`, ['o']) },
    ),
    user: async (variables = {}) => {
      const user = await shellUser(
        (keep) => [
          ...credentialsFor(servers.addresses, (name) => keep(secrets[name])),
          {
            id: 'bound',
            type: 'oauth2',
            flow: 'clientCredentials',
            tokenUrl: `${bound.origin}/token`,
            clientId: 'bound',
            clientSecret: keep(secrets.clientSecret),
            dpop: true,
            sendTo: [`${bound.origin}/data.bin`],
          },
        ],
        { NODE_EXTRA_CA_CERTS: CA_VARIABLE, ...variables },
      )
      await user.put('ca.pem', TEST_CA)
      return user
    },
    close: async () => {
      await Promise.all([servers, open, bound].map((server) => server.close()))
    },
  }
}

/** Relative to the folder in which the user runs commands. */
const CA_VARIABLE = 'ca.pem'

/** A token endpoint that binds its tokens to the key of the proof (RFC 9449 §5), and a file for such tokens, until they end. */
function startBoundFile(secret: string): Promise<AnsweringServer> {
  const tokens = new Map<string, { guard: Guard; ends: number }>()
  const issue = ({ headers }: Inquiry) => {
    const proof = String(headers.dpop ?? '')
    const key = publicKeyOf(readJws(proof)?.header.jwk)
    if (!sameText(accountOf({ headers } as Inquiry) ?? '', `bound:${secret}`)) return jsonAnswer(401, { error: 'invalid_client' })
    if (!key || !isSignedBy(proof, key)) return jsonAnswer(400, { error: 'invalid_dpop_proof' })
    const token = randomBytes(24).toString('base64url')
    tokens.set(token, { guard: dpopResource({ token, jkt: thumbprintOf(key) }), ends: Date.now() + TOKEN_LIFE * 1000 })
    return jsonAnswer(200, { access_token: token, token_type: 'DPoP', expires_in: TOKEN_LIFE })
  }
  const guard: Guard = (request) => {
    const known = tokens.get((request.headers.authorization ?? '').replace(/^DPoP /, ''))
    if (known && known.ends > Date.now()) return known.guard(request)
    return { status: 401, headers: { 'www-authenticate': 'DPoP error="invalid_token", algs="ES256"' } }
  }
  const serve = protectedFiles({ '/data.bin': { content: FILE, guard } })
  return startAnswering((request) => (request.path === '/token' && request.method === 'POST' ? issue(request) : serve(request)))
}
