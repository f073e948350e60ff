import { type ApiKeyValues, credentialsOf, type Provider, type ProviderCredentials } from './provider.ts'

const ADS = {
  id: 'ecmwf-ads',
  title: 'Copernicus Atmosphere Data Store',
  homepage: 'https://ads.atmosphere.copernicus.eu/',
  account: { url: 'https://ads.atmosphere.copernicus.eu/profile', text: 'Log in and copy the API key of your profile.' },
  sources: [
    {
      url: 'https://github.com/CS-SI/eodag/blob/develop/eodag/resources/providers/cop_ads.yml',
      proves: 'host and paths of the API, header of the key',
    },
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
  recognizes: {
    files: ['https://ads.atmosphere.copernicus.eu/api/'],
    catalogs: ['https://ads.atmosphere.copernicus.eu/api/'],
    issuers: [],
    buckets: [],
  },
  ways: [
    {
      id: 'key',
      when: 'The API and its results, with the key of your profile.',
      works: ['unattended'],
      holes: { apiKey: { label: 'API key', kind: 'secret', env: ['ECMWF_DATASTORES_KEY', 'CDSAPI_KEY'] } },
      credentials: [
        {
          id: 'ecmwf-ads',
          type: 'apiKey',
          in: 'header',
          name: 'PRIVATE-TOKEN',
          value: { hole: 'apiKey' },
          sendTo: ['https://ads.atmosphere.copernicus.eu/api/'],
          use: 'by-address',
        },
      ],
    },
  ],
  notes: [
    'Files are made on request: a job is ordered first, and its result is a file.',
    'Each data set opens only after its licence was accepted.',
  ],
  // EODAG's cop_ads.yml has the requests, and writes such URLs as order links; states by ecmwf/datastores/processing.py.
  order: {
    files: ['https://ads.atmosphere.copernicus.eu/api/retrieve/v1/processes/{dataset}/execution'],
    parameters: ['inputs'],
    request: { method: 'POST', url: '{href}', body: { inputs: { hole: 'inputs' } }, answer: { job: '/jobID' } },
    status: {
      url: 'https://ads.atmosphere.copernicus.eu/api/retrieve/v1/jobs/{job}',
      state: '/status',
      ready: ['successful'],
      failed: ['failed', 'dismissed', 'deleted'],
    },
    result: { url: 'https://ads.atmosphere.copernicus.eu/api/retrieve/v1/jobs/{job}/results', answer: { location: '/asset/value/href' } },
    location: '{location}',
  },
} as const satisfies Provider

/**
 * Returns credentials for the Copernicus Atmosphere Data Store.
 *
 * @example createAuth({ credentials: [ecmwfAds({ apiKey: key })] })
 */
export const ecmwfAds: ProviderCredentials<ApiKeyValues<'key'>> = /* @__PURE__ */ credentialsOf(ADS)
