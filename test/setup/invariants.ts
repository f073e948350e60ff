/**
 * What holds around every test, whatever it is about. After each test: prototypes are as they were (I4), nothing was connected to outside
 * this machine (I1), no secret stands in what was printed or thrown (I2), only errors of ours have left public functions (I3), nothing outside
 * the temporary folder was written (I6), and what downloads and commands have left unfinished can be resumed (I7). After each file: the
 * process is as it was, and nothing keeps it alive (I5); unhandled rejections fail the run by themselves. What killed processes leave is
 * looked at in `node/download/chaos`. Files share a process (see `vitest.config.ts`), so what one leaves behind another would notice, far away.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, afterEach, beforeAll, expect, vi } from 'vitest'
import { foreignErrors, leftFiles } from './observed-calls.ts'
import { filesOutside } from './observed-files.ts'
import { connectionsOutside } from './observed-network.ts'
import { forgetSecrets, mustHoldNoSecret, secretsFound } from './revealed-secrets.ts'

const SHARED = { Object, Array, Function, String, Number, Map, Set, Promise, RegExp, URL, URLSearchParams, Headers, Request, Response }

/** Every member with its value: one that is replaced counts as much as one that is added. */
const membersOf = () =>
  Object.entries(SHARED).flatMap(([name, { prototype }]) =>
    Reflect.ownKeys(prototype).map((key) => {
      const { value, get, set } = Object.getOwnPropertyDescriptor(prototype, key) ?? {}
      return [`${name}.prototype.${String(key)}`, value, get, set] as const
    }),
  )
const members = membersOf()

/** The members that differ from those at the start. */
function changedMembers(): readonly string[] {
  const now = membersOf()
  const isSame = (one: (typeof members)[number] | undefined, other: (typeof members)[number] | undefined) =>
    one?.every((part, at) => part === other?.[at]) ?? false
  if (now.length === members.length && now.every((member, at) => isSame(member, members[at]))) return []
  return now.filter((member) => !members.some((other) => isSame(member, other))).map(([name]) => name)
}

beforeAll(() => {
  for (const stream of [process.stdout, process.stderr]) {
    const { write } = stream
    stream.write = ((...given: Parameters<typeof write>) => {
      mustHoldNoSecret('the output of the process', String(given[0]))
      return write.apply(stream, given)
    }) as typeof write
    restored.push(() => {
      stream.write = write
    })
  }
})
const restored: (() => void)[] = []

afterEach(() => {
  expect(changedMembers(), 'a test changed a prototype that all code shares').toEqual([])
  expect(connectionsOutside(), 'a test connected to another machine').toEqual([])
  expect(filesOutside(), 'a test wrote outside the temporary folder').toEqual([])
  expect(foreignErrors(), 'an error that is not one of ours left the library').toEqual([])
  expect(leftFiles(), 'files of unfinished work were left that cannot be resumed').toEqual([])
  expect(secretsFound(), 'a secret stands where none may').toEqual([])
})

/** What belongs to the process: the environment, the folder, and who listens to signals. */
const ofProcess = () => ({
  environment: { ...process.env },
  folder: process.cwd(),
  umask: process.umask(),
  exitCode: process.exitCode,
  listeners: Object.fromEntries(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGPIPE'].map((signal) => [signal, process.listenerCount(signal)])),
})
let before: ReturnType<typeof ofProcess>
let handles: Readonly<Record<string, number>>
const { env } = process

/** What would keep the process alive: servers, sockets, child processes, timers. */
function openHandles(): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

const moreHandles = () => Object.entries(openHandles()).filter(([kind, count]) => count > (handles[kind] ?? 0))

beforeAll(() => {
  before = ofProcess()
  handles = openHandles()
})

afterAll(async () => {
  for (const restore of restored.splice(0)) restore()
  forgetSecrets()
  vi.useRealTimers()
  vi.unstubAllEnvs()
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
  expect(process.env === env, 'a test file replaced process.env').toBe(true)
  expect(ofProcess(), 'a test file left the process changed').toEqual(before)
  // What is closing has closed by then; what is not would keep processes of users alive, too.
  for (let waited = 0; waited < 10_000 && moreHandles().length > 0; waited += 20) {
    // A test that reads only the status of a `fetch` leaves its body to the garbage collector.
    if (waited % 200 === 60) collectGarbage()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  expect(moreHandles(), 'a test file left something open').toEqual([])
})
