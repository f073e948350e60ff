/** Which findings stand for others, so that one mistake is told once. */
import { schemeOfType } from './pointer.ts'
import type { Finding } from './runner.ts'

/** True when `by` already says what `finding` says. */
export type Swallow = (finding: Finding, by: Finding) => boolean

const within: Swallow = (finding, by) => finding.pointer === by.pointer || finding.pointer.startsWith(`${by.pointer}/`)

/** Secrets and refs in the wrong place are mistakes of their own wherever they are. */
const insideOnly: Swallow = (finding, by) =>
  within(finding, by) && finding.code !== 'secret-in-document' && finding.code !== 'misplaced-refs'

const wholeScheme: Swallow = (finding, by) => insideOnly(finding, { ...by, pointer: schemeOfType(by.pointer) })

const notSecret: Swallow = (finding, by) => within(finding, by) && finding.code !== 'secret-in-document'

/** By the code of the finding that stands for others. */
export const swallows: Readonly<Record<string, Swallow | undefined>> = {
  'document-shape': (finding, by) =>
    by.pointer !== '' && finding.code !== 'secret-in-document' && finding.pointer.startsWith(`${by.pointer}/`),
  'misplaced-schemes': (finding, by) =>
    (finding.code === 'missing-schemes' && finding.pointer.replace(/\/properties$/, '/auth:schemes') === by.pointer) ||
    notSecret(finding, by),
  'misplaced-refs': notSecret,
  'missing-schemes': (finding) => finding.code === 'dangling-ref',
  'flows-shape': insideOnly,
  'type-near-miss': wholeScheme,
  'missing-type': (finding, by) => notSecret(finding, { ...by, pointer: schemeOfType(by.pointer) }),
  'flow-name': (finding, by) => finding.code === 'required-field' && finding.pointer === by.pointer,
}
