import { eodag, keyPair } from './facts.ts'
import { credentialsOf, type KeyValues, type ProviderCredentials } from './provider.ts'

const FILES = 'https://s3-data.meso.umontpellier.fr/'

/**
 * Returns credentials for Theia, which signs URLs with an API key.
 *
 * @example createAuth({ credentials: [theia({ accessKeyId: key, secretAccessKey: secret })] })
 */
export const theia: ProviderCredentials<KeyValues<'key'>> = /* @__PURE__ */ credentialsOf(() => ({
  id: 'theia',
  title: 'Data Terra Theia',
  homepage: 'https://www.theia-land.fr/',
  account: { url: 'https://gate.stac.teledetection.fr', text: 'Log in and create an API key: an access key and a secret key.' },
  sources: [
    eodag('theia', 'STAC API, signing by URL, headers of the keys, member of the answer, host of the files'),
    {
      url: 'https://github.com/teledec/teledetection',
      proves: 'STAC API of the older catalog, page of API keys, environment variables, form and life of signed URLs',
    },
  ],
  checked: '2026-11-28',
  recognizes: { files: [FILES], catalogs: ['https://api.datastore-mtd.theia.data-terra.org/', 'https://api.stac.teledetection.fr/'] },
  ways: [
    {
      id: 'key',
      when: 'All files, with an API key: URLs are signed with it.',
      works: ['unattended'],
      holes: keyPair('TLD'),
      credentials: [
        {
          id: 'theia',
          type: 'signedUrl',
          authorizationApi: 'https://signing.stac.teledetection.fr/sign',
          method: 'GET',
          query: { url: '{url}' },
          headers: { 'access-key': { hole: 'accessKeyId' }, 'secret-key': { hole: 'secretAccessKey' } },
          signedUrlHosts: [FILES],
          sendTo: [FILES],
          use: 'by-address',
        },
      ],
    },
  ],
  notes: ['A signed URL is valid for some hours.', 'The keys are for the signing API; the object store does not accept them.'],
}))
