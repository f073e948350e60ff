import { describe, expect, it } from 'vitest'
import { hasOtherTags, inForm, markdownParts } from '../../../../src/services/translation/catalog/markdown-parts.ts'

describe('a translated paragraph', () => {
  it.each([
    ['1. Januar', '1\\. Januar'],
    ['12) zwei', '12\\) zwei'],
    ['- Rot', '\\- Rot'],
    ['+ Rot', '\\+ Rot'],
    ['* Rot', '\\* Rot'],
    ['# Rot', '\\# Rot'],
    ['> Rot', '\\> Rot'],
    ['~~~', '\\~~~'],
    ['```sh', '\\```sh'],
    ['---', '\\---'],
    ['===', '\\==='],
    ['* * *', '\\* * *'],
    ['[a]: b', '\\[a]: b'],
    ['| a | b |', '\\| a | b |'],
    ['    code', 'code'],
  ])('a translated paragraph that is %j begins nothing', (translation, text) => {
    expect(inForm(translation, 'Red', false)).toBe(text)
    expect(markdownParts(text).some((part) => 'prose' in part)).toBe(true)
  })

  it.each(['1.5 m', '-5', '#tag', '*rot* und', '```a``` b', '**a**', '[a](b)', '2024 war', 'a | b'])(
    'a translated paragraph that is %j stays so',
    (translation) => {
      expect(inForm(translation, 'Red', false)).toBe(translation)
    },
  )

  it('a translated paragraph may begin as the original does', () => {
    expect(inForm('- Rot', '- Red', false)).toBe('- Rot')
  })
})

it('a translated cell ends no cell', () => {
  expect(inForm('rot | nah \\| fern', 'red', true)).toBe('rot \\| nah \\| fern')
  expect(inForm('rot \\\\| nah', 'red', true)).toBe('rot \\\\\\| nah')
  expect(inForm('rot\\', 'red', true)).toBe('rot')
  expect(inForm('a\\', 'a\\', true)).toBe('a\\')
})

it('HTML comes from the original, as often as it stands there', () => {
  expect(hasOtherTags('x <b>y</b>', '<b>y</b> x')).toBe(false)
  expect(hasOtherTags('a < b, 5<6', 'a')).toBe(false)
  for (const text of ['<b', '<b/>', '</i>', '<!--', '<?php', '<b>a</b><b>']) expect(hasOtherTags(text, '<b>a</b>')).toBe(true)
})
