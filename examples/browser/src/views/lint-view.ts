/** What the linter says about the open document. */
import type { Problem } from 'stac-auth/lint'
import { element, fill } from '../dom.ts'
import { plain } from '../fields.ts'
import type { OpenDocument } from '../reader.ts'
import { refusalOf, refusalView } from './refusal.ts'

const WORDS = { error: 'Error', warn: 'Warning', info: 'Note' } as const

const MESSAGE_LENGTH = 500

/** A part that fills itself: the linter is loaded only now. */
export function lintView({ text, url, parents }: OpenDocument): HTMLElement {
  const place = element('div', { class: 'findings' }, 'Looking …')
  void import('stac-auth/lint')
    .then(({ lintText }) => fill(place, ...findings(lintText(text, { url, parents }))))
    .catch((error: unknown) => fill(place, refusalView(refusalOf(error))))
  return element('section', { class: 'card', 'aria-labelledby': 'lint' }, element('h2', { id: 'lint' }, 'Lint'), place)
}

function findings(problems: readonly Problem[]): readonly HTMLElement[] {
  if (problems.length === 0) return [element('p', { class: 'clean' }, 'No findings: the document describes its access without errors.')]
  return [element('ul', {}, ...problems.map(findingView))]
}

function findingView({ rule, severity, message, pointer, line }: Problem): HTMLElement {
  return element(
    'li',
    {},
    element('span', { class: `badge severity ${severity}` }, WORDS[severity]),
    element('span', {}, plain(message, MESSAGE_LENGTH)),
    element(
      'span',
      { class: 'where' },
      element('code', {}, rule),
      ' at ',
      element('code', {}, plain(pointer) || '/'),
      line !== undefined && `, line ${line}`,
    ),
  )
}
