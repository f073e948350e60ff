import { describe, expect, it } from 'vitest'
import { unauthorized } from '../../harness/auth-flow.ts'
import { failureOf } from '../../harness/failure.ts'
import type { Reply } from '../../harness/scripted.ts'
import { challenge, contextFor, fields, get, MUFASA, ok, post, sent } from './digest-steps.ts'

const NONCE = '7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v'
const CNONCE = 'f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ'

describe('the examples of RFC 7616', () => {
  const asked = ['SHA-256', 'MD5'].map(
    (algorithm) =>
      `Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=${algorithm}, nonce="${NONCE}", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"`,
  )
  it.each([
    ['MD5', '8ca523f5e9506fed4657c9700eebdbec'],
    ['SHA-256', '753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1'],
  ])('the examples of RFC 7616 are answered as §3.9.1 says: %s', async (algorithm, response) => {
    const context = contextFor({ ...MUFASA, algorithms: [algorithm] }, CNONCE)
    expect(await sent(context, [unauthorized(asked.join(', '))])).toEqual([
      undefined,
      `Digest username="Mufasa", realm="http-auth@example.org", uri="/dir/index.html", algorithm=${algorithm}, nonce="${NONCE}", ` +
        `qop=auth, nc=00000001, cnonce="${CNONCE}", response="${response}", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"`,
    ])
  })

  it('the examples of RFC 7616 are answered as §3.9.2 says once erratum 4897 is applied', async () => {
    const context = contextFor({ username: 'Jäsøn Doe', password: 'Secret, or not?' }, 'NTg6RKcb9boFIAS3KrFK9BGeh+iDa/sm6jUMp2wds69v')
    const challenged = `qop="auth", algorithm=SHA-512-256, nonce="5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK", charset=UTF-8, userhash=true`
    expect(await fields(context, [challenge(challenged, 'api@example.org')], get('/doe.json'))).toMatchObject({
      username: '793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b',
      userhash: 'true',
      response: '3798d4131c277846293534c3edc11bd8a5e4cdcbff78b05db9d95eeb1cec68a5',
    })
  })
})

it('answers the example of RFC 2617 §3.5', async () => {
  const context = contextFor({ username: 'Mufasa', password: 'Circle Of Life' }, '0a4f113b')
  const asked = 'qop="auth,auth-int", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", opaque="5ccc069c403ebaf9f0171e9517f40e41"'
  expect(await sent(context, [challenge(asked, 'testrealm@host.com')])).toEqual([
    undefined,
    'Digest username="Mufasa", realm="testrealm@host.com", uri="/dir/index.html", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", ' +
      'qop=auth, nc=00000001, cnonce="0a4f113b", response="6629fae49393a05397450978507c4ef1", opaque="5ccc069c403ebaf9f0171e9517f40e41"',
  ])
})

/** Inputs of RFC 7616 §3.9.1, hashed with OpenSSL by the formulas of §3.4. */
describe.each([
  {
    algorithm: 'MD5',
    plain: '8ca523f5e9506fed4657c9700eebdbec',
    session: 'e783283f46242139c486a698fec7211d',
    empty: '8804a53d3640a40a4f73cea12c5ba451',
    hello: '23fef4d928a3e9fa6e0b0de51288c997',
    proof: '9b712497bc9f91499fbcca1dfc5f09a5',
    old: '7b2cc3b30e75b4777ea31027084363fd',
  },
  {
    algorithm: 'SHA-256',
    plain: '753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1',
    session: '2fd51b3a77ad75bad6afad6003e818d767133c46d9e2749e7f5232ae1ea3efd7',
    empty: '8bdf6f15638e260831e905028de5450562816d093c9bfc5c13d3a46adcdde940',
    hello: 'c98b95dbdb463c4483e324bced57d591946a6f84098142757b1333c52c47d62e',
    proof: '86d3b25618d41854ca5039a5d7e53ff6355d5134a9b1fb088a78ac3c462195a0',
    old: 'a1306b0595a6c7fe96c448631fb5cfbd5107bd1fe1da729d978dd7446b812363',
  },
  {
    algorithm: 'SHA-512-256',
    plain: '430d05014cecc49cab6fbe03176d41a1da86cbfe24a16580e22aaad928d960d0',
    session: '3f2a34f923c38b0fb26dce2fdfc2ce326c23cecf86fbb1444f3e51fbbc2cb92e',
    empty: '38244c4d345d09bb0000b355be27d2a55003ee188df9821c54df70a63aa0c1ca',
    hello: '94b85dbcbbb97c3bda2751c7e160fe6604eccca585f3cbff75d2a23f0085ed70',
    proof: 'c8f9593a4f49b95ce2c483cc3222ecd360a5c6ec52ca24a530b0aac18478de8c',
    old: '93e9122020ea0624d2ca801426d5bfbeb93d10ff4cc24cb410af3920fa4730e7',
  },
])('$algorithm', ({ algorithm, plain, session, empty, hello, proof, old }) => {
  const asked = (more: string, name = algorithm) => challenge(`nonce="${NONCE}", algorithm=${name}${more}`, 'http-auth@example.org')
  const answer = async (reply: Reply, request = get()) => (await fields(contextFor(MUFASA, CNONCE), [reply], request)).response

  it('protects the request line (auth), and it alone where there is a choice', async () => {
    expect(await answer(asked(', qop=auth'))).toBe(plain)
    expect(await answer(asked(', qop="auth-int, auth"'), { ...get(), body: 'hello' })).toBe(plain)
  })

  it('binds the account to the nonce (-sess)', async () => {
    expect(await answer(asked(', qop="auth"', `${algorithm}-sess`))).toBe(session)
  })

  it('protects the body where that is all there is (auth-int)', async () => {
    expect(await answer(asked(', qop="auth-int"'))).toBe(empty)
    expect(await answer(asked(', qop="auth-int"'), post)).toBe(hello)
    expect(await answer(asked(', qop="auth-int"'), { ...post, body: new TextEncoder().encode('hello') })).toBe(hello)
  })

  it('answers without qop as RFC 2069 does', async () => {
    const context = contextFor(MUFASA, CNONCE)
    const answered = await fields(context, [asked('')])
    expect(answered).toEqual({
      username: 'Mufasa',
      realm: 'http-auth@example.org',
      uri: '/dir/index.html',
      algorithm,
      nonce: NONCE,
      response: old,
    })
  })

  it('knows a server that proves itself', async () => {
    const context = contextFor({ ...MUFASA, requireServerProof: true }, CNONCE)
    await sent(context, [asked(', qop=auth'), ok(`qop=auth, rspauth="${proof.toUpperCase()}", cnonce="${CNONCE}", nc=00000001`)])
    const wrong = sent(contextFor(MUFASA, CNONCE), [asked(', qop=auth'), ok(`rspauth="${proof.replace(/.$/, 'x')}"`)])
    expect(await failureOf(wrong)).toMatchObject({ code: 'AUTH_SERVER_UNPROVEN', name: 'ProtocolError' })
  })
})

