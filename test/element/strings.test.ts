import { describe, expect, it } from 'vitest'
import { stateOf, titleOf } from '../../src/element/provider-facts.ts'
import { english, filled, listInWords, type Strings, stringsFor, timeInWords } from '../../src/element/strings.ts'

const { strings: german } = await stringsFor('de-CH')

describe('the texts of the element', () => {
  it('are English, unless the language is German', async () => {
    expect((await stringsFor('de')).lang).toBe('de')
    expect(await stringsFor('den')).toEqual({ lang: 'en', strings: english })
    expect((await stringsFor('fr-CA')).lang).toBe('en')
  })

  it.each(Object.entries(english))('have the same values in both languages: %s', (name, text) => {
    const values = (from: string) => [...from.matchAll(/\{\w+\}/g)].map(String).sort()
    expect(values(german[name as keyof Strings])).toEqual(values(text))
  })

  it('take values as they are, also those that look like another value', () => {
    expect(filled('{id} until {time}', { id: '{time}', time: '$&' })).toBe('{time} until $&')
    expect(filled('{constructor} {x}')).toBe('{constructor} {x}')
  })

  it('call no requirement unsupported in its title: an engine with a strategy of its own may support it', () => {
    const provider = { key: '', count: 1, ready: ['ticket'], isMissing: false, endpointDiffers: false }
    expect(stateOf(provider)).toBe('ready')
    for (const [lang, strings] of [['en', english] as const, ['de', german] as const])
      expect(titleOf(provider, lang, strings)).not.toMatch(/unsupported|nicht/i)
  })

  it('name up to three hosts, and count more', () => {
    expect(listInWords(['a', 'b', 'c'], 'en-GB', english)).toBe('a, b and c')
    expect(listInWords(['a', 'b'], 'de', german)).toBe('a und b')
    expect(listInWords(['a', 'b', 'c', 'd'], 'en', english)).toBe('4 hosts')
  })
})

describe('a time in words', () => {
  const now = new Date(2026, 2, 4, 13, 30)

  it('is the time of day today, and has the day otherwise', () => {
    expect(timeInWords(new Date(2026, 2, 4, 14, 5), now, 'de')).toBe('14:05')
    expect(timeInWords(new Date(2026, 2, 5, 14, 5), now, 'de')).toBe('5. März 2026 um 14:05')
    expect(timeInWords(new Date(2026, 2, 5, 14, 5), now, 'en-GB')).toBe('5 March 2026 at 14:05')
  })
})
