/** Where a queue is. Its address may hold a password, so it is shown only through {@link RedisAddress.shown}. */
import { ConfigurationError } from '../../errors.ts'

export interface RedisAddress {
  readonly host: string
  readonly port: number
  /** Number of the database. */
  readonly db: number
  readonly encrypted: boolean
  readonly username?: string
  /** Not enumerable: nothing that prints the whole prints it. */
  readonly password?: string
  /** Scheme, host, port and database: what messages may say. */
  readonly shown: string
}

/**
 * Takes an address apart: `redis://[user][:password@]host[:port][/db]`, with `rediss:` for TLS (the forms of the IANA
 * registrations). The port is 6379 unless it is said. Errors: `USAGE`, without the text.
 */
export function redisAddressOf(text: string): RedisAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const db = /^\/?(\d{0,4})$/.exec(url?.pathname ?? '')?.[1]
  if (!url || !/^rediss?:$/.test(url.protocol) || url.hostname === '' || db === undefined || url.search !== '' || url.hash !== '')
    throw new ConfigurationError('USAGE', 'the address of a queue is redis://host:port or rediss://host:port, and perhaps /number', {
      hint: 'in an address a password follows a colon and is percent-encoded: redis://:p%40ss@host',
    })
  const [username, password] = [decoded(url.username), decoded(url.password)]
  const port = url.port === '' ? 6379 : Number(url.port)
  const address = {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port,
    db: Number(db),
    encrypted: url.protocol === 'rediss:',
    shown: `${url.protocol}//${url.hostname}:${port}${db && `/${db}`}`,
    ...(username !== '' && { username }),
  }
  if (password !== '') Object.defineProperty(address, 'password', { value: password })
  return address
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
