import type { CredentialInput } from 'stac-auth'
import { createLiveAuth, indexedDbStore } from 'stac-auth/browser'

/** What the page posts; `credential` has a secret that is not kept. */
interface Job {
  readonly url: string
  readonly credential?: CredentialInput
}

/** Logins and kept credentials of the pages of this origin, until one of them logs out. */
const auth = createLiveAuth({ credentials: [], session: indexedDbStore() })

addEventListener('message', async ({ data: { url, credential } }: MessageEvent<Job>) => {
  try {
    if (credential) await auth.credentials.add(credential)
    const response = await auth.fetch(url)
    const bytes = await response.arrayBuffer()
    postMessage({ url, status: response.status, bytes }, { transfer: [bytes] })
  } catch (error) {
    postMessage({ url, code: (error as { code?: string }).code })
  }
})
