import { describe, expect, it } from 'vitest'
import { lint, lintText } from '../../src/lint/index.ts'
import { caseCount } from '../harness/case-count.ts'
import { damage, documents, randomFrom } from './damaged.ts'

const sound = (problems: readonly { code: string; message: string; pointer: string }[]) =>
  problems.every(
    ({ code, message, pointer }) => code && message && !/\{\S/.test(message) === !/\{\w+\}/.test(message) && /^(?:\/.*)?$/s.test(pointer),
  )

describe('damaged documents', () => {
  it('never make it throw, and every finding has a message and a pointer', () => {
    const random = randomFrom(20261120)
    for (let left = caseCount(6000, 500); left > 0; left--) {
      let document: unknown = documents[random(documents.length)]
      for (let times = 1 + random(4); times > 0; times--) document = damage(document, random)
      const text = JSON.stringify(document) ?? 'null'
      const problems = lint(JSON.parse(text), { preset: 'strict' })
      expect(sound(problems), text).toBe(true)
      expect(
        lintText(text, { preset: 'strict' })
          .map(({ code, pointer }) => `${code} ${pointer}`)
          .sort(),
        text,
      ).toEqual(problems.map(({ code, pointer }) => `${code} ${pointer}`).sort())
    }
    expect(Object.prototype).not.toHaveProperty('auth:refs')
  })
})
