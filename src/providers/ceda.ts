import { credentialsOf, type Provider, type ProviderCredentials, type TokenValues } from './provider.ts'

const CEDA = {
  id: 'ceda',
  title: 'CEDA Archive',
  homepage: 'https://www.ceda.ac.uk/',
  account: { url: 'https://services.ceda.ac.uk/', text: 'Log in and create an access token.' },
  sources: [{ url: 'https://help.ceda.ac.uk/article/5100-archive-access-tokens', proves: 'token as Bearer, host of files, terms' }],
  checked: '2026-11-28',
  recognizes: { files: ['https://dap.ceda.ac.uk/'], catalogs: ['https://api.stac.ceda.ac.uk/'], issuers: [], buckets: [] },
  ways: [
    {
      id: 'token',
      when: 'Data sets that need a login, with an access token.',
      works: ['unattended'],
      holes: { token: { label: 'Access token', kind: 'secret', env: ['CEDA_TOKEN'] } },
      credentials: [
        {
          id: 'ceda',
          type: 'http',
          scheme: 'bearer',
          token: { hole: 'token' },
          sendTo: ['https://dap.ceda.ac.uk/'],
          use: 'by-address',
        },
      ],
    },
  ],
  notes: ['Access tokens end after some days.', 'Some data sets open only after their licence was accepted; many are public.'],
} as const satisfies Provider

/**
 * Returns credentials for the CEDA Archive.
 *
 * @example createAuth({ credentials: [ceda({ token })] })
 */
export const ceda: ProviderCredentials<TokenValues<'token'>> = /* @__PURE__ */ credentialsOf(CEDA)
