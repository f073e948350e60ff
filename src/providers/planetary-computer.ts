import { eodag, secretHole } from './facts.ts'
import { type ApiKeyValues, credentialsOf, type NoValues, type ProviderCredentials, type Way } from './provider.ts'

const SITE = 'https://planetarycomputer.microsoft.com/'
const API = `${SITE}api/sas/v1/`

/** Storage accounts in the collection templates of the Planetary Computer; those of previews are public and need no signature. */
const ACCOUNTS = [
  'ai4edataeuwest astersa bingmlbuildings cpdataeuwest daymeteuwest deltaresfloodssa deltaresreservoirssa',
  'elevationeuwest goeseuwest hls2euwest hreadatasa landcoverdata landsateuwest modiseuwest mrms naipeuwest',
  'nasademeuwest nasagddp nclimgridwesteurope noaacdr noaahrrr noaanormals nrcanlandcovereuwest pcdata01euw',
  'pcstacitems rhgeuwest sentinel1euwest sentinel1euwestrtc sentinel2l2a01 sentinel3euwest sentinel5euwest',
  'soils ukmoeuwest usgslidareuwest',
]

const files = () =>
  ACCOUNTS.join(' ')
    .split(' ')
    .map((account) => `https://${account}.blob.core.windows.net/`)

/** URLs of files are signed one by one. */
const signed = (more: { readonly with?: string } = {}) => ({
  id: 'planetary-computer',
  type: 'signedUrl',
  authorizationApi: `${API}sign`,
  method: 'GET',
  ...more,
  signedUrlHosts: ['https://*.blob.core.windows.net/'],
  sendTo: files(),
  use: 'by-address',
})

const ways = (): readonly Way[] => [
  {
    id: 'no-account',
    when: 'Enough for most: URLs are signed without an account.',
    works: ['page', 'unattended'],
    holes: {},
    credentials: [signed()],
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
        authorizationApi: `${API}token/{account}/{container}`,
        method: 'GET',
        answer: 'query',
        responseField: 'token',
        signedUrlHosts: files(),
        sendTo: files(),
        use: 'by-address',
      },
    ],
  },
  {
    id: 'key',
    when: 'With a subscription key, which raises the limits of the signing API.',
    works: ['unattended'],
    holes: { apiKey: secretHole('Subscription key', ['PC_SDK_SUBSCRIPTION_KEY']) },
    credentials: [
      {
        id: 'planetary-computer-key',
        type: 'apiKey',
        in: 'header',
        name: 'Ocp-Apim-Subscription-Key',
        value: { hole: 'apiKey' },
        sendTo: [API],
      },
      signed({ with: 'planetary-computer-key' }),
    ],
  },
]

/**
 * Returns credentials for the Planetary Computer, which signs URLs without an account, or with a subscription key.
 *
 * @example createAuth({ credentials: [planetaryComputer()] })
 */
export const planetaryComputer: ProviderCredentials<NoValues<'no-account'> | NoValues<'container'> | ApiKeyValues<'key'>> =
  /* @__PURE__ */ credentialsOf(() => ({
    id: 'planetary-computer',
    title: 'Microsoft Planetary Computer',
    homepage: SITE,
    account: { url: SITE, text: 'No account is needed; a subscription key raises the limits.' },
    sources: [
      {
        url: 'https://github.com/microsoft/planetary-computer-sdk-for-python/blob/main/planetary_computer/sas.py',
        proves: 'what is signed, tokens of containers, members of the answer, the header of the key',
      },
      eodag('planetary_computer', 'signing of single URLs by href, member href'),
      { url: 'https://github.com/microsoft/planetary-computer-tasks/tree/main/datasets', proves: 'storage accounts of the collections' },
    ],
    checked: '2026-11-28',
    recognizes: { files: files(), catalogs: [SITE], filesOfCatalogsOnly: true },
    ways: ways(),
    notes: [
      'Azure answers 404 or 409 to a request without a signature.',
      'One signature opens a whole container for a limited time.',
      'abfs: URLs are requested at the https URL of the account that the asset states.',
      'Files on a storage account that is not listed are not signed: add it with `stac-auth credentials trust`.',
    ],
  }))
