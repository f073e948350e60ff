import { describe, expect, it } from 'vitest'
import { lintJob, packed, readResults } from '../../../src/cli/lint/lint-job.ts'
import { compared } from '../../../src/cli/lint/linter.ts'
import { withFingerprint } from '../../../src/lint/baseline.ts'
import { LintRun, lintText } from '../../../src/lint/index.ts'
import { withoutRepeats } from '../../../src/lint/reporters/report.ts'
import { itemWith, KEY_SCHEME } from '../items.ts'

const named = (id: string, name: string, refs = ['key']) =>
  JSON.stringify({
    ...itemWith({ data: { href: 'https://d.example/', 'auth:refs': refs } }, { schemes: { key: { ...KEY_SCHEME, name } } }),
    id,
  })
const documents = [named('a', 'x'), named('b', 'y'), named('c', 'x', ['gone']), named('d', 'y'), named('e', 'z'), '{', 'ä'].map(
  (text, index) => (index === 6 ? new Uint8Array([0x7b, 0xff]) : text),
)

const job = (texts: readonly (string | Uint8Array)[], more: object = {}) => ({
  preset: 'recommended',
  fingerprints: true,
  levels: [{ 'unused-scheme': 'off' }],
  tasks: texts.map((text, index) => packed({ text }, `d${index}`, 0)),
  ...more,
})
/** As it comes back from a queue. */
const travelled = <T>(value: T): T => JSON.parse(JSON.stringify(value))

describe('a job', () => {
  it.each([1, 2, 3, 7])('returns what one run gives, in jobs of %i documents: also of schemes that conflict', async (size) => {
    const run = new LintRun()
    const rules = { 'unused-scheme': 'off' } as const
    const here = documents.map((text, index) => lintText(text, { document: `d${index % size}`, rules, run, complete: withFingerprint }))
    const elsewhere: unknown[] = []
    const order = new LintRun()
    for (let from = 0; from < documents.length; from += size) {
      const texts = documents.slice(from, from + size)
      const results = readResults(travelled(await lintJob(travelled(job(texts)))), texts.length) ?? []
      elsewhere.push(...results.map((judged) => compared(judged, order)))
    }
    expect(elsewhere).toEqual(here)
    const conflicts = here.flat().filter(({ code }) => code === 'conflicting-scheme')
    expect(conflicts.map(({ message }) => message)).toEqual([
      'the scheme "key" differs from that in a (d0): use one definition or two names',
      'the scheme "key" differs from that in a (d0): use one definition or two names',
    ])
  })

  it('returns findings with what causes them in the page around their Items, and the references to schemes of others', async () => {
    const items = ['a', 'b', 'c'].map((id) => ({ ...JSON.parse(named(id, 'x')), properties: { datetime: null } }))
    const page = JSON.stringify({ type: 'FeatureCollection', features: items })
    const [judged] = readResults(travelled(await lintJob(travelled(job([page])))), 1) ?? []
    const told = withoutRepeats(judged?.problems ?? []).filter(({ code }) => code === 'missing-schemes')
    expect(told).toMatchObject([{ pointer: '', count: 3 }])
    expect(judged?.outerRefs).toEqual(['key'])
  })

  it('says of files that the user did not name which are not STAC, and of lists how many documents they have', async () => {
    const texts = ['{ "name": "x" }', `[${documents[0]},${documents[1]}]`, '{ // x\n}', '{']
    const { tasks, ...rest } = job(texts)
    const results = await lintJob(travelled({ ...rest, tasks: tasks.map((task) => ({ ...task, mayBeForeign: true })) }))
    const read = readResults(travelled(results), texts.length) ?? []
    expect(read.map(({ isForeign = false, documents: count, problems }) => [isForeign, count, problems.length])).toEqual([
      [true, 1, 0],
      [false, 2, 2],
      [true, 1, 0],
      [false, 1, 1],
    ])
  })

  const tasks = [{ document: 'd', levels: 0, text: '{}' }]
  it.each([
    ['nothing', undefined],
    ['a text', 'lint this'],
    ['a preset that there is not', job([], { preset: 'none' })],
    ['a rule that there is not', job([], { levels: [{ nope: 'off' }] })],
    ['a level that there is not', job([], { levels: [{ 'dangling-ref': 'fatal' }] })],
    ['tasks that are no list', job([], { tasks: {} })],
    ['too many tasks', job([], { tasks: Array(65).fill(tasks[0]) })],
    ['levels that are not there', job([], { tasks: [{ ...tasks[0], levels: 1 }] })],
    ['a text that is none', job([], { tasks: [{ ...tasks[0], text: 1 }] })],
    ['a line before the first', job([], { tasks: [{ ...tasks[0], line: 0 }] })],
    ['parents that are no documents', job([], { tasks: [{ ...tasks[0], parents: ['x'] }] })],
  ])('a job is refused when it is %s', async (_, data) => {
    await expect(lintJob(data)).rejects.toThrow(TypeError)
  })

  it('leaves time for other work between its documents: the worker must say that it still runs', async () => {
    let turns = 0
    const count = () => {
      turns += 1
      next = setImmediate(count)
    }
    let next = setImmediate(count)
    await lintJob(job(documents))
    clearImmediate(next)
    expect(turns).toBeGreaterThanOrEqual(documents.length)
  })

  it('a job opens no file and asks no URL, whatever it names', async () => {
    const data = job([], {
      tasks: [{ ...tasks[0], document: '/etc/passwd', url: 'http://127.0.0.1:1/', text: undefined, file: '/etc/passwd' }],
    })
    expect(JSON.stringify(await lintJob(travelled(data)))).not.toContain('root:')
  })
})

describe('results', async () => {
  const good = await lintJob(job([documents[2] ?? '']))
  it.each([
    ['too few', [], 1],
    ['too many', [...good, ...good], 1],
    ['no list', {}, 1],
    ['no findings', [{ problems: [{ rule: 'x' }], definitions: [], outerRefs: [] }], 1],
    ['no definitions', [{ problems: [], definitions: [{ name: 'x' }], outerRefs: [] }], 1],
    ['no references', [{ problems: [], definitions: [], outerRefs: [1] }], 1],
  ])('results are refused when they are %s', (_, value, count) => {
    expect(readResults(value, count)).toBeUndefined()
  })
})
