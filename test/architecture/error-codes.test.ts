import { describe, expect, it } from 'vitest'
import { ERROR_CODES, type ErrorInfo, HTTP_STATUS } from '../../src/error-codes.ts'
import * as errors from '../../src/errors.ts'
import { codeFiles } from './files.ts'
import { codeTexts, raisedCodes } from './raised-codes.ts'

const TABLE: Readonly<Record<string, ErrorInfo>> = ERROR_CODES
const sources = codeFiles('src').filter(({ path }) => path !== 'src/error-codes.ts')
const read = sources.map(({ path, text }) => ({ raised: raisedCodes(text).map((found) => ({ path, ...found })), texts: codeTexts(text) }))
const raised = read.flatMap((file) => file.raised)
const infoOf = (code: string): ErrorInfo | undefined =>
  Object.hasOwn(TABLE, code) ? TABLE[code] : /^HTTP_\d{3}$/.test(code) ? HTTP_STATUS : undefined
const namesOf = (code: string): readonly string[] => infoOf(code)?.families ?? []
/** Codes of Node, such as ENOENT. */
const isOfNode = (code: string) => /^E[A-Z]+$/.test(code)

describe('the table of error codes', () => {
  it('the table of error codes has every code that src writes into an error or a warning', () => {
    expect(raised.length).toBeGreaterThan(300)
    expect(raised.filter(({ code }) => !infoOf(code) && !isOfNode(code))).toEqual([])
  })

  it('the table of error codes has no code that nothing raises', () => {
    // Codes of a status are made from the status.
    const made = Object.keys(TABLE).filter((code) => !code.startsWith('HTTP_'))
    expect(made.filter((code) => !read.some(({ texts }) => texts.has(code)))).toEqual([])
  })

  it('names every class that is raised with a code', () => {
    const ours = new Set(Object.values(TABLE).flatMap(({ families }) => families as readonly string[]))
    const wrong = raised.filter(({ code, family }) => family !== undefined && ours.has(family) && !namesOf(code).includes(family))
    expect(wrong.map(({ path, code, family }) => `${path}: ${code} is raised as ${family}`)).toEqual([])
  })

  it('reports of no code that it is always or never retryable when an error says otherwise', () => {
    const wrong = raised.filter(({ code, family, retryable }) => {
      const said = infoOf(code)?.retryable
      return family !== undefined && retryable !== undefined && said !== 'depends' && retryable !== (said === true)
    })
    expect(wrong.map(({ path, code, retryable }) => `${path}: ${code} is raised with retryable ${retryable}`)).toEqual([])
  })

  it('names only classes that exist, by the name that users import', () => {
    const clients = ['BatchError', 'DocumentError', 'HttpError', 'JobFailedError', 'RetryBudgetError', 'ValidationError', 'VoiceError']
    const known = new Set(['warning', ...Object.keys(errors), ...clients])
    expect(Object.values(TABLE).flatMap(({ families }) => families.filter((family) => !known.has(family)))).toEqual([])
    const declared = new Set(sources.flatMap(({ text }) => [...text.matchAll(/^(?:export )?class (\w+Error)\b/gm)].map(([, name]) => name)))
    expect(clients.filter((name) => !declared.has(name))).toEqual([])
  })

  it('the table of error codes has an exit code of the command line and a line of advice for every code', () => {
    for (const [code, { exit, advice }] of Object.entries(TABLE)) {
      expect([0, 2, 3, 4, 5, 6, 70, 130], code).toContain(exit)
      expect(advice, code).toMatch(/^[A-Z][^\n]{5,90}[^.]$/)
    }
  })

  it('the table of error codes has exit code 0 for warnings only', () => {
    const silent = Object.entries(TABLE).filter(([, { exit, families }]) => exit === 0 && !families.includes('warning'))
    expect(silent).toEqual([])
  })
})

describe('raisedCodes', () => {
  it('finds codes in constructors, in super and in members, with what they say about retries', () => {
    expect(raisedCodes("throw new NetworkError('NET_A', 'why', { retryable: true })")).toEqual([
      { code: 'NET_A', family: 'NetworkError', retryable: true },
    ])
    expect(raisedCodes("new TrustError(far ? 'URL_A' : 'URL_B', 'why')").map(({ code }) => code)).toEqual(['URL_A', 'URL_B'])
    expect(raisedCodes("class AError extends AuthError { constructor() { super('AB_CODE', 'why') } }")).toEqual([
      { code: 'AB_CODE', family: 'AError', retryable: false },
    ])
    expect(raisedCodes("warn({ code: 'AB_CODE', message })")).toEqual([{ code: 'AB_CODE' }])
    expect(raisedCodes("new TypeError('a text')")).toEqual([])
    expect(raisedCodes("new NetworkError('NET_A', 'why', { ...fields })")).toEqual([{ code: 'NET_A', family: 'NetworkError' }])
  })
})

describe('codeTexts', () => {
  it('finds the codes that a module may raise, and none that it only compares with', () => {
    expect([...codeTexts("const REASONS = { dns: 'NET_A' }; if (code === 'NET_B') refuse('NET_C')")]).toEqual(['NET_A', 'NET_C'])
  })
})
