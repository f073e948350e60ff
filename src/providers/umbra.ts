import { client, clientWay, tokenWay } from './facts.ts'
import { type ClientValues, credentialsOf, type ProviderCredentials, type TokenValues } from './provider.ts'

const API = 'https://api.canopy.umbra.space/'

/**
 * Returns credentials for Umbra Canopy: of a client, or of a token.
 *
 * @example createAuth({ credentials: [umbra({ clientId, clientSecret })] })
 */
export const umbra: ProviderCredentials<ClientValues<'client'> | TokenValues<'token'>> = /* @__PURE__ */ credentialsOf(() => ({
  id: 'umbra',
  title: 'Umbra Canopy',
  homepage: 'https://umbra.space/',
  account: { url: 'https://canopy.umbra.space/', text: 'The organization page makes a client, the account page a token for a day.' },
  sources: [
    {
      url: 'https://docs.canopy.umbra.space/docs/authentication-via-client-credentials',
      proves: 'token endpoint, audience, limit of tokens',
    },
    { url: 'https://docs.canopy.umbra.space/docs/authentication', proves: 'tokens of the account page' },
    { url: 'https://docs.canopy.umbra.space/docs/migrate-to-stac-api-v2', proves: 'address of the STAC API' },
  ],
  checked: '2026-11-28',
  recognizes: { files: [API], catalogs: [API] },
  ways: [
    clientWay({
      credential: 'umbra',
      when: 'Programs, with the client of your organization.',
      holes: client([], ['UMBRA_CLIENT_SECRET']),
      tokenUrl: 'https://auth.canopy.umbra.space/oauth/token',
      more: { clientAuthentication: 'post', audience: 'https://api.canopy.umbra.space' },
      sendTo: [API],
    }),
    tokenWay({
      credential: 'umbra-token',
      when: 'A person, with the token of the account page.',
      label: 'Token of the account page',
      env: ['UMBRA_API_TOKEN'],
      sendTo: [API],
    }),
  ],
  notes: ['A token is valid for 24 hours; about 50 may be requested in a day.'],
}))
