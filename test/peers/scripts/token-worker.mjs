/**
 * One worker of many that share a token store in Redis. Its argument is JSON; it prints what came of its requests as JSON.
 *
 * With `hold` it takes the lock of a key, prints `held`, and writes once it is told to on standard input.
 */
import { assetOf, createAuth } from 'stac-auth'
import { tokenRedis } from 'stac-auth/node'

const { redis, credential, scheme, href, milliseconds = 0, hold } = JSON.parse(process.argv[2])
const session = tokenRedis(redis)

if (hold) {
  await session.exclusively(hold.key, async () => {
    console.log('held')
    await new Promise((resolve) => process.stdin.once('data', resolve))
    await session.write(hold.key, hold.text)
  })
  process.stdin.destroy()
} else {
  const auth = createAuth({ credentials: [credential], session })
  const item = {
    type: 'Feature',
    stac_version: '1.1.0',
    stac_extensions: ['https://stac-extensions.github.io/authentication/v1.1.0/schema.json'],
    id: 'item',
    geometry: null,
    properties: { datetime: '2026-01-01T00:00:00Z', 'auth:schemes': { oauth: scheme } },
    links: [],
    assets: { data: { href, 'auth:refs': ['oauth'] } },
  }
  const outcomes = {}
  const end = Date.now() + milliseconds
  do {
    const outcome = await auth.fetch(assetOf(item, 'data')).then(
      ({ status }) => status,
      ({ code, message }) => `${code}: ${message}`,
    )
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
    await new Promise((resolve) => setTimeout(resolve, 50))
  } while (Date.now() < end)
  console.log(JSON.stringify(outcomes))
}
await session.close()
