import { describe, expect, it } from 'vitest'
import { canary, leaks, shown } from '../../harness/canary.ts'
import type { Json } from '../../harness/documents.ts'
import { scheme, target } from '../../harness/documents.ts'
import { failureOf } from '../../harness/failure.ts'
import { routes } from '../../harness/scripted.ts'
import { DATA, entries, SIGN_URL, SIGNED, victim } from '../../harness/victim.ts'

const F = `${DATA}f.tif`
const href = { in: 'query', required: true }

/** The signing call for a flow with these parameters. */
function asking(parameters: Json, entry: Json = {}, signed = F) {
  const script = routes({
    [SIGN_URL]: () => ({ body: { href: `${SIGNED}&n=${script.sent.length}` } }),
    [SIGNED]: {},
  })
  const { auth } = victim({ credentials: { ...entries.signer, ...entry } }, script)
  const wanted = target(scheme.signed(SIGN_URL, { parameters }), signed)
  const sent = () =>
    script.sent.filter(({ url }) => url.startsWith(SIGN_URL)).map(({ url }) => Object.fromEntries(new URL(url).searchParams))
  return { auth, wanted, sent, script }
}

describe('the function of the credential', () => {
  it("the function of the credential is asked first, with the catalog's definition and the URL", async () => {
    const heard: unknown[] = []
    const parameter = (name: string, definition: unknown, resource: { url: string; target?: { pointer: string } }) => {
      heard.push([name, definition, resource.url, resource.target?.pointer])
      return name === 'duration' ? 30 : name === '_id' ? undefined : name === 'key' ? 'mine' : undefined
    }
    const duration = { in: 'query', required: false, schema: { type: 'integer', maximum: 60 } }
    const parameters = { href, duration, _id: { in: 'query', required: false }, key: { in: 'query', required: true } }
    const { auth, wanted, sent } = asking(parameters, { parameter, parameters: { duration: '5', _id: 'me' } })
    await auth.authorize(wanted)
    expect(sent()).toEqual([{ href: F, duration: '30', _id: 'me', key: 'mine' }])
    expect(heard).toEqual(Object.entries(parameters).map(([name, definition]) => [name, definition, F, '/assets/data']))
  })

  it('the function of the credential may be asynchronous, and its answers make calls differ', async () => {
    let answer = 'a'
    const { auth, wanted, sent } = asking(
      { href, who: { in: 'query', required: true } },
      { parameter: async (name: string) => (name === 'who' ? answer : undefined) },
    )
    const first = await auth.authorize(wanted)
    expect((await auth.authorize(wanted)).url).toBe(first.url)
    expect(auth.peek(wanted)).toBeUndefined()
    answer = 'b'
    expect((await auth.authorize(wanted)).url).not.toBe(first.url)
    expect(sent().map(({ who }) => who)).toEqual(['a', 'b'])
  })

  it.each<[string, unknown, string]>([
    ['nothing for what is needed', undefined, 'PARAM_UNBOUND'],
    ['what the schema does not allow', 'x', 'PARAM_SCHEMA_VALUE'],
    ['an object', {}, 'CREDENTIAL_VALUE_INVALID'],
    ['NaN', Number.NaN, 'CREDENTIAL_VALUE_INVALID'],
    ['null', null, 'CREDENTIAL_VALUE_INVALID'],
    ['a line break', '5\r\nx', 'CREDENTIAL_VALUE_INVALID'],
  ])('the function of the credential that gives %s stops the call', async (_name, value, code) => {
    const parameters = { href, days: { in: 'query', required: true, schema: { type: 'integer' } } }
    const { auth, wanted, script } = asking(parameters, { parameter: (name: string) => (name === 'days' ? value : undefined) })
    expect(await failureOf(auth.authorize(wanted))).toMatchObject({ code })
    expect(script.sent).toEqual([])
  })

  it('the function of the credential that fails is not quoted', async () => {
    const hidden = canary('thrown')
    const parameter = () => {
      throw new Error(hidden.value)
    }
    const { auth, wanted, script } = asking({ href }, { parameter })
    const error = await failureOf(auth.authorize(wanted))
    expect(error).toMatchObject({ code: 'CREDENTIAL_SOURCE', credential: 'signer' })
    expect(leaks([hidden], { error: shown(error) })).toEqual([])
    expect(script.sent).toEqual([])
  })

  it('the function of the credential cannot be had by headers that the credential does not list', async () => {
    const { auth, wanted, script } = asking({ href, 'X-Who': { in: 'header', required: true } }, { parameter: () => 'me' })
    expect(await failureOf(auth.authorize(wanted))).toMatchObject({ code: 'PARAM_FORBIDDEN' })
    expect(script.sent).toEqual([])
  })

  it('the function of the credential is for code only', async () => {
    const { auth } = asking({ href }, { parameter: 'href' })
    expect(await failureOf(auth.ready())).toMatchObject({ code: 'CONFIG_INVALID', pointer: '/credentials/0/parameter' })
  })
})

describe("the credential's own values", () => {
  const days = { in: 'query', required: true, schema: { type: 'integer', minimum: 1, maximum: 7 } }
  const at = '/properties/auth:schemes/k/flows/authorizationCode/parameters/days/schema'

  it.each([
    ['a text', '8', { code: 'PARAM_SCHEMA_VALUE', pointer: at }],
    ['a source', () => '8', { code: 'PARAM_SCHEMA_VALUE' }],
    ['a text that is no number', 'many', { code: 'PARAM_SCHEMA_VALUE', pointer: at }],
  ])("the credential's own values from %s are held against the schema", async (_name, value, expected) => {
    const { auth, wanted, script } = asking({ href, days }, { parameters: { days: value } })
    expect(await failureOf(auth.authorize(wanted))).toMatchObject(expected)
    expect(script.sent).toEqual([])
  })

  it("the credential's own values that satisfy it are sent", async () => {
    const { auth, wanted, sent } = asking({ href, days }, { parameters: { days: '7' } })
    await auth.authorize(wanted)
    expect(sent()).toEqual([{ href: F, days: '7' }])
  })
})

describe('the conventions', () => {
  it.each([
    ['href and url', { href, url: { in: 'query', required: true } }, F, { href: F, url: F }],
    [
      'bucket and key in the host',
      { bucket: href, key: href },
      'https://eo.s3.eu-central-1.amazonaws.com/a%20b/c+d.tif',
      { bucket: 'eo', key: 'a b/c d.tif' },
    ],
    ['bucket and key in the path', { bucket: href, key: href }, 'https://s3.example.com/eo/a/b.tif', { bucket: 'eo', key: 'a/b.tif' }],
    ['bucket and key of s3:', { bucket: href, key: href }, 's3://eo/a/b.tif', { bucket: 'eo', key: 'a/b.tif' }],
    ['duration and _id are not among them', { href, duration: { in: 'query' }, _id: { in: 'query' } }, F, { href: F }],
  ])('the conventions are %s', async (_name, parameters, address, expected) => {
    const sendTo = ['https://eo.s3.eu-central-1.amazonaws.com/', 'https://s3.example.com/eo/', 's3://eo/', DATA]
    const { auth, wanted, sent } = asking(parameters, { sendTo }, address)
    await auth.authorize(wanted)
    expect(sent()).toEqual([expected])
  })
})
