/** The user's credentials in this tab, and the engine that uses them. */
import { type CredentialInput, createAuth } from 'stac-auth'
import { type CredentialSummary, createLiveAuth, createLogins, type LiveAuth, type Logins, sessionStorageStore } from 'stac-auth/browser'

export interface Wallet {
  readonly auth: LiveAuth
  readonly logins: Logins
  /** A URL that the user typed may be on a private network. */
  typed(url: string): void
  readonly named: readonly string[]
}

const NAME = 'catalog-browser:credentials'

/** Opens the wallet of this tab; `local` are origins that count as typed. */
export async function openWallet(local: readonly string[]): Promise<Wallet> {
  let named = local
  const credentials = await readable(storedCredentials())
  const auth = createLiveAuth({ credentials, typed: local, session: sessionStorageStore(), tabs: 'catalog-browser' })

  function store(): void {
    try {
      sessionStorage.setItem(NAME, JSON.stringify(auth.credentials.list().filter(isLogin)))
    } catch {
      // A browser that stores nothing forgets them with the page.
    }
  }

  auth.credentials.subscribe(({ kind }) => {
    if (kind === 'added' || kind === 'changed' || kind === 'removed') store()
  })
  return {
    auth,
    logins: createLogins(auth, { callback: '/callback.html', afterLogout: '/' }),
    get named() {
      return named
    },
    typed(url) {
      auth.credentials.typed(url)
      named = [...new Set([...named, new URL(url).origin])]
    },
  }
}

/** True for credentials that survive a reload: a login needs no secret, and summaries contain none. */
function isLogin({ type, flow }: CredentialSummary): boolean {
  return type === 'openIdConnect' || (type === 'oauth2' && flow === 'authorizationCode')
}

function storedCredentials(): readonly CredentialInput[] {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(NAME) ?? '[]')
    return Array.isArray(stored) ? (stored as readonly CredentialInput[]) : []
  } catch {
    return []
  }
}

/** Returns what was stored, unless somebody has changed it into something else. */
async function readable(credentials: readonly CredentialInput[]): Promise<readonly CredentialInput[]> {
  try {
    await createAuth({ credentials }).ready()
    return credentials
  } catch {
    return []
  }
}
