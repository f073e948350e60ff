/** Fills the generated table of docs/translation.md with the operations of the translation client. */
import { readFileSync } from 'node:fs'
import { operations } from '../src/services/translation/operations.ts'
import { checkOnly, emit } from './emit.ts'

const page = new URL('../docs/translation.md', import.meta.url)
const HEAD = ['| method of the client | request | repeated | key | notes |', '| --- | --- | --- | --- | --- |']

const rows = Object.values(operations).map(({ name, method, path, replay, right, form, billed, stability }) => {
  const remarks = [stability, form && 'form possible', billed && 'billed again'].filter(Boolean).join(', ')
  return `| \`${name}\` | \`${method} ${path}\` | ${replay} | ${right} | ${remarks} |`
})

emit(
  page,
  readFileSync(page, 'utf8').replace(
    /(<!-- generated: operations -->\n)[\s\S]*?(<!-- end -->)/,
    (_all, open: string, end: string) => `${open}${[...HEAD, ...rows, ''].join('\n')}${end}`,
  ),
  checkOnly(),
)
