/** What is measured: entries, what they have loaded after a first use, and the packages of others beside them. */

/** One row: the modules that are there in the end, those of `atOnce` already before anything is used. */
export interface Measured {
  readonly name: string
  /** A path, or the name of a package. */
  readonly atOnce: string
  /** What `import()` has brought until the first use is done. */
  readonly later?: readonly string[]
}

const CORE = 'dist/index.js'
/** Entries read, a request sent, the answer read. */
const FETCH = ['dist/auth/engine.js']
const LOGIN = [
  'dist/strategies/open-id-connect.js',
  'dist/strategies/oauth2/login.js',
  'dist/strategies/oauth2/authorization-code.js',
  'dist/strategies/oauth2/library.js',
]

/** The core, with each strategy after one `fetch` by it. */
export const STRATEGIES: readonly Measured[] = [
  { ...fetched('no credential, a public asset', []), later: FETCH },
  fetched('`apiKey`', ['dist/strategies/api-key.js']),
  { ...fetched('`apiKey` by `stac-auth/engine`', ['dist/strategies/api-key.js']), atOnce: 'dist/engine.js' },
  fetched('`http`: `basic`, `bearer`, ready-made text', ['dist/strategies/http/http.js']),
  fetched('`http`: `digest` (SHA-256)', ['dist/strategies/http/http.js', 'dist/strategies/http/digest.js']),
  fetched('`oauth2`: client credentials', ['dist/strategies/oauth2/oauth2.js', 'dist/strategies/oauth2/library.js']),
  fetched('`openIdConnect` with a finished token', ['dist/strategies/http/http.js', 'dist/strategies/open-id-connect.js']),
  fetched('`openIdConnect` with a login', LOGIN),
  fetched('`signedUrl`', ['dist/strategies/signed-url/signed-url.js']),
  fetched('`s3`', ['dist/strategies/s3/s3.js']),
]

/** The rows of pages whose scripts are counted, with the most that they may load. */
export const MOST_SCRIPTS: Readonly<Record<string, number>> = {
  '`http`: `basic`, `bearer`, ready-made text': 10,
  '`openIdConnect` with a login': 14,
}

/** What a login with OpenID Connect comes to: the core and all that it loads. */
export const OPEN_ID_LOGIN: readonly string[] = [CORE, ...FETCH, ...LOGIN]

/** Entries beside the core. */
export const ENTRIES: readonly Measured[] = [
  { name: '`stac-auth/engine`', atOnce: 'dist/engine.js' },
  { name: '`stac-auth/lint`', atOnce: 'dist/lint/index.js' },
  { name: '`stac-auth/lint/on-demand`', atOnce: 'dist/lint/on-demand.js', later: ['dist/lint/lint.js'] },
  { name: '`stac-auth/crawl`', atOnce: 'dist/crawl/index.js' },
  { name: '`stac-auth/objects`', atOnce: 'dist/objects/index.js' },
  { name: '`stac-auth/providers`, all of them', atOnce: 'dist/providers/index.js' },
  { name: '`stac-auth/browser`', atOnce: 'dist/browser/index.js' },
  { name: '`stac-auth/element`', atOnce: 'dist/element/index.js', later: ['dist/element/provider-view.js', 'dist/browser/form-models.js'] },
  { name: '`stac-auth/clients`', atOnce: 'dist/services/client/index.js' },
  { name: '`stac-auth/translation`', atOnce: 'dist/services/translation/index.js' },
  { name: '`stac-auth/time-tracking`', atOnce: 'dist/services/time-tracking/index.js' },
]

/** Packages that browsers load for a part of this. */
export const OTHERS: readonly Measured[] = [
  { name: '`oidc-client-ts`: logins with OpenID Connect, nothing else', atOnce: 'oidc-client-ts' },
  { name: '`openid-client`, all of it', atOnce: 'openid-client' },
  { name: '`aws4fetch`: signatures of S3, nothing else', atOnce: 'aws4fetch' },
]

function fetched(name: string, later: readonly string[]): Measured {
  return { name, atOnce: CORE, later: [...FETCH, ...later] }
}
