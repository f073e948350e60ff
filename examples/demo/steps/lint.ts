import { lintText, type Problem } from 'stac-auth/lint'
import { AUTHENTICATION } from '../documents.ts'
import { type Step, tally } from '../step.ts'

/** The portal's own word is on purpose, so the finding about it is only a note. */
const rules = { 'http-scheme-unregistered': 'info' } as const

/** Every document is without errors and warnings, by the strict rules. */
export const lintStep: Step = {
  title: 'lint',
  async run({ pages }) {
    const problems = pages.flatMap(({ text, url }) => lintText(text, { url, document: url, preset: 'strict', rules }))
    const of = (level: Problem['severity']) => problems.filter(({ severity }) => severity === level)
    const [errors, warnings, notes] = [of('error'), of('warn'), of('info')]
    const undeclared = pages.filter(
      ({ document: { stac_extensions } }) => !Array.isArray(stac_extensions) || !stac_extensions.includes(AUTHENTICATION),
    )
    return {
      summary: `${pages.length} documents, extension 1.1.0: ${errors.length} errors, ${warnings.length} warnings (noted: ${tally(notes.map(({ rule }) => rule))})`,
      failures: [
        ...[...errors, ...warnings].map(({ document, pointer, rule, message }) => `${document} ${pointer} ${rule}: ${message}`),
        ...undeclared.map(({ url }) => `${url} does not declare the extension in version 1.1.0`),
      ],
    }
  },
}
