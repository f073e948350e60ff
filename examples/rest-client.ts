/**
 * A client of any REST service behind OAuth 2: `users`, in JSON. Run it with `npx tsx examples/rest-client.ts` and the URLs and
 * the secret of your service in the environment; it makes a user, changes it, lists all and deletes it.
 */
import { ApiClient, JSON_REST, RestResource } from 'stac-auth/clients'

type User = { readonly id: number; readonly name: string }

const { SERVICE_URL = '', TOKEN_URL = '', CLIENT_ID = '', CLIENT_SECRET = '' } = process.env

const client = new ApiClient({
  baseUrl: SERVICE_URL,
  credential: { type: 'oauth2', flow: 'clientCredentials', tokenUrl: TOKEN_URL, clientId: CLIENT_ID, clientSecret: CLIENT_SECRET },
  allowInsecure: 'loopback',
})
const users = new RestResource<User>({ client, profile: JSON_REST, path: 'users' })

const ada = await users.create({ name: 'Ada' })
const changed = await users.update(ada?.id ?? 0, { name: 'Ada Lovelace' })
for await (const { id, name } of users.iterate()) console.log(id, name)
await users.delete(changed?.id ?? 0)
