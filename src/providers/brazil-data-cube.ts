import { credentialsOf, type Provider, type ProviderCredentials, type TokenValues } from './provider.ts'

const BDC = {
  id: 'brazil-data-cube',
  title: 'Brazil Data Cube (INPE)',
  homepage: 'https://data.inpe.br/bdc/',
  account: { url: 'https://data.inpe.br/bdc/', text: 'Register there and create a personal access token.' },
  sources: [
    { url: 'https://github.com/brazil-data-cube/rstac/blob/master/R/signatures.R', proves: 'parameter of the token, its variable, no end' },
    { url: 'https://data.inpe.br/bdc/web/en/stac-spatiotemporal-asset-catalog-2', proves: 'address of the STAC API' },
  ],
  checked: '2026-11-28',
  recognizes: {
    files: ['https://data.inpe.br/bdc/', 'https://brazildatacube.dpi.inpe.br/'],
    catalogs: ['https://data.inpe.br/bdc/stac/', 'https://brazildatacube.dpi.inpe.br/'],
    issuers: [],
    buckets: [],
  },
  ways: [
    {
      id: 'token',
      when: 'Files that are not public: the token is in the query, where servers may log it.',
      works: ['unattended'],
      holes: { token: { label: 'Personal access token', kind: 'secret', env: ['BDC_ACCESS_KEY'] } },
      credentials: [
        {
          id: 'brazil-data-cube',
          type: 'apiKey',
          in: 'query',
          name: 'access_token',
          value: { hole: 'token' },
          sendTo: ['https://data.inpe.br/bdc/', 'https://brazildatacube.dpi.inpe.br/'],
          use: 'by-address',
        },
      ],
    },
  ],
  notes: ['Many collections are public and need no token.'],
} as const satisfies Provider

/**
 * Returns credentials for the Brazil Data Cube.
 *
 * @example createAuth({ credentials: [brazilDataCube({ token })] })
 */
export const brazilDataCube: ProviderCredentials<TokenValues<'token'>> = /* @__PURE__ */ credentialsOf(BDC)
