import { type ClientValues, credentialsOf, type Provider, type ProviderCredentials, type TokenValues } from './provider.ts'

const UMBRA = {
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
  recognizes: { files: ['https://api.canopy.umbra.space/'], catalogs: ['https://api.canopy.umbra.space/'], issuers: [], buckets: [] },
  ways: [
    {
      id: 'client',
      when: 'Programs, with the client of your organization.',
      works: ['unattended'],
      holes: {
        clientId: { label: 'Client id', kind: 'text' },
        clientSecret: { label: 'Client secret', kind: 'secret', env: ['UMBRA_CLIENT_SECRET'] },
      },
      credentials: [
        {
          id: 'umbra',
          type: 'oauth2',
          flow: 'clientCredentials',
          tokenUrl: 'https://auth.canopy.umbra.space/oauth/token',
          clientId: { hole: 'clientId' },
          clientSecret: { hole: 'clientSecret' },
          clientAuthentication: 'post',
          audience: 'https://api.canopy.umbra.space',
          sendTo: ['https://api.canopy.umbra.space/'],
          use: 'by-address',
        },
      ],
    },
    {
      id: 'token',
      when: 'A person, with the token of the account page.',
      works: ['unattended'],
      holes: { token: { label: 'Token of the account page', kind: 'secret', env: ['UMBRA_API_TOKEN'] } },
      credentials: [
        {
          id: 'umbra-token',
          type: 'http',
          scheme: 'bearer',
          token: { hole: 'token' },
          sendTo: ['https://api.canopy.umbra.space/'],
          use: 'by-address',
        },
      ],
    },
  ],
  notes: ['A token is valid for 24 hours; about 50 may be requested in a day.'],
} as const satisfies Provider

/**
 * Returns credentials for Umbra Canopy: of a client, or of a token.
 *
 * @example createAuth({ credentials: [umbra({ clientId, clientSecret })] })
 */
export const umbra: ProviderCredentials<ClientValues<'client'> | TokenValues<'token'>> = /* @__PURE__ */ credentialsOf(UMBRA)
