import { type ApiKeyValues, credentialsOf, type NoValues, type Provider, type ProviderCredentials } from './provider.ts'

/** Storage accounts in the collection templates of the Planetary Computer; those of previews are public and need no signature. */
const FILES = [
  'https://ai4edataeuwest.blob.core.windows.net/',
  'https://astersa.blob.core.windows.net/',
  'https://bingmlbuildings.blob.core.windows.net/',
  'https://cpdataeuwest.blob.core.windows.net/',
  'https://daymeteuwest.blob.core.windows.net/',
  'https://deltaresfloodssa.blob.core.windows.net/',
  'https://deltaresreservoirssa.blob.core.windows.net/',
  'https://elevationeuwest.blob.core.windows.net/',
  'https://goeseuwest.blob.core.windows.net/',
  'https://hls2euwest.blob.core.windows.net/',
  'https://hreadatasa.blob.core.windows.net/',
  'https://landcoverdata.blob.core.windows.net/',
  'https://landsateuwest.blob.core.windows.net/',
  'https://modiseuwest.blob.core.windows.net/',
  'https://mrms.blob.core.windows.net/',
  'https://naipeuwest.blob.core.windows.net/',
  'https://nasademeuwest.blob.core.windows.net/',
  'https://nasagddp.blob.core.windows.net/',
  'https://nclimgridwesteurope.blob.core.windows.net/',
  'https://noaacdr.blob.core.windows.net/',
  'https://noaahrrr.blob.core.windows.net/',
  'https://noaanormals.blob.core.windows.net/',
  'https://nrcanlandcovereuwest.blob.core.windows.net/',
  'https://pcdata01euw.blob.core.windows.net/',
  'https://pcstacitems.blob.core.windows.net/',
  'https://rhgeuwest.blob.core.windows.net/',
  'https://sentinel1euwest.blob.core.windows.net/',
  'https://sentinel1euwestrtc.blob.core.windows.net/',
  'https://sentinel2l2a01.blob.core.windows.net/',
  'https://sentinel3euwest.blob.core.windows.net/',
  'https://sentinel5euwest.blob.core.windows.net/',
  'https://soils.blob.core.windows.net/',
  'https://ukmoeuwest.blob.core.windows.net/',
  'https://usgslidareuwest.blob.core.windows.net/',
] as const

const PLANETARY_COMPUTER = {
  id: 'planetary-computer',
  title: 'Microsoft Planetary Computer',
  homepage: 'https://planetarycomputer.microsoft.com/',
  account: { url: 'https://planetarycomputer.microsoft.com/', text: 'No account is needed; a subscription key raises the limits.' },
  sources: [
    {
      url: 'https://github.com/microsoft/planetary-computer-sdk-for-python/blob/main/planetary_computer/sas.py',
      proves: 'what is signed, tokens of containers, members of the answer, the header of the key',
    },
    {
      url: 'https://github.com/CS-SI/eodag/blob/develop/eodag/resources/providers/planetary_computer.yml',
      proves: 'signing of single URLs by href, member href',
    },
    { url: 'https://github.com/microsoft/planetary-computer-tasks/tree/main/datasets', proves: 'storage accounts of the collections' },
  ],
  checked: '2026-11-28',
  recognizes: {
    files: FILES,
    catalogs: ['https://planetarycomputer.microsoft.com/'],
    issuers: [],
    buckets: [],
    filesOfCatalogsOnly: true,
  },
  ways: [
    {
      id: 'no-account',
      when: 'Enough for most: URLs are signed without an account.',
      works: ['page', 'unattended'],
      holes: {},
      credentials: [
        {
          id: 'planetary-computer',
          type: 'signedUrl',
          authorizationApi: 'https://planetarycomputer.microsoft.com/api/sas/v1/sign',
          method: 'GET',
          signedUrlHosts: ['https://*.blob.core.windows.net/'],
          sendTo: FILES,
          use: 'by-address',
        },
      ],
    },
    {
      id: 'container',
      when: 'For Zarr and many files: one token for each container, and the API is not told which files are read.',
      works: ['page', 'unattended'],
      holes: {},
      credentials: [
        {
          id: 'planetary-computer',
          type: 'signedUrl',
          authorizationApi: 'https://planetarycomputer.microsoft.com/api/sas/v1/token/{account}/{container}',
          method: 'GET',
          answer: 'query',
          responseField: 'token',
          signedUrlHosts: FILES,
          sendTo: FILES,
          use: 'by-address',
        },
      ],
    },
    {
      id: 'key',
      when: 'With a subscription key, which raises the limits of the signing API.',
      works: ['unattended'],
      holes: { apiKey: { label: 'Subscription key', kind: 'secret', env: ['PC_SDK_SUBSCRIPTION_KEY'] } },
      credentials: [
        {
          id: 'planetary-computer-key',
          type: 'apiKey',
          in: 'header',
          name: 'Ocp-Apim-Subscription-Key',
          value: { hole: 'apiKey' },
          sendTo: ['https://planetarycomputer.microsoft.com/api/sas/v1/'],
        },
        {
          id: 'planetary-computer',
          type: 'signedUrl',
          authorizationApi: 'https://planetarycomputer.microsoft.com/api/sas/v1/sign',
          method: 'GET',
          with: 'planetary-computer-key',
          signedUrlHosts: ['https://*.blob.core.windows.net/'],
          sendTo: FILES,
          use: 'by-address',
        },
      ],
    },
  ],
  notes: [
    'Azure answers 404 or 409 to a request without a signature.',
    'One signature opens a whole container for a limited time.',
    'abfs: URLs are requested at the https URL of the account that the asset states.',
    'Files on a storage account that is not listed are not signed: add it with `stac-auth credentials trust`.',
  ],
} as const satisfies Provider

/**
 * Returns credentials for the Planetary Computer, which signs URLs without an account, or with a subscription key.
 *
 * @example createAuth({ credentials: [planetaryComputer()] })
 */
export const planetaryComputer: ProviderCredentials<NoValues<'no-account'> | NoValues<'container'> | ApiKeyValues<'key'>> =
  /* @__PURE__ */ credentialsOf(PLANETARY_COMPUTER)
