/** The strict service, encrypted, and a client of it whose time is under control. */
import { undiciTransport } from '../../../src/node/transport/undici-transport.ts'
import { ServiceLimits } from '../../../src/services/client/pacer.ts'
import { TimeTrackingClient, type TimeTrackingOptions } from '../../../src/services/time-tracking/time-tracking-client.ts'
import { FakeClock } from '../../harness/fake-clock.ts'
import { TEST_CA } from '../../servers/harness.ts'
import { KNOWN, type TimeTrackingFakeOptions } from '../../servers/time-tracking/options.ts'
import { startTimeTrackingFake, type TimeTrackingFake } from '../../servers/time-tracking/time-tracking-fake.ts'
import { afterEveryTest } from '../../setup/hooks.ts'

const transport = undiciTransport({ ca: TEST_CA, env: {} })

const open: TimeTrackingFake[] = []
afterEveryTest(async () => {
  const services = open.splice(0)
  await Promise.all(services.map((service) => service.close()))
  for (const service of services) service.assertClean()
})

/** What a client did wrong fails the test at its end, unless the test resets the service. */
export async function timeTracking(options: TimeTrackingFakeOptions = {}): Promise<TimeTrackingFake> {
  const service = await startTimeTrackingFake(options)
  open.push(service)
  return service
}

export function clientOf(service: TimeTrackingFake, options: Partial<TimeTrackingOptions> & { readonly clock?: FakeClock } = {}) {
  const { clock = new FakeClock(), ...rest } = options
  const limits = new ServiceLimits({ clock, random: clock.random })
  const known = 'auth' in rest ? {} : KNOWN
  return { client: new TimeTrackingClient({ baseUrl: service.base, ...known, transport, limits, ...rest }), clock }
}
