import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { certificatesOf, trustedAuthorities } from '../../src/node/transport/certificate-authorities.ts'
import { undiciTransport } from '../../src/node/transport/undici-transport.ts'
import { failureOf } from '../harness/failure.ts'
import { TEST_CA } from '../servers/harness.ts'
import { get, granted, server } from './transport-fixture.ts'

const folder = mkdtempSync(join(tmpdir(), 'authorities-'))
const FILE = join(folder, 'ca.pem')
writeFileSync(FILE, `# the company's\n${TEST_CA}`)
const FOLDER = join(folder, 'certs')
mkdirSync(FOLDER)
writeFileSync(join(FOLDER, '1a2b3c4d.0'), TEST_CA)

describe('certificate authorities of the environment', () => {
  it.each([
    ['SSL_CERT_FILE', FILE],
    ['CURL_CA_BUNDLE', FILE],
    ['REQUESTS_CA_BUNDLE', FILE],
    ['REQUESTS_CA_BUNDLE', FOLDER],
    ['AWS_CA_BUNDLE', FILE],
  ])('%s=%s lets requests trust servers of that authority', async (variable, path) => {
    const { origin } = await server((_request, reply) => reply.end('file'), { tls: 'valid' })
    const response = await undiciTransport({ env: { [variable]: path } })(get(`${origin}/a`), granted)
    expect(await response.text(100)).toBe('file')
  })

  it('servers of no named authority are not trusted', async () => {
    const { origin } = await server(undefined, { tls: 'valid' })
    expect(await failureOf(undiciTransport({ env: { SSL_CERT_FILE: '' } })(get(origin), granted))).toMatchObject({ code: 'TLS_UNTRUSTED' })
  })

  it('the authorities of Node, and of its own variable, stay trusted beside the named ones', () => {
    const trusted = trustedAuthorities({ SSL_CERT_FILE: FILE, AWS_CA_BUNDLE: FILE }) ?? []
    expect(trusted.length).toBeGreaterThan(50)
    expect(trusted.filter((certificate) => certificate === certificatesOf('', FILE)[0])).toHaveLength(1)
  })

  it('without a variable the default of Node counts', () => {
    expect(trustedAuthorities({ NODE_EXTRA_CA_CERTS: FILE })).toBeUndefined()
  })

  it.each([
    ['a file that does not exist', join(folder, 'none.pem'), /none\.pem cannot be read \(ENOENT\)/],
    ['a file without certificates', __filename, /contains no readable certificate/],
  ])('%s is an error that names the variable', (_what, path, says) => {
    const refused = () => undiciTransport({ env: { SSL_CERT_FILE: path } })
    expect(refused).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringMatching(says) }))
    expect(refused).toThrow(/SSL_CERT_FILE/)
  })
})
