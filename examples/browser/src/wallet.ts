/** The user's credentials in this tab, and the engine that uses them. */
import { type CredentialInput, createAuth } from 'stac-auth'
import { createLogins, type Logins, sessionStorageStore } from 'stac-auth/browser'
import { createLiveAuth, type LiveAuth } from 'stac-auth/live'

export interface Wallet {
  readonly auth: LiveAuth
  readonly logins: Logins
  /** Adds a credential under that name and returns its id; `persistent` ones, which hold no secret, survive a reload. */
  add(credential: CredentialInput, name: string, persistent: boolean): Promise<string>
  /** A URL that the user typed may be on a private network. */
  typed(url: string): void
  readonly named: readonly string[]
}

const NAME = 'catalog-browser:credentials'

/** Opens the wallet of this tab; `local` are origins that count as typed. */
export async function openWallet(local: readonly string[]): Promise<Wallet> {
  let persistent = await readable(storedCredentials())
  let named = local
  const auth = createLiveAuth({ credentials: persistent, typed: local, session: sessionStorageStore(), tabs: 'catalog-browser' })

  function store(): void {
    const present = new Set(auth.credentials.list().map(({ id }) => id))
    persistent = persistent.filter(({ id }) => id !== undefined && present.has(id))
    try {
      sessionStorage.setItem(NAME, JSON.stringify(persistent))
    } catch {
      // A browser that stores nothing forgets them with the page.
    }
  }

  auth.credentials.subscribe(({ kind }) => kind === 'removed' && store())
  return {
    auth,
    logins: createLogins(auth, { callback: '/callback.html', afterLogout: '/' }),
    get named() {
      return named
    },
    async add(credential, name, survives) {
      const id = freeId(
        name,
        auth.credentials.list().map(({ id }) => id),
      )
      await auth.credentials.add({ ...credential, id })
      if (survives) persistent = [...persistent, { ...credential, id }]
      store()
      return id
    },
    typed(url) {
      auth.credentials.typed(url)
      named = [...new Set([...named, new URL(url).origin])]
    },
  }
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

/** The name that the catalog has for the scheme, as far as it can be one. */
function freeId(name: string, taken: readonly string[]): string {
  const decent = name.replace(/[^A-Za-z0-9._-]+/g, '-').slice(0, 48) || 'credential'
  for (let count = 1; ; count++) {
    const id = count === 1 ? decent : `${decent}-${count}`
    if (!taken.includes(id)) return id
  }
}
