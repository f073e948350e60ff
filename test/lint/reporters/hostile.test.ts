import { SaxesParser } from 'saxes'
import { describe, expect, it } from 'vitest'
import { FORMATS, reporterOf } from '../../../src/lint/reporters/report.ts'
import { HOSTILE, hostileReport } from './subjects.ts'

const texts = new Map([[HOSTILE, `1\n2\n3\n${HOSTILE}\n`]])

describe.each(FORMATS)('hostile text as %s', async (format) => {
  const text = (await reporterOf(format))(hostileReport(), { texts, names: [HOSTILE, '::warning::x'] })

  it('holds nothing that a terminal obeys or that hides text', () => {
    expect(text).not.toMatch(/[^\P{Cc}\n]|\p{Bidi_Control}|\p{Surrogate}|[\u2028\u2029]/u)
  })

  it('holds no command of a build service', () => {
    expect(text).not.toMatch(/##\w*\[/)
    if (format === 'github')
      for (const line of text.trimEnd().split('\n')) expect(line).toMatch(/^::(?:error|warning|notice) [^:]*::[^\r\n]*$/)
    else expect(text).not.toMatch(/^\s*::/m)
  })

  it('stays within the lines that the format makes', async () => {
    const lines = text.split('\n').length
    const tame = hostileReport().problems.map((problem) => ({ ...problem, message: 'm', id: 'i', pointer: '/p', document: 'd' }))
    // Only github has a line for what could not be read.
    if (format === 'github') expect(lines).toBe(tame.length + 3)
    else if (format === 'concise' || format === 'ndjson') expect(lines).toBe(tame.length + 2)
    else expect(lines).toBeGreaterThan(tame.length)
  })
})

describe('what is made of hostile text', () => {
  it('what is made of hostile text is JSON that gives the text back', async () => {
    for (const format of ['json', 'gitlab', 'rdjson', 'sarif'] as const) {
      const text = (await reporterOf(format))(hostileReport())
      expect(JSON.stringify(JSON.parse(text))).toContain('pwned')
    }
    expect(JSON.parse((await reporterOf('json'))(hostileReport())).problems[0].message).toBe(HOSTILE)
  })

  it('what is made of hostile text is escaped where GitHub splits, and names no file that could be a URL', async () => {
    const [first = ''] = (await reporterOf('github'))(hostileReport()).split('\n')
    const [, properties = ''] = first.split(' ', 1).concat(first.split('::')[1] ?? '')
    expect(properties).not.toContain('%0A')
    expect(first).not.toMatch(/%0[AD]/)
    expect(first).toContain('%250A')
  })

  it('hostile text becomes no link and no argument in SARIF, also where something could not be read', async () => {
    const [run] = JSON.parse((await reporterOf('sarif'))(hostileReport())).runs
    const results: { message: { text: string } }[] = [...run.results, ...run.invocations[0].toolExecutionNotifications]
    expect(results).toHaveLength(5)
    for (const { message } of results) {
      expect(message.text).toContain('\\[link\\](javascript:x)')
      expect(message.text).toContain('{{0}}')
    }
  })

  it('what is made of hostile text is XML that gives no element of its own', async () => {
    const xml = (await reporterOf('junit'))(hostileReport())
    const names = new Set<string>()
    const parser = new SaxesParser()
    parser.on('error', (error) => {
      throw error
    })
    parser.on('opentag', ({ name }) => names.add(name))
    parser.write(xml).close()
    expect([...names].sort()).toEqual(['error', 'failure', 'system-out', 'testcase', 'testsuite', 'testsuites'])
    expect(xml).not.toContain(']]>')
  })

  it('hostile text becomes code in Markdown: no markup, mention, link or HTML outside of a code span', async () => {
    const markdown = (await reporterOf('markdown'))(hostileReport())
    const outside = markdown.replace(/(`+)(?!`)[\s\S]*?(?<!`)\1(?!`)/g, '')
    expect(outside).not.toMatch(/[<@!|]|javascript|pwned|code/)
    expect(markdown).toContain('@someone')
  })
})
