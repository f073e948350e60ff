/** The servers behind the page: the page's own, a catalog, an archive, an OpenID provider, and a host of a stranger. */
import { type Answer, type AnsweringServer, type Inquiry, startAnswering } from '../../../test/servers/answering-server.ts'
import { type AuthorizationServer, startAuthorizationServer } from '../../../test/servers/authorization-server.ts'
import { crossOrigin } from '../../../test/servers/cross-origin.ts'
import { keyGuard } from '../../../test/servers/guards.ts'
import { protectedFiles } from '../../../test/servers/protected-files.ts'
import type { BuiltFile } from '../../browser/build.ts'
import { foundItems, siteDocuments } from './documents.ts'
import { guardedFiles, KEY_HEADER, memberFiles, paintScenes } from './holdings.ts'
import { pageAnswers } from './page-answers.ts'
import { searchAnswers } from './search.ts'
import type { SiteSecrets } from './secrets.ts'

export interface Site {
  /** URL of the page. */
  readonly url: string
  readonly page: AnsweringServer
  readonly catalog: AnsweringServer
  readonly archive: AnsweringServer
  readonly provider: AuthorizationServer
  /** Gives everything to everybody, and remembers who asked. */
  readonly evil: AnsweringServer
  close(): Promise<void>
}

const CLIENT = 'catalog-browser'

/** Starts all on free ports of 127.0.0.1; `files` are those of the built page. `more` are further origins that the page may ask. */
export async function startSite(files: ReadonlyMap<string, BuiltFile>, secrets: SiteSecrets, more: readonly string[] = []): Promise<Site> {
  let answerPage: (request: Inquiry) => Answer = () => ({ status: 503 })
  const page = await startAnswering((request) => answerPage(request))
  const provider = await quietly(() => startAuthorizationServer({ pages: page.origin, clients: [clientOf(page.origin)] }))
  const scenes = paintScenes()
  const allowed = { origin: page.origin, headers: `authorization, range, ${KEY_HEADER}` }
  const archive = await startAnswering(crossOrigin(archiveOf(scenes, secrets, provider), allowed))
  const everything = Object.fromEntries(
    Object.entries(memberFiles(scenes)).map(([path, { content, type }]) => [path, { content, ...(type && { type }) }]),
  )
  const evil = await startAnswering(
    crossOrigin(protectedFiles(everything), { origin: '*', headers: `authorization, range, ${KEY_HEADER}` }),
  )
  let documents: ReturnType<typeof siteDocuments> = {}
  let search: (request: Inquiry) => Answer | undefined = () => undefined
  const catalog = await startAnswering(crossOrigin((request) => search(request) ?? protectedFiles(published(documents))(request), allowed))
  const addresses = { catalog: catalog.origin, archive: archive.origin, issuer: provider.issuer, evil: evil.origin }
  documents = siteDocuments(addresses)
  search = searchAnswers(foundItems(addresses), keyGuard('header', KEY_HEADER, secrets.key))
  answerPage = pageAnswers(files, { ...addresses, more, clientId: CLIENT, siteToken: secrets.siteToken })
  return {
    url: `${page.origin}/`,
    page,
    catalog,
    archive,
    provider,
    evil,
    close: async () => {
      await Promise.all([page, catalog, archive, provider, evil].map((server) => server.close()))
    },
  }
}

/** The provider warns of settings that are wrong for servers that stay, and right for a demo. */
async function quietly<T>(start: () => Promise<T>): Promise<T> {
  const { warn } = console
  console.warn = () => {}
  try {
    return await start()
  } finally {
    console.warn = warn
  }
}

/** A client for pages: no secret, and its URLs known to the provider (RFC 8252 does not apply: it is on the web). */
function clientOf(origin: string) {
  return {
    client_id: CLIENT,
    token_endpoint_auth_method: 'none',
    application_type: 'web' as const,
    redirect_uris: [`${origin}/callback.html`],
    post_logout_redirect_uris: [`${origin}/`],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    scope: 'openid offline_access read',
  }
}

/** Members are asked for a token of the provider; the other files have a guard each. */
function archiveOf(scenes: ReturnType<typeof paintScenes>, secrets: SiteSecrets, provider: AuthorizationServer) {
  const members = protectedFiles(memberFiles(scenes))
  const others = protectedFiles(guardedFiles(scenes, secrets))
  return async (request: Inquiry): Promise<Answer> => {
    if (!request.path.startsWith('/members/')) return others(request)
    const [, token = ''] = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '') ?? []
    if ((await provider.accountOf(token)) !== undefined) return members(request)
    return { status: 401, headers: { 'www-authenticate': 'Bearer realm="members"' } }
  }
}

function published(documents: ReturnType<typeof siteDocuments>) {
  const entries = Object.entries(documents)
  return Object.fromEntries(entries.map(([path, value]) => [path, { content: JSON.stringify(value, null, 2), type: 'application/json' }]))
}
