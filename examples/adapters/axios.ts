import axios from 'axios'
import type { Auth } from 'stac-auth'
import { authorizeWith } from 'stac-auth/adapters/axios'

/** A client of axios that may be used for any URL: your credentials say where something is added. */
export function clientOf(auth: Auth) {
  const client = axios.create()
  client.interceptors.request.use(authorizeWith(auth))
  return client
}
