/**
 * A test runner that runs the tests of a job once, records which test covers which mutant, and then runs for each mutant the tests that
 * cover it, the shortest first, until one fails. All this happens in one process: modules are evaluated again for each mutant, but nothing
 * is started or compiled.
 *
 * A test that takes much longer than without mutants is not waited for, nor are its hooks: servers that wait for a connection to end would
 * hold up the next tests too. Another process goes on with the next mutant.
 */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { TestRunner, vi } from 'vitest'
import { startTests } from 'vitest/internal/browser'
import { type Baseline, type Job, type JobEvent, jobPath, type Usual, type Wanted } from './job.ts'

type Runner = InstanceType<typeof TestRunner>
type File = Awaited<ReturnType<typeof startTests>>[number]
type Task = File['tasks'][number] | File

const job: Job = JSON.parse(readFileSync(jobPath(), 'utf8'))
const tell = (event: JobEvent) => appendFileSync(job.events, `${JSON.stringify(event)}\n`)

/** Milliseconds that one test may take while a mutant is active. */
const PATIENCE = 8000

/** A test is abandoned after three seconds and five times its time. Seconds in which this process has to wait for a processor do not count. */
const TICK = 100
const ticksFor = (ms: number) => 30 + (5 * ms) / TICK

/** Tests may replace these. */
const { setInterval, clearInterval } = globalThis
const now = performance.now.bind(performance)

/** Milliseconds in which a new process evaluates the modules of the first test. */
const WARM_UP = 10_000

/** The active mutant; 0 for none. */
let active = 0
/** Calls since the test began, and how many are too many: a loop does not end. */
let calls = 0
let most = Number.POSITIVE_INFINITY
/** The mutants that a test covers, by test. Those that run outside any test count for all tests of the file. */
const covered = new Map<string, Uint8Array>()
let covering: Uint8Array = new Uint8Array(job.size)
/** Milliseconds of each test without mutants, and calls. */
const usual = new Map<string, Usual>()

Object.assign(globalThis, {
  $mutant: (id: number): boolean => {
    if (active === 0) covering[id] = 1
    if (++calls > most) throw new Error('the mutant does not end')
    return id === active
  },
})

class MutationRunner extends TestRunner {
  /** The tests to run; all when absent. */
  #wanted: ReadonlySet<string> | undefined
  #titles: readonly Wanted[] | undefined
  #failure: string | undefined
  #isLooping = false
  #isCold = true
  #isAbandoned = false
  readonly #running = new Map<Task, { readonly begin: number; readonly timer: NodeJS.Timeout | undefined }>()

