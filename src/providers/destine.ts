import { credentialsOf, type Provider, type ProviderCredentials, type TokenValues } from './provider.ts'

const DESTINE = {
  id: 'destine',
  title: 'Destination Earth Data Lake',
  homepage: 'https://platform.destine.eu/',
  account: { url: 'https://auth.destine.eu/realms/desp/account/', text: 'Register there and accept the terms of the Data Lake.' },
  sources: [
    { url: 'https://github.com/CS-SI/eodag/blob/develop/eodag/resources/providers/dedl.yml', proves: 'hosts, realms, exchange of tokens' },
  ],
  checked: '2026-11-28',
  recognizes: {
    files: ['https://hda.data.destination-earth.eu/'],
    catalogs: ['https://hda.data.destination-earth.eu/stac/'],
    issuers: ['https://identity.data.destination-earth.eu/auth/realms/dedl', 'https://auth.destine.eu/realms/desp'],
    buckets: [],
  },
  ways: [
    {
      id: 'token',
      when: 'With an access token of the realm dedl, which a command of yours requests.',
      works: ['unattended'],
      holes: { token: { label: 'Access token', kind: 'secret', env: ['DESTINE_TOKEN'] } },
      credentials: [
        {
          id: 'destine',
          type: 'http',
          scheme: 'bearer',
          token: { hole: 'token' },
          sendTo: ['https://hda.data.destination-earth.eu/'],
          use: 'by-address',
        },
      ],
    },
  ],
  notes: [
    'The login has a redirect of its own, so that it reaches no command line: its token is exchanged for one of the Data Lake.',
    'Some files are ordered first.',
  ],
} as const satisfies Provider

/**
 * Returns credentials for the Data Lake of Destination Earth.
 *
 * @example createAuth({ credentials: [destine({ token: () => token() })] })
 */
export const destine: ProviderCredentials<TokenValues<'token'>> = /* @__PURE__ */ credentialsOf(DESTINE)
