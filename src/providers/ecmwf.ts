/** The data stores of ECMWF, which have one API. */
import { eodag, keyWay } from './facts.ts'
import { type ApiKeyValues, credentialsOf, type ProviderCredentials, type ProviderFacts } from './provider.ts'

interface DataStore {
  readonly id: string
  readonly title: string
  /** Its host, as a URL with a slash at its end. */
  readonly host: string
  /** Name of its file in EODAG, whose requests and URLs of orders are taken over. */
  readonly source: string
}

function dataStore({ id, title, host, source }: DataStore): ProviderFacts {
  const api = `${host}api/`
  return {
    id,
    title,
    homepage: host,
    account: { url: `${host}profile`, text: 'Log in and copy the API key of your profile.' },
    sources: [
      eodag(source, 'host and paths of the API, header of the key'),
      {
        url: 'https://github.com/ecmwf/ecmwf-datastores-client/blob/main/ecmwf/datastores/client.py',
        proves: 'header of the key, variables',
      },
      {
        url: 'https://github.com/ecmwf/ecmwf-datastores-client/blob/main/ecmwf/datastores/processing.py',
        proves: 'jobs, their states and results',
      },
    ],
    checked: '2026-11-28',
    recognizes: { files: [api], catalogs: [api] },
    ways: [
      keyWay({
        credential: id,
        when: 'The API and its results, with the key of your profile.',
        name: 'PRIVATE-TOKEN',
        env: ['ECMWF_DATASTORES_KEY', 'CDSAPI_KEY'],
        sendTo: [api],
      }),
    ],
    notes: [
      'Files are made on request: a job is ordered first, and its result is a file.',
      'Each data set opens only after its licence was accepted.',
    ],
    order: {
      files: [`${api}retrieve/v1/processes/{dataset}/execution`],
      parameters: ['inputs'],
      request: { method: 'POST', url: '{href}', body: { inputs: { hole: 'inputs' } }, answer: { job: '/jobID' } },
      status: {
        url: `${api}retrieve/v1/jobs/{job}`,
        state: '/status',
        ready: ['successful'],
        failed: ['failed', 'dismissed', 'deleted'],
      },
      result: { url: `${api}retrieve/v1/jobs/{job}/results`, answer: { location: '/asset/value/href' } },
      location: '{location}',
    },
  }
}

/**
 * Returns credentials for the Copernicus Atmosphere Data Store.
 *
 * @example createAuth({ credentials: [ecmwfAds({ apiKey: key })] })
 */
export const ecmwfAds: ProviderCredentials<ApiKeyValues<'key'>> = /* @__PURE__ */ credentialsOf(() =>
  dataStore({
    id: 'ecmwf-ads',
    title: 'Copernicus Atmosphere Data Store',
    host: 'https://ads.atmosphere.copernicus.eu/',
    source: 'cop_ads',
  }),
)

/**
 * Returns credentials for the Copernicus Climate Data Store.
 *
 * @example createAuth({ credentials: [ecmwfCds({ apiKey: key })] })
 */
export const ecmwfCds: ProviderCredentials<ApiKeyValues<'key'>> = /* @__PURE__ */ credentialsOf(() =>
  dataStore({ id: 'ecmwf-cds', title: 'Copernicus Climate Data Store', host: 'https://cds.climate.copernicus.eu/', source: 'cop_cds' }),
)

/**
 * Returns credentials for the CEMS Early Warning Data Store.
 *
 * @example createAuth({ credentials: [ecmwfEwds({ apiKey: key })] })
 */
export const ecmwfEwds: ProviderCredentials<ApiKeyValues<'key'>> = /* @__PURE__ */ credentialsOf(() =>
  dataStore({ id: 'ecmwf-ewds', title: 'CEMS Early Warning Data Store', host: 'https://ewds.climate.copernicus.eu/', source: 'cop_ewds' }),
)