  override async onBeforeRunTask(test: Parameters<Runner['onBeforeRunTask']>[0]): Promise<void> {
    const isOut = this.#isLooping && this.#failure !== undefined
    const isNamed = !this.#titles || this.#titles.some(({ file, title }) => fileOf(test) === file && titleOf(test) === title)
    if (isOut || !isNamed || (this.#wanted && !this.#wanted.has(keyOf(test)))) test.mode = 'skip'
    await super.onBeforeRunTask(test)
    if (test.mode === 'skip') return
    covering = coveredBy(keyOf(test))
    calls = 0
    if (active > 0) most = Math.max(200_000, 20 * (usual.get(keyOf(test))?.calls ?? 0))
    this.#running.set(test, { begin: now(), timer: active > 0 ? this.#watch(test) : undefined })
  }

  #watch(test: Task): NodeJS.Timeout {
    const id = active
    let left = ticksFor((usual.get(keyOf(test))?.ms ?? 0) + (this.#isCold ? WARM_UP : 0))
    return setInterval(() => {
      if (--left > 0 || this.#isAbandoned) return
      this.#isAbandoned = true
      tell({ kind: 'mutant', id, status: 'timeout', by: `${fileOf(test)}: ${titleOf(test)}` })
    }, TICK)
  }

  override onAfterRunTask(test: Parameters<Runner['onAfterRunTask']>[0]): void {
    super.onAfterRunTask(test)
    const { begin, timer } = this.#running.get(test) ?? {}
    this.#running.delete(test)
    clearInterval(timer)
    if (begin !== undefined && active === 0) usual.set(keyOf(test), { ms: now() - begin, calls })
    covering = coveredBy(fileOf(test))
    if (test.result?.state === 'fail') this.#failure ??= `${fileOf(test)}: ${titleOf(test)}`
  }

  override onCollectStart(file: Parameters<Runner['onCollectStart']>[0]): void {
    super.onCollectStart(file)
    calls = 0
    covering = coveredBy(file.filepath.slice(job.root.length + 1))
  }

  /** The file that vitest was started with has no test: what follows are those of the job. */
  override async onAfterRunFiles(): Promise<void> {
    super.onAfterRunFiles()
    // Nothing of this is for the reporters.
    const none = async () => undefined
    const own = {
      onTaskUpdate: none,
      onCollected: async (files: readonly File[]) => files.forEach(sort),
      onAfterRunFiles: none,
      onCollectStart: MutationRunner.prototype.onCollectStart.bind(this),
    }
    Object.assign(this, own)
    // With what counts the mutants, code is several times slower.
    this.config.testTimeout = 600_000
    if (!existsSync(job.baseline)) await this.#writeBaseline()
    const baseline: Baseline = JSON.parse(readFileSync(job.baseline, 'utf8'))
    // Also those that cover nothing themselves: what their file computes may be all they ask.
    for (const [key, ids] of Object.entries(baseline.covered)) {
      const covers = coveredBy(key)
      for (const id of ids) covers[id] = 1
    }
    for (const [key, found] of Object.entries(baseline.usual)) usual.set(key, found)
    tell({ kind: 'ready' })
    this.config.testTimeout = PATIENCE
    this.#isLooping = true
    if (baseline.failed.length === 0) for (const mutant of job.mutants) await this.#try(mutant)
    active = 0
    tell({ kind: 'end' })
  }

  async #writeBaseline(): Promise<void> {
    this.#titles = job.titles
    const first = await this.#run(job.tests)
    // Again in the order in which they will run: none may need what another one left.
    const again = await this.#run(job.tests)
    const baseline: Baseline = {
      failed: [...first, ...again].flatMap((file) => failuresOf(file)),
      ran: first.flatMap((file) => ranIn(file)),
      covered: Object.fromEntries([...covered].map(([key, ids]) => [key, [...ids.keys()].filter((id) => ids[id] === 1)])),
      usual: Object.fromEntries(usual),
    }
    writeFileSync(job.baseline, JSON.stringify(baseline))
    this.#isCold = false
  }

  async #try({ id, isStatic = false, tests: named }: Job['mutants'][number]): Promise<void> {
    const files = job.tests.filter((file) =>
      [...covered].some(([key, ids]) => (key === file || key.startsWith(`${file}\n`)) && ids[id] === 1),
    )
    if (files.length === 0) return tell({ kind: 'mutant', id, status: 'not covered' })
    const begin = now()
    const always = new Set(files.filter((file) => isStatic || covered.get(file)?.[id] === 1))
    const keys = [...covered].filter(([key, ids]) => ids[id] === 1 || always.has(key.split('\n', 1)[0] ?? ''))
    this.#wanted = new Set(keys.map(([key]) => key))
    const ms = keys.reduce((sum, [key]) => sum + (usual.get(key)?.ms ?? 0), this.#isCold ? WARM_UP : 0)
    tell({ kind: 'start', id, limit: 15_000 + Math.round(5 * ms) })
    this.#titles = named ?? job.titles
    this.#failure = undefined
    active = id
    const asked = named ? files.filter((file) => named.some((wanted) => wanted.file === file)) : files
    for (const file of asked) {
      if (this.#failure !== undefined) break
      const [ran] = await this.#run([file])
      const failed = ran && failuresOf(ran)
      if (failed?.length) this.#failure ??= failed[0]
    }
    // This process is about to be ended.
    if (this.#isAbandoned) await new Promise(() => undefined)
    this.#isCold = false
    active = 0
    const failure: string | undefined = this.#failure
    tell({
      kind: 'mutant',
      id,
      ms: Math.round(now() - begin),
      ...(failure === undefined ? { status: 'survived' } : { status: 'killed', by: failure }),
    })
  }

  async #run(files: readonly string[]): Promise<readonly File[]> {
    const done: File[] = []
    for (const file of files) {
      vi.resetModules()
      const state = (globalThis as unknown as { __vitest_worker__: { filepath: string } }).__vitest_worker__
      state.filepath = `${job.root}/${file}`
      done.push(...(await startTests([state.filepath], this)))
      vi.restoreAllMocks()
    }
    return done
  }
}

/** Puts short tests before long ones. */
function sort(task: Task): void {
  if (!('tasks' in task)) return
  task.tasks.forEach(sort)
  const timeOf = (inner: Task): number => ('tasks' in inner ? Math.min(...inner.tasks.map(timeOf)) : (usual.get(keyOf(inner))?.ms ?? 0))
  task.tasks.sort((one, other) => timeOf(one) - timeOf(other))
}

function coveredBy(key: string): Uint8Array {
  const known = covered.get(key) ?? new Uint8Array(job.size)
  covered.set(key, known)
  return known
}

function fileOf(task: Task): string {
  return task.file.filepath.slice(job.root.length + 1)
}

/** The id counts from the start of the file: it stays when the file is collected again. */
function keyOf(task: Task): string {
  return `${fileOf(task)}\n${task.id}`
}

function titleOf(task: Task): string {
  const suite = 'suite' in task ? task.suite : undefined
  return suite ? `${titleOf(suite)} > ${task.name}` : task.name
}

/** The titles of what failed in a file: tests, hooks and the file itself. */
function failuresOf(task: Task): readonly string[] {
  const inner = 'tasks' in task ? task.tasks.flatMap(failuresOf) : []
  if (inner.length > 0) return inner
  return task.result?.state === 'fail' ? [`${fileOf(task)}: ${titleOf(task)}: ${task.result.errors?.[0]?.message ?? ''}`] : []
}

function ranIn(task: Task): readonly string[] {
  if ('tasks' in task) return task.tasks.flatMap(ranIn)
  return task.result?.state === 'pass' || task.result?.state === 'fail' ? [`${fileOf(task)}: ${titleOf(task)}`] : []
}

// biome-ignore lint/style/noDefaultExport: vitest asks for it under this name.
export { MutationRunner as default }
