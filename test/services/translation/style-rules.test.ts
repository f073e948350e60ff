import { describe, expect, it } from 'vitest'
import { failureOf } from '../../harness/failure.ts'
import { fakeClient } from './fake-client.ts'

const RULES = { numbers: { decimals: 'comma' } }
const LIST = { name: 'House', language: 'de', configured_rules: RULES, custom_instructions: [{ label: 'Polite', prompt: 'Be polite.' }] }

describe('style rules', () => {
  it('style rules are made, read, changed and deleted', async () => {
    const { client } = await fakeClient()
    const { styleRules } = client
    const made = await styleRules.create(LIST)
    expect(made).toMatchObject({ ...LIST, custom_instructions: [{ label: 'Polite' }], version: 1, response: { status: 201 } })
    const { style_id } = made
    expect(await styleRules.rename(style_id, { name: 'Home' })).toMatchObject({ name: 'Home', version: 2 })
    const replaced = await styleRules.setRules(style_id, { punctuation: { quotes: 'double' } })
    expect(replaced.configured_rules).toEqual({ punctuation: { quotes: 'double' } })
    const { instructions } = styleRules
    const { id } = await instructions.create(style_id, { label: 'Short', prompt: 'Be short.', source_language: 'en' })
    expect(await instructions.get(style_id, id)).toEqual({ id, label: 'Short', prompt: 'Be short.', source_language: 'en' })
    expect(await instructions.replace(style_id, id, { label: 'Brief', prompt: 'Be brief.' })).toEqual({
      id,
      label: 'Brief',
      prompt: 'Be brief.',
    })
    expect((await styleRules.get(style_id)).custom_instructions).toHaveLength(2)
    expect((await instructions.delete(style_id, id)).response.status).toBe(204)
    expect((await styleRules.get(style_id)).custom_instructions).toHaveLength(1)
    expect((await styleRules.delete(style_id)).response.status).toBe(204)
    expect(await failureOf(styleRules.get(style_id))).toMatchObject({ code: 'HTTP_404', operation: 'styleRules.get' })
  })

  it.each([
    [20, 10, 3],
    [23, 10, 3],
    [3, undefined, 1],
    [0, 25, 1],
  ])('%i of them come in pages of %s: %i requests', async (count, page_size, requests) => {
    const { client, fake } = await fakeClient()
    for (let n = 0; n < count; n++) await client.styleRules.create({ name: `List ${n}`, language: 'en' })
    const before = fake.requests(33)
    const names = (await client.styleRules.iterate({ ...(page_size && { page_size }) }).toArray()).map(({ name }) => name)
    expect(names).toEqual(Array.from({ length: count }, (_, n) => `List ${n}`))
    expect(fake.requests(33) - before).toBe(requests)
  })

  it('style rules come with details on request, from any page, and no further than they are wanted', async () => {
    const { client, fake } = await fakeClient()
    for (let n = 0; n < 5; n++) await client.styleRules.create({ ...LIST, name: `List ${n}` })
    const { style_rules } = await client.styleRules.list({ page: 1, page_size: 2, detailed: true })
    expect(style_rules).toMatchObject([{ name: 'List 2', configured_rules: RULES }, { name: 'List 3' }])
    expect((await client.styleRules.list()).style_rules[0]).not.toHaveProperty('configured_rules')
    const names: string[] = []
    for await (const { name, configured_rules } of client.styleRules.iterate({ page: 1, page_size: 2, detailed: true })) {
      names.push(name)
      expect(configured_rules).toEqual(RULES)
    }
    expect(names).toEqual(['List 2', 'List 3', 'List 4'])
    const before = fake.requests(33)
    expect(await client.styleRules.iterate({ page_size: 2 }, { limit: 2 }).toArray()).toHaveLength(2)
    expect(fake.requests(33) - before).toBe(1)
  })

  it('style rules have limits, which hold before anything is sent and only where they are to', async () => {
    const { client, fake } = await fakeClient()
    const { styleRules } = client
    const instruction = { label: '😀'.repeat(100), prompt: '😀'.repeat(300) }
    const { style_id } = await styleRules.create({ ...LIST, name: 'a'.repeat(1024), custom_instructions: Array(200).fill(instruction) })
    const before = fake.log.length
    const refusals = await Promise.all(
      [
        styleRules.create({ ...LIST, name: 'a'.repeat(1025) }),
        styleRules.create({ ...LIST, custom_instructions: Array(201).fill(instruction) }),
        styleRules.create({ ...LIST, custom_instructions: [instruction, { label: 'a', prompt: 'a'.repeat(301) }] }),
        styleRules.rename(style_id, { name: 'a'.repeat(1025) }),
        styleRules.instructions.create(style_id, { label: 'a'.repeat(101), prompt: 'a' }),
        styleRules.instructions.replace(style_id, 'x', { label: 'a', prompt: 'a'.repeat(301) }),
        styleRules.list({ page_size: 26 }),
        styleRules.list({ page_size: 0 }),
      ].map((work) => failureOf<{ field: string; limit: unknown }>(work)),
    )
    expect(refusals.map(({ field, limit }) => `${field} ${limit}`)).toEqual([
      'name 1024',
      'custom_instructions 200',
      'custom_instructions[1].prompt 300',
      'name 1024',
      'label 100',
      'prompt 300',
      'page_size 25',
      'page_size 25',
    ])
    expect(fake.log).toHaveLength(before)
    const asked = await failureOf(
      styleRules.instructions.create(style_id, { label: 'a'.repeat(101), prompt: 'a' }, { validate: 'document' }),
    )
    expect(asked).toMatchObject({ code: 'HTTP_400' })
  })

  it('style rules are not made twice, and replaced again after a failure', async () => {
    const { client, fake, clock } = await fakeClient()
    const { style_id } = await client.styleRules.create(LIST)
    fake.script({ match: { op: 39 }, do: { status: 500 } })
    expect(await failureOf(client.styleRules.instructions.create(style_id, { label: 'a', prompt: 'b' }))).toMatchObject({ attempts: 1 })
    fake.script({ match: { op: 38 }, do: { status: 500 } })
    expect((await clock.run(client.styleRules.setRules(style_id, {}))).response.attempts).toBe(2)
  })
})
