/** What each runtime is asked to do; run by `runtimes.test.ts`. */
import { assetOf, bearer, createAuth } from 'stac-auth'
import { lint } from 'stac-auth/lint'

const SCHEMES = {
  bearer: { type: 'http', scheme: 'bearer' },
  digest: { type: 'http', scheme: 'digest' },
  key: { type: 'apiKey', in: 'header', name: 'x-api-key' },
  s3: { type: 's3' },
  private: { type: 'http', scheme: 'PrivateToken' },
}

const itemWith = (href, ref, schemes = SCHEMES) => ({
  type: 'Feature',
  stac_version: '1.0.0',
  stac_extensions: ['https://stac-extensions.github.io/authentication/v1.1.0/schema.json'],
  id: 'scene',
  geometry: null,
  properties: { datetime: '2026-01-01T00:00:00Z', 'auth:schemes': schemes },
  assets: { x: { href, 'auth:refs': [ref] } },
  links: [],
})

/** Returns the result of each task by name: a text, or the code of its error. */
export async function probe(base, other) {
  const sendTo = [`${base}/`]
  const text = async (credentials, href, ref, schemes) => {
    const auth = createAuth({ credentials, typed: [base, other] })
    return (await auth.fetch(assetOf(itemWith(href, ref, schemes), 'x'))).text()
  }
  const key = { id: 'key', type: 'apiKey', in: 'header', name: 'x-api-key', value: 'right-key', sendTo }
  const digest = { id: 'digest', type: 'http', scheme: 'digest', username: 'ada', password: 'right-password', sendTo }
  const tokenUrl = `${base}/token`
  const oauth2 = { id: 'o', type: 'oauth2', flow: 'clientCredentials', tokenUrl, clientId: 'c', clientSecret: 's', sendTo }
  const flows = { o: { type: 'oauth2', flows: { clientCredentials: { tokenUrl, scopes: {} } } } }
  const s3 = {
    id: 's3',
    type: 's3',
    accessKeyId: 'AKIDEXAMPLE',
    secretAccessKey: 'secret',
    region: 'eu-central-1',
    sendTo: ['s3://bucket/'],
  }
  const issued = {
    id: 'pass',
    type: 'http',
    scheme: 'privatetoken',
    issuerName: 'issuer.example',
    issuerRequestUri: 'https://issuer.example/',
    sendTo,
  }
  const variable = { id: 'e', type: 'http', scheme: 'bearer', token: { env: 'PROBE_TOKEN' }, sendTo }
  const tasks = {
    bearer: () => text(bearer('right-token', base), `${base}/file`, 'bearer'),
    wrong: () => text(bearer('wrong-token', base), `${base}/file`, 'bearer'),
    redirect: () => text(bearer('right-token', base), `${base}/redirect`, 'bearer'),
    elsewhere: () => text(bearer('right-token', base), `${base}/elsewhere`, 'bearer'),
    keyElsewhere: () => text([key], `${base}/elsewhere`, 'key'),
    digest: () => text([digest], `${base}/digest`, 'digest'),
    oauth2: () => text([oauth2], `${base}/file`, 'o', flows),
    variable: () => text([variable], `${base}/file`, 'bearer'),
    closed: () => text(bearer('right-token', 'http://127.0.0.1:9/'), 'http://127.0.0.1:9/', 'bearer'),
    private: () => text(bearer('right-token', 'https://data.example/'), 'https://169.254.169.254/x', 'bearer'),
    issued: () => text([issued], `${base}/file`, 'private'),
    s3: async () => {
      const { headers } = await createAuth({ credentials: [s3] }).authorize(assetOf(itemWith('s3://bucket/key', 's3'), 'x'))
      return Object.keys(headers).sort().join()
    },
    lint: async () =>
      lint(itemWith('https://data.example/x', 'missing', { bearer: SCHEMES.bearer }))
        .map(({ code, rule }) => code ?? rule)
        .sort()
        .join(),
  }
  const results = {}
  for (const [name, task] of Object.entries(tasks)) {
    results[name] = await task().catch((error) => error.code ?? String(error))
  }
  return results
}
