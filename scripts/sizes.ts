/** What pages load: entries, what they have loaded after a first use, the packages of others beside them, and what each may take. */

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
const LOGIN = ['dist/strategies/open-id-connect.js', 'dist/strategies/oauth2/authorization-code.js', 'dist/strategies/oauth2/library.js']

/** The core, with each strategy after one `fetch` by it. */
export const STRATEGIES: readonly Measured[] = [
  { ...fetched('no credential, a public asset', []), later: FETCH },
  fetched('`apiKey`', ['dist/strategies/api-key.js']),
  { ...fetched('`apiKey` by `createEngine`', ['dist/strategies/api-key.js']), atOnce: 'dist/auth/create-engine.js' },
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
  '`http`: `basic`, `bearer`, ready-made text': 9,
  '`openIdConnect` with a login': 16,
}

/** What a login with OpenID Connect comes to: the core and all that it loads. */
export const OPEN_ID_LOGIN: readonly string[] = [CORE, ...FETCH, ...LOGIN]

/** Entries beside the core. */
export const ENTRIES: readonly Measured[] = [
  { name: '`createEngine` of `stac-auth`', atOnce: 'dist/auth/create-engine.js' },
  { name: '`lint` of `stac-auth/lint`', atOnce: 'dist/lint/lint.js' },
  { name: '`lintOnDemand` of `stac-auth/lint`', atOnce: 'dist/lint/on-demand.js', later: ['dist/lint/lint.js'] },
  { name: '`stac-auth/crawl`', atOnce: 'dist/crawl/index.js' },
  { name: '`stac-auth/objects`', atOnce: 'dist/objects/index.js' },
  { name: '`stac-auth/providers`, all of them', atOnce: 'dist/providers/index.js' },
  { name: '`createLogins` of `stac-auth/browser`', atOnce: 'dist/browser/logins.js' },
  { name: '`createLiveAuth` of `stac-auth/browser`', atOnce: 'dist/browser/live-auth.js' },
  { name: '`stac-auth/element`', atOnce: 'dist/element/index.js', later: ['dist/element/provider-view.js', 'dist/browser/form-models.js'] },
  { name: '`stac-auth/clients`', atOnce: 'dist/services/client/index.js' },
  { name: '`stac-auth/translation`', atOnce: 'dist/services/translation/index.js' },
  { name: '`stac-auth/time-tracking`', atOnce: 'dist/services/time-tracking/index.js' },
]

const CARDS = ['dist/element/provider-view.js', 'dist/browser/form-models.js', 'dist/strategies/api-key.js']

/** The program of docs/embed.md, with what has been loaded when it has done this. */
export const EMBEDDED: readonly { readonly name: string; readonly later: readonly string[] }[] = [
  { name: 'at once', later: [] },
  { name: 'after a user has typed a key, and a file was read with it', later: [...FETCH, ...CARDS] },
  { name: 'after a login with OpenID Connect, too', later: [...FETCH, ...CARDS, ...LOGIN, 'dist/browser/logins.js'] },
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

/** Budgets in bytes, minified and compressed with gzip. */
export const BUDGETS: readonly { readonly entry: string; readonly budget: number }[] = [
  { entry: 'dist/index.js', budget: 15_000 },
  { entry: 'dist/auth/create-engine.js', budget: 15_000 },
  { entry: 'dist/lint/index.js', budget: 38_000 },
  { entry: 'dist/lint/lint.js', budget: 33_000 },
  { entry: 'dist/lint/on-demand.js', budget: 2_800 },
  { entry: 'dist/crawl/index.js', budget: 17_500 },
  // One provider, and all of them with the recognizer.
  { entry: 'dist/providers/copernicus.js', budget: 3_500 },
  { entry: 'dist/providers/index.js', budget: 22_000 },
  { entry: 'dist/browser/logins.js', budget: 6_500 },
  // With the core, as all of the entry point contains `createLiveAuth`.
  { entry: 'dist/browser/index.js', budget: 23_500 },
  { entry: 'dist/browser/live-auth.js', budget: 18_000 },
  { entry: 'dist/element/index.js', budget: 12_000 },
  // With the engine; in the translation client all operations, without sessions of voice and what few need.
  { entry: 'dist/services/client/index.js', budget: 34_000 },
  { entry: 'dist/services/translation/index.js', budget: 49_500 },
  { entry: 'dist/services/time-tracking/index.js', budget: 36_500 },
]

/** For the core and everything that a login with OpenID Connect loads. */
export const OPEN_ID_LOGIN_BUDGET = 66_000

/** For the file for pages without a bundler, which contains everything. */
export const BUNDLE_BUDGET = 151_000

/** What each adapter may take, in bytes as above, without the library that it serves; the one for a validator never runs in a browser. */
export const ADAPTER_BUDGETS: Readonly<Record<string, number>> = {
  axios: 5_500,
  geotiff: 5_500,
  hyparquet: 5_500,
  maplibre: 6_000,
  'ol-stac': 7_000,
  openlayers: 6_000,
  requests: 5_500,
  'service-worker': 1_500,
  'stac-browser': 8_500,
  'stac-js': 2_000,
  'stac-react': 5_000,
  zarrita: 5_500,
}
