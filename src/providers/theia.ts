import { credentialsOf, type KeyValues, type Provider, type ProviderCredentials } from './provider.ts'

const THEIA = {
  id: 'theia',
  title: 'Data Terra Theia',
  homepage: 'https://www.theia-land.fr/',
  account: { url: 'https://gate.stac.teledetection.fr', text: 'Log in and create an API key: an access key and a secret key.' },
  sources: [
    {
      url: 'https://github.com/CS-SI/eodag/blob/develop/eodag/resources/providers/theia.yml',
      proves: 'STAC API, signing by URL, headers of the keys, member of the answer, host of the files',
    },
    {
      url: 'https://github.com/teledec/teledetection',
      proves: 'STAC API of the older catalog, page of API keys, environment variables, form and life of signed URLs',
    },
  ],
  checked: '2026-11-28',
  recognizes: {
    files: ['https://s3-data.meso.umontpellier.fr/'],
    catalogs: ['https://api.datastore-mtd.theia.data-terra.org/', 'https://api.stac.teledetection.fr/'],
    issuers: [],
    buckets: [],
  },
  ways: [
    {
      id: 'key',
      when: 'All files, with an API key: URLs are signed with it.',
      works: ['unattended'],
      holes: {
        accessKeyId: { label: 'Access key', kind: 'secret', env: ['TLD_ACCESS_KEY'] },
        secretAccessKey: { label: 'Secret key', kind: 'secret', env: ['TLD_SECRET_KEY'] },
      },
      credentials: [
        {
          id: 'theia',
          type: 'signedUrl',
          authorizationApi: 'https://signing.stac.teledetection.fr/sign',
          method: 'GET',
          query: { url: '{url}' },
          headers: { 'access-key': { hole: 'accessKeyId' }, 'secret-key': { hole: 'secretAccessKey' } },
          signedUrlHosts: ['https://s3-data.meso.umontpellier.fr/'],
          sendTo: ['https://s3-data.meso.umontpellier.fr/'],
          use: 'by-address',
        },
      ],
    },
  ],
  notes: ['A signed URL is valid for some hours.', 'The keys are for the signing API; the object store does not accept them.'],
} as const satisfies Provider

/**
 * Returns credentials for Theia, which signs URLs with an API key.
 *
 * @example createAuth({ credentials: [theia({ accessKeyId: key, secretAccessKey: secret })] })
 */
export const theia: ProviderCredentials<KeyValues<'key'>> = /* @__PURE__ */ credentialsOf(THEIA)
