import { describe, expect, it } from 'vitest'
import { type Kerberos, kerberosContext } from '../../src/node/credentials/kerberos.ts'
import { canary, leaks, shown } from '../harness/canary.ts'
import { failureOf } from '../harness/failure.ts'

const wanted = { id: 'mine', service: 'HTTP@data.example' }

interface Script {
  /** What each step gives, in turn; an error is thrown. */
  readonly steps?: readonly (string | null | Error)[]
  readonly begin?: Error
}

/** The package as it is when it is installed, with the library's answers. */
function library({ steps = [], begin }: Script = {}) {
  const asked: unknown[] = []
  const heard: string[] = []
  const kerberos: Kerberos = {
    GSS_C_DELEG_FLAG: 1,
    GSS_C_MUTUAL_FLAG: 2,
    GSS_MECH_OID_SPNEGO: 6,
    initializeClient: async (service, options) => {
      asked.push([service, options])
      if (begin) throw begin
      return {
        get contextComplete() {
          return heard.length === steps.length
        },
        step: async (token) => {
          const answer = steps[heard.length] ?? null
          heard.push(token)
          if (answer instanceof Error) throw answer
          return answer
        },
      }
    },
  }
  return { load: async () => kerberos, asked, heard }
}

const minor = (text: string) => new Error(`Unspecified GSS failure.  Minor code may provide more information: ${text}`)

describe('tickets of the system', () => {
  it('tickets of the system are used with SPNEGO, and the server has to prove itself', async () => {
    const { load, asked, heard } = library({ steps: ['first', 'second', null] })
    const context = await kerberosContext(wanted, load)
    expect([await context.step(), await context.step('a'), context.isComplete, await context.step('b'), context.isComplete]).toEqual([
      'first',
      'second',
      false,
      undefined,
      true,
    ])
    expect(asked).toEqual([['HTTP@data.example', { flags: 2, mechOID: 6 }]])
    expect(heard).toEqual(['', 'a', 'b'])
  })

  it('tickets of the system are those of a principal, and delegated, on request only', async () => {
    const { load, asked } = library()
    await kerberosContext({ ...wanted, principal: 'ada@EXAMPLE', delegate: true }, load)
    expect(asked).toEqual([['HTTP@data.example', { flags: 3, mechOID: 6, principal: 'ada@EXAMPLE' }]])
  })

  it('tickets of the system are waited for until the caller leaves', async () => {
    const controller = new AbortController()
    const kerberos = { ...(await library().load()), initializeClient: () => new Promise<never>(() => {}) }
    const failure = failureOf(kerberosContext({ ...wanted, signal: controller.signal }, async () => kerberos))
    controller.abort('enough')
    expect(await failure).toMatchObject({ code: 'ABORTED', cause: 'enough' })
  })

  it('tickets of the system need the package', async () => {
    expect(await failureOf(kerberosContext(wanted))).toMatchObject({
      code: 'SCHEME_UNSUPPORTED',
      credential: 'mine',
      hint: 'npm install kerberos',
    })
  })

  it('tickets of the system need the library of the system', async () => {
    const missing = new Error('Opening library libgssapi_krb5.so.2 failed: no such file')
    const uncompiled = Object.assign(new Error("Cannot find module '../build/Debug/kerberos.node'"), { code: 'MODULE_NOT_FOUND' })
    for (const reason of [missing, uncompiled]) {
      const error = await failureOf(kerberosContext(wanted, () => Promise.reject(reason)))
      expect(error).toMatchObject({ code: 'SCHEME_UNSUPPORTED', hint: expect.stringContaining('npm rebuild kerberos') })
    }
  })
})

describe('what the library says', () => {
  const none = 'No credentials were supplied, or the credentials were unavailable or inaccessible:'

  it.each([
    [new Error(`${none} SPNEGO cannot find mechanisms to negotiate`), 'LOGIN_REQUIRED', 'kinit'],
    [minor('No Kerberos credentials available (default cache: FILE:/tmp/krb5cc_0)'), 'LOGIN_REQUIRED', 'kinit'],
    [minor('Ticket expired'), 'LOGIN_REQUIRED', 'kinit'],
    [minor('Clock skew too great'), 'CLOCK_SKEW', 'clock'],
    [minor('Server HTTP/data.example@EXAMPLE not found in Kerberos database'), 'CREDENTIAL_SOURCE', 'registered'],
    [minor('Cannot contact any KDC for realm EXAMPLE'), 'CREDENTIAL_SOURCE', 'network'],
    [minor('KDC has no support for encryption type'), 'CREDENTIAL_SOURCE', 'kvno HTTP/data.example'],
    [new Error(''), 'CREDENTIAL_SOURCE', 'kvno HTTP/data.example'],
    [null, 'CREDENTIAL_SOURCE', 'kvno HTTP/data.example'],
  ])('%s is %s', async (error, code, hint) => {
    const found = await failureOf((await kerberosContext(wanted, library({ steps: [error] }).load)).step())
    expect(found).toMatchObject({ code, credential: 'mine', hint: expect.stringContaining(hint) })
  })

  it('what the library says of a principal names it', async () => {
    const begin = new Error(`${none} Can't find client principal bob@EXAMPLE in cache collection`)
    const found = await failureOf(kerberosContext({ ...wanted, principal: 'bob' }, library({ begin }).load))
    expect(found).toMatchObject({ code: 'LOGIN_REQUIRED', message: 'there is no Kerberos ticket of bob' })
  })

  it('about a token of the server is not about the ticket', async () => {
    const context = await kerberosContext(wanted, library({ steps: ['first', minor('Invalid token was supplied')] }).load)
    await context.step()
    expect(await failureOf(context.step('YII='))).toMatchObject({ code: 'AUTH_SERVER_UNPROVEN' })
  })

  it('what the library says is not passed on', async () => {
    const secret = canary('library')
    for (const text of [secret.value, `${secret.value} Ticket expired`]) {
      const context = await kerberosContext(wanted, library({ steps: [minor(text)] }).load)
      const error = await failureOf(context.step())
      expect(leaks([secret], { error: shown(error), json: JSON.stringify(error) })).toEqual([])
    }
  })
})
