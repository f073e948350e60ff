/** What `stac-auth/providers` promises to callers, read from the declarations that are published. */
import { type CredentialInput, createAuth } from 'stac-auth'
import { copernicus, creodias, earthdata, type Provider, planet, planetaryComputer, providers, umbra } from 'stac-auth/providers'
import { expectTypeOf } from 'vitest'

expectTypeOf(copernicus).returns.toEqualTypeOf<readonly CredentialInput[]>()
expectTypeOf(copernicus.provider).toEqualTypeOf<Provider>()
expectTypeOf(providers).toEqualTypeOf<readonly Provider[]>()
createAuth({ credentials: [planetaryComputer(), earthdata({ token: { env: 'EARTHDATA_TOKEN' } }), copernicus()] })

copernicus({ username: 'ada', password: () => 'p' })
copernicus({ username: 'ada', password: 'p', totp: { command: ['pass', 'otp', 'cdse'] } })
copernicus({ accessKeyId: 'a', secretAccessKey: 's' })
copernicus({ way: 'sentinel-hub', clientId: 'sh-mine', clientSecret: 's' })
planet({ apiKey: 'k', way: 'tiles' })
planet({ clientId: 'app' })
umbra({ token: 't' })
earthdata()
earthdata({ username: 'ada', password: { netrc: 'urs.earthdata.nasa.gov' } })
earthdata({ way: 's3-password', username: 'ada', password: 'p' })

// @ts-expect-error: a password without a user name
copernicus({ password: 'p' })
// @ts-expect-error: a user name without a password
copernicus({ username: 'ada' })
// @ts-expect-error: a misspelt value
copernicus({ username: 'ada', password: 'p', totpp: '1' })
// @ts-expect-error: a way in that needs other values
copernicus({ way: 's3', username: 'ada', password: 'p' })
// @ts-expect-error: a way in that does not exist
planet({ apiKey: 'k', way: 'cookie' })
// @ts-expect-error: a client id is text, not a source of a secret
planet({ clientId: { env: 'CLIENT' } })
// @ts-expect-error: no values, where each way in needs some
creodias()
// @ts-expect-error: a token is a secret, not a number
earthdata({ token: 5 })
