/**
 * A test runner that runs the tests of a job once, records which test covers which mutant, and then runs for each mutant the tests that
 * cover it, until one fails. All this happens in one process: modules are evaluated again for each mutant, but nothing is started or compiled.
 */
import { appendFileSync, readFileSync } from 'node:fs'
import { TestRunner, vi } from 'vitest'
import { startTests } from 'vitest/internal/browser'
import { type Job, type JobEvent, jobPath, type Wanted } from './job.ts'

type Runner = InstanceType<typeof TestRunner>
type File = Awaited<ReturnType<typeof startTests>>[number]
type Task = File['tasks'][number] | File

const job: Job = JSON.parse(readFileSync(jobPath(), 'utf8'))
const tell = (event: JobEvent) => appendFileSync(job.events, `${JSON.stringify(event)}\n`)

/** Milliseconds that one test may take while a mutant is active. */
const PATIENCE = 8000

/** The active mutant; 0 for none. */
let active = 0
/** Calls since the mutant became active, and how many are too many: a loop does not end. */
let calls = 0
let most = Number.POSITIVE_INFINITY
/** The mutants that a test covers, by test. Those that run outside any test count for all tests of the file. */
const covered = new Map<string, Uint8Array>()
let covering: Uint8Array = new Uint8Array(job.size)

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

  override async onBeforeRunTask(test: Parameters<Runner['onBeforeRunTask']>[0]): Promise<void> {
    const isOut = this.#isLooping && this.#failure !== undefined
    const isNamed = !this.#titles || this.#titles.some(({ file, title }) => fileOf(test) === file && titleOf(test) === title)
    if (isOut || !isNamed || (this.#wanted && !this.#wanted.has(keyOf(test)))) test.mode = 'skip'
    await super.onBeforeRunTask(test)
    if (test.mode !== 'skip') covering = coveredBy(keyOf(test))
  }

  override onAfterRunTask(test: Parameters<Runner['onAfterRunTask']>[0]): void {
    super.onAfterRunTask(test)
    covering = coveredBy(fileOf(test))
    if (test.result?.state === 'fail') this.#failure ??= `${fileOf(test)}: ${titleOf(test)}`
  }

  override onCollectStart(file: Parameters<Runner['onCollectStart']>[0]): void {
    super.onCollectStart(file)
    covering = coveredBy(file.filepath.slice(job.root.length + 1))
  }

  /** The file that vitest was started with has no test: what follows are those of the job. */
  override async onAfterRunFiles(): Promise<void> {
    super.onAfterRunFiles()
    // Nothing of this is for the reporters.
    const none = async () => undefined
    const own = {
      onTaskUpdate: none,
      onCollected: none,
      onAfterRunFiles: none,
      onCollectStart: MutationRunner.prototype.onCollectStart.bind(this),
    }
    Object.assign(this, own)
    this.config.testTimeout = 120_000
    await this.#dryRun()
    this.config.testTimeout = PATIENCE
    most = job.limit ?? Math.max(200_000, calls * 20)
    this.#isLooping = true
    for (const mutant of job.mutants) await this.#try(mutant)
    active = 0
    tell({ kind: 'end' })
  }

  async #dryRun(): Promise<void> {
    const begin = performance.now()
    this.#titles = job.titles
    const files = await this.#run(job.tests)
    const failed = files.flatMap((file) => failuresOf(file))
    const ran = files.flatMap((file) => ranIn(file))
    tell({ kind: 'dry', failed, ran, ms: Math.round(performance.now() - begin) })
  }

  async #try({ id, isStatic = false, tests: named }: Job['mutants'][number]): Promise<void> {
    const files = job.tests.filter((file) =>
      [...covered].some(([key, ids]) => (key === file || key.startsWith(`${file}\n`)) && ids[id] === 1),
    )
    if (files.length === 0) return tell({ kind: 'mutant', id, status: 'not covered' })
    tell({ kind: 'start', id })
    const begin = performance.now()
    const always = new Set(files.filter((file) => isStatic || covered.get(file)?.[id] === 1))
    const keys = [...covered].filter(([key, ids]) => ids[id] === 1 || always.has(key.split('\n', 1)[0] ?? ''))
    this.#wanted = new Set(keys.map(([key]) => key))
    this.#titles = named ?? job.titles
    this.#failure = undefined
    active = id
    calls = 0
    const asked = named ? files.filter((file) => named.some((wanted) => wanted.file === file)) : files
    for (const file of asked) {
      if (this.#failure !== undefined) break
      const [ran] = await this.#run([file])
      const failed = ran && failuresOf(ran)
      if (failed?.length) this.#failure ??= failed[0]
    }
    active = 0
    const ms = Math.round(performance.now() - begin)
    const failure: string | undefined = this.#failure
    tell({ kind: 'mutant', id, ms, ...(failure === undefined ? { status: 'survived' } : { status: 'killed', by: failure }) })
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
