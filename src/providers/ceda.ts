import { tokenWay } from './facts.ts'
import { credentialsOf, type ProviderCredentials, type TokenValues } from './provider.ts'

const FILES = 'https://dap.ceda.ac.uk/'

/**
 * Returns credentials for the CEDA Archive.
 *
 * @example createAuth({ credentials: [ceda({ token })] })
 */
export const ceda: ProviderCredentials<TokenValues<'token'>> = /* @__PURE__ */ credentialsOf(() => ({
  id: 'ceda',
  title: 'CEDA Archive',
  homepage: 'https://www.ceda.ac.uk/',
  account: { url: 'https://services.ceda.ac.uk/', text: 'Log in and create an access token.' },
  sources: [{ url: 'https://help.ceda.ac.uk/article/5100-archive-access-tokens', proves: 'token as Bearer, host of files, terms' }],
  checked: '2026-11-28',
  recognizes: { files: [FILES], catalogs: ['https://api.stac.ceda.ac.uk/'] },
  ways: [
    tokenWay({
      credential: 'ceda',
      when: 'Data sets that need a login, with an access token.',
      env: ['CEDA_TOKEN'],
      sendTo: [FILES],
    }),
  ],
  notes: ['Access tokens end after some days.', 'Some data sets open only after their licence was accepted; many are public.'],
}))
