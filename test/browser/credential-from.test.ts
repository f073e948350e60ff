import { describe, expect, it } from 'vitest'
import { createAuth } from '../../src/auth/create-auth.ts'
import { credentialFrom, describeRequirements } from '../../src/browser/credential-form.ts'
import { canaryOf, leaks, shown } from '../harness/canary.ts'
import { found, type Json, target } from '../harness/documents.ts'
import { failureOf } from '../harness/failure.ts'
import { unchecked } from '../harness/unchecked.ts'

const PLACE = 'https://data.example/'
const basic = { type: 'http', scheme: 'basic' }
const service = { type: 'oauth2', flows: { clientCredentials: { tokenUrl: 'https://identity.example/token', scopes: { admin: 'all' } } } }

async function formFor(scheme: Json) {
  return found((await describeRequirements(target(scheme, `${PLACE}a.tif`)))[0])
}

describe('the credential for a form', () => {
  it('the credential for a form opens what the form was made for, and nothing else', async () => {
    const credential = await credentialFrom(
      await formFor(basic),
      { username: 'ada', password: 'p4ss word' },
      { sendTo: [PLACE], id: 'mine' },
    )
    expect(credential).toEqual({ id: 'mine', type: 'http', scheme: 'basic', username: 'ada', password: 'p4ss word', sendTo: [PLACE] })
    const auth = createAuth({ credentials: unchecked([credential]) })
    const { headers } = await auth.authorize(target(basic, `${PLACE}b.tif`))
    expect(headers.authorization).toBe(`Basic ${btoa('ada:p4ss word')}`)
    const elsewhere = await failureOf(auth.authorize(target(basic, 'https://data.example.evil.example/b.tif')))
    expect(elsewhere).toMatchObject({ code: 'CREDENTIAL_TARGET_UNTRUSTED' })
  })

  it('the credential for a form is sent only where the form said and the person agreed', async () => {
    const form = await formFor(basic)
    const typed = { username: 'ada', password: 'secret-password' }
    for (const sendTo of [['https://evil.example/'], [PLACE, 'https://*.example.org/'], []]) {
      const error = await failureOf(credentialFrom(form, typed, { sendTo }))
      expect(error).toMatchObject({ code: 'CONFIG_INVALID', pointer: '/sendTo' })
      expect(leaks([canaryOf('secret-password')], { error: shown(error) })).toEqual([])
    }
  })

  it('gives a secret to no endpoint that no one agreed to', async () => {
    const form = await formFor(service)
    const typed = { clientId: 'me', clientSecret: 's', scopes: 'read write' }
    expect(await failureOf(credentialFrom(form, typed, { sendTo: [PLACE] }))).toMatchObject({
      code: 'CONFIG_INVALID',
      pointer: '/secretTo',
    })
    const credential = await credentialFrom(form, typed, { sendTo: [PLACE], secretTo: form.secretTo })
    expect(credential).toMatchObject({ tokenUrl: 'https://identity.example/token', scopes: ['read', 'write'] })
  })

  it('takes neither scopes nor places from the catalog', async () => {
    const form = await formFor(service)
    const credential = await credentialFrom(form, { clientId: 'me', clientSecret: 's' }, { sendTo: [PLACE], secretTo: form.secretTo })
    expect(credential).not.toHaveProperty('scopes')
  })

  it('the credential for a form must be complete and have no other fields', async () => {
    const form = await formFor(basic)
    const consent = { sendTo: [PLACE] }
    expect(await failureOf(credentialFrom(form, { username: 'ada' }, consent))).toMatchObject({
      code: 'CONFIG_INVALID',
      pointer: '/password',
    })
    expect(await failureOf(credentialFrom(form, { username: 'ada', password: '' }, consent))).toMatchObject({ pointer: '/password' })
    for (const name of ['sendTo', 'type', 'toString', 'token']) {
      const error = await failureOf(credentialFrom(form, { username: 'a', password: 'b', [name]: 'x' }, consent))
      expect(error).toMatchObject({ code: 'CONFIG_INVALID', pointer: `/${name}` })
    }
  })

  it('the credential for a form is validated as by createAuth: errors name the field', async () => {
    const form = await formFor({ type: 'apiKey', in: 'header', name: 'x-key' })
    const error = await failureOf(credentialFrom(form, { value: 'k' }, { sendTo: [PLACE], id: 'no blanks, please' }))
    expect(error).toMatchObject({ code: 'CONFIG_INVALID', pointer: '/id' })
  })

  it('the credential for a form is not made where a page cannot use it', async () => {
    const form = await formFor({ type: 'apiKey', in: 'cookie', name: 'c' })
    expect(await failureOf(credentialFrom(form, { value: 'k' }, { sendTo: [PLACE] }))).toMatchObject({
      name: 'UnsupportedError',
      code: 'UNSUPPORTED_IN_BROWSER',
    })
  })
})
