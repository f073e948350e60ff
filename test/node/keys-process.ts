/** One process of many that need keys for the same bucket; the test starts it with what it needs as JSON, and reads what it got. */
import { createAuth } from '../../src/auth/create-auth.ts'
import type { CredentialObject } from '../../src/auth/credential.ts'
import { tokenFiles } from '../../src/node/tokens/token-files.ts'
import { undiciTransport } from '../../src/node/transport/undici-transport.ts'
import { assetOf } from '../../src/stac/target.ts'
import { unchecked } from '../harness/unchecked.ts'

/** What a process does: so many requests at once. */
export interface KeysWork {
  readonly folder: string
  readonly credentials: readonly CredentialObject[]
  readonly document: object
  readonly requests: number
}

const { folder, credentials, document, requests }: KeysWork = JSON.parse(process.argv[2] ?? '')
const session = tokenFiles({ folder })
const auth = createAuth({ credentials: unchecked(credentials), session, transport: undiciTransport({ env: {} }) })
const target = assetOf(document, 'data')
const texts = await Promise.all(Array.from({ length: requests }, async () => (await auth.fetch(target)).text()))
console.log(JSON.stringify(texts))
