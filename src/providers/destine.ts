import { eodag, tokenWay } from './facts.ts'
import { credentialsOf, type ProviderCredentials, type TokenValues } from './provider.ts'

const FILES = 'https://hda.data.destination-earth.eu/'

/**
 * Returns credentials for the Data Lake of Destination Earth.
 *
 * @example createAuth({ credentials: [destine({ token: () => token() })] })
 */
export const destine: ProviderCredentials<TokenValues<'token'>> = /* @__PURE__ */ credentialsOf(() => ({
  id: 'destine',
  title: 'Destination Earth Data Lake',
  homepage: 'https://platform.destine.eu/',
  account: { url: 'https://auth.destine.eu/realms/desp/account/', text: 'Register there and accept the terms of the Data Lake.' },
  sources: [eodag('dedl', 'hosts, realms, exchange of tokens')],
  checked: '2026-11-28',
  recognizes: {
    files: [FILES],
    catalogs: ['https://hda.data.destination-earth.eu/stac/'],
    issuers: ['https://identity.data.destination-earth.eu/auth/realms/dedl', 'https://auth.destine.eu/realms/desp'],
  },
  ways: [
    tokenWay({
      credential: 'destine',
      when: 'With an access token of the realm dedl, which a command of yours requests.',
      env: ['DESTINE_TOKEN'],
      sendTo: [FILES],
    }),
  ],
  notes: [
    'The login has a redirect of its own, so that it reaches no command line: its token is exchanged for one of the Data Lake.',
    'Some files are ordered first.',
  ],
}))
