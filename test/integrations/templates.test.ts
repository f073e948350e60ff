import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseDocument } from 'yaml'
import { root } from '../architecture/files.ts'

const FOLDER = `${root}.github/ISSUE_TEMPLATE`
const forms = readdirSync(FOLDER).filter((name) => name !== 'config.yml')

interface Form {
  readonly name: string
  readonly description: string
  readonly body: readonly { readonly type: string; readonly id?: string; readonly attributes: { readonly value?: string } }[]
}

function read(name: string): Form {
  const document = parseDocument(readFileSync(`${FOLDER}/${name}`, 'utf8'), { strict: true, uniqueKeys: true })
  expect([...document.errors, ...document.warnings]).toEqual([])
  return document.toJS() as Form
}

describe.each(forms)('the issue form %s', (name) => {
  it(`${name} warns of secrets before anything can be typed`, () => {
    const { body } = read(name)
    expect(body[0]).toMatchObject({ type: 'markdown', attributes: { value: expect.stringContaining('**Paste no secret**') } })
    const ids = body.flatMap(({ id }) => id ?? [])
    expect(ids.length).toBeGreaterThan(0)
    expect(new Set(ids).size).toBe(ids.length)
  })

  it(`${name} names commands and pages that exist`, () => {
    const text = readFileSync(`${FOLDER}/${name}`, 'utf8')
    const commands = [...text.matchAll(/(?:`|\$ )stac-auth ([a-z-]+)/g)].map(([, command = '']) => command)
    expect(commands.length).toBeGreaterThan(0)
    expect(commands.filter((command) => !existsSync(`${root}src/cli/commands/${command}.ts`))).toEqual([])
    const pages = [...text.matchAll(/\(\.\.\/blob\/main\/([^)#]+)/g)].map(([, page = '']) => page)
    expect(pages.filter((page) => !existsSync(root + page))).toEqual([])
  })
})

it('there are forms for a fault, a provider and a question, and nothing is opened without one', () => {
  expect(forms).toEqual(['1-fault.yml', '2-provider.yml', '3-question.yml'])
  expect(readFileSync(`${FOLDER}/config.yml`, 'utf8')).toBe('blank_issues_enabled: false\n')
})

it('reports of conduct and of vulnerabilities go the same private way', () => {
  expect(readFileSync(`${root}CODE_OF_CONDUCT.md`, 'utf8')).toContain('(SECURITY.md#reporting-a-vulnerability)')
  expect(readFileSync(`${root}SECURITY.md`, 'utf8')).toMatch(/^## Reporting a vulnerability\n\n.*private security advisory/m)
})
