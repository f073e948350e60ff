import { keyWay } from './facts.ts'
import { credentialsOf, type ProviderCredentials, type TokenValues } from './provider.ts'

const BDC = 'https://data.inpe.br/bdc/'
const OLDER = 'https://brazildatacube.dpi.inpe.br/'

/**
 * Returns credentials for the Brazil Data Cube.
 *
 * @example createAuth({ credentials: [brazilDataCube({ token })] })
 */
export const brazilDataCube: ProviderCredentials<TokenValues<'token'>> = /* @__PURE__ */ credentialsOf(() => ({
  id: 'brazil-data-cube',
  title: 'Brazil Data Cube (INPE)',
  homepage: 'https://data.inpe.br/bdc/',
  account: { url: 'https://data.inpe.br/bdc/', text: 'Register there and create a personal access token.' },
  sources: [
    { url: 'https://github.com/brazil-data-cube/rstac/blob/master/R/signatures.R', proves: 'parameter of the token, its variable, no end' },
    { url: 'https://data.inpe.br/bdc/web/en/stac-spatiotemporal-asset-catalog-2', proves: 'address of the STAC API' },
  ],
  checked: '2026-11-28',
  recognizes: { files: [BDC, OLDER], catalogs: ['https://data.inpe.br/bdc/stac/', OLDER] },
  ways: [
    keyWay({
      credential: 'brazil-data-cube',
      id: 'token',
      when: 'Files that are not public: the token is in the query, where servers may log it.',
      hole: 'token',
      label: 'Personal access token',
      in: 'query',
      name: 'access_token',
      env: ['BDC_ACCESS_KEY'],
      sendTo: [BDC, OLDER],
    }),
  ],
  notes: ['Many collections are public and need no token.'],
}))
