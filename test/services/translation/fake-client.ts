/** The service on loopback and a client of it whose time is under control: both have the same clock. */
import { ServiceLimits } from '../../../src/services/client/pacer.ts'
import { TranslationClient } from '../../../src/services/translation/translation-client.ts'
import type { TranslationClientOptions } from '../../../src/services/translation/translation-service.ts'
import { FakeClock } from '../../harness/fake-clock.ts'
import type { TranslationFakeOptions } from '../../servers/translation/options.ts'
import { startTranslationFake, type TranslationFake } from '../../servers/translation/translation-fake.ts'
import { afterEveryTest } from '../../setup/hooks.ts'
import { transport } from '../client/service.ts'

const open: TranslationFake[] = []
/** What no correct client sends fails the test that sent it. */
afterEveryTest(async () => {
  const fakes = open.splice(0)
  await Promise.all(fakes.map((fake) => fake.close()))
  for (const fake of fakes) fake.assertClean()
})

type Options = { readonly fake?: TranslationFakeOptions } & Partial<TranslationClientOptions>

/** A service and a client with the key of a paid plan. */
export async function fakeClient({ fake: fakeOptions = {}, ...options }: Options = {}) {
  const clock = new FakeClock()
  const fake = await startTranslationFake({ clock, ...fakeOptions })
  open.push(fake)
  const limits = new ServiceLimits({ clock, random: clock.random })
  const common = { baseUrl: fake.url, allowInsecure: 'loopback', transport, limits } as const
  const client = new TranslationClient({ ...common, ...(!options.auth && { apiKey: 'test-pro' }), ...options })
  return { fake, client, clock }
}