describe('the user', () => {
  const name = async (username: string, more = '') => {
    const { username: plain, 'username*': extended } = await fields(contextFor({ ...MUFASA, username }), [
      challenge(`nonce=n, qop=auth${more}`),
    ])
    return plain ?? extended
  }
  it('the user is named in quotes, or as RFC 8187 says', async () => {
    expect(await name('Circle of Life')).toBe('Circle of Life')
    expect(await name('a"b\\c')).toBe('a\\"b\\\\c')
    expect(await name("Jäsøn Doe's", ', charset=UTF-8')).toBe("UTF-8''J%C3%A4s%C3%B8n%20Doe%27s")
  })

  it('a user outside US-ASCII is named as in RFC 8187, or in ISO-8859-1 where no charset is named', async () => {
    const names = async (algorithm: string) => {
      const asked = ['a', 'b'].map((nonce) => challenge(`nonce=${nonce}, qop=auth, algorithm=${algorithm}`))
      const steps = await sent(contextFor({ ...MUFASA, username: 'Jäsøn' }), asked)
      return steps.slice(1).map((step) => /username\*?=[^,]+/.exec(step ?? '')?.[0])
    }
    expect(await names('SHA-256')).toEqual(["username*=UTF-8''J%C3%A4s%C3%B8n", 'username="Jäsøn"'])
    expect(await names('MD5')).toEqual(['username="J\u00c3\u00a4s\u00c3\u00b8n"', 'username="Jäsøn"'])
  })

  it('the user is sent as a quoted hash where the server wants a hash', async () => {
    const [, step] = await sent(contextFor(MUFASA), [challenge('nonce=n, qop=auth, userhash=true')])
    expect(step).toMatch(/^Digest username="[0-9a-f]{32}", userhash=true, /)
  })

  it('the user is hashed as the composed characters', async () => {
    const composed = await fields(contextFor({ username: 'é', password: 'é' }), [challenge('nonce=n, qop=auth')])
    const decomposed = await fields(contextFor({ username: 'e\u0301', password: 'e\u0301' }), [challenge('nonce=n, qop=auth')])
    expect(decomposed).toEqual(composed)
  })

  it.each([
    ['a colon', { username: 'a:b' }],
    ['a control character in the name', { username: 'a\u0007b' }],
    ['a control character in the password', { password: 'a\u007fb' }],
  ])('the user with %s is refused before anything is sent', async (_what, change) => {
    expect(await failureOf(sent(contextFor({ ...MUFASA, ...change }), []))).toMatchObject({ code: 'CREDENTIAL_VALUE_INVALID' })
  })
})

describe('a realm', () => {
  it('a realm goes back as the bytes that came', async () => {
    const utf8 = 'Z\u00c3\u00bcrich'
    const realm = async (text: string, more: string) =>
      (await fields(contextFor(MUFASA), [challenge(`nonce=n, qop=auth${more}`, text)])).realm
    expect(await realm(utf8, ', charset=UTF-8')).toBe(utf8)
    expect(await realm(utf8, '')).toBe(utf8)
    expect(await realm('Z\u00fcrich', '')).toBe('Z\u00fcrich')
    expect(await realm('a\\"b\\\\', '')).toBe('a\\"b\\\\')
  })
})
