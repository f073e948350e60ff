/** What `stac-auth/node` promises to callers. */
import { createAuth } from 'stac-auth'
import { credentialsFromEnvironment, credentialsFromFile, undiciTransport } from 'stac-auth/node'
import { expectTypeOf } from 'vitest'

expectTypeOf(credentialsFromFile).toBeFunction()
expectTypeOf(credentialsFromEnvironment).toBeFunction()
expectTypeOf(undiciTransport).toBeFunction()

// They fit where they are used.
export const auth = createAuth({
  credentials: [await credentialsFromFile('credentials.json'), credentialsFromEnvironment()],
  transport: undiciTransport(),
})
