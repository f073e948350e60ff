/**
 * After every test the prototypes that all code shares are as they were; after every file the process is. Files share a process (see
 * `vitest.config.ts`), so one that leaves a variable, a listener or a timer replaced would be noticed by another, far away.
 */
import { afterAll, afterEach, beforeAll, expect, vi } from 'vitest'

const SHARED = { Object, Array, Function, String, Map, Promise, RegExp, URL, Headers, Request, Response }

const ownNames = () => Object.entries(SHARED).map(([name, { prototype }]) => [name, Reflect.ownKeys(prototype).map(String)])
const prototypes = JSON.stringify(ownNames())

afterEach(() => {
  expect(JSON.stringify(ownNames()), 'a test changed a prototype that all code shares').toBe(prototypes)
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
const { env } = process

beforeAll(() => {
  before = ofProcess()
})

afterAll(() => {
  vi.useRealTimers()
  vi.unstubAllEnvs()
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
  expect(process.env === env, 'a test file replaced process.env').toBe(true)
  expect(ofProcess(), 'a test file left the process changed').toEqual(before)
})
