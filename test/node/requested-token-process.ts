/**
 * One process of many that share a store; the tests start it with a server of tokens and files.
 *
 * `<folder> <origin>`: waits until all are there, prints what the file says, or the code of the error.
 */
import { createAuth } from '../../src/auth/create-auth.ts'
import { isAuthError } from '../../src/errors.ts'
import { tokenFiles } from '../../src/node/tokens/token-files.ts'

const [, , folder = '', origin = ''] = process.argv
const auth = createAuth({
  credentials: [
    { id: 'account', type: 'http', scheme: 'basic', username: 'ada', password: 'pw', sendTo: `${origin}/token` },
    { id: 'archive', type: 'http', scheme: 'bearer', tokenUrl: `${origin}/token`, with: 'account', sendTo: `${origin}/data/` },
  ],
  session: tokenFiles({ folder }),
})
await auth.ready()
await fetch(`${origin}/ready`)
try {
  console.log(await (await auth.fetch(`${origin}/data/a`)).text())
} catch (error) {
  console.log(isAuthError(error) ? error.code : error)
}
