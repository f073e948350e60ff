/** Errors of known providers end with the one command that helps. The servers answer as those of the providers. */
import { describe, expect, it, vi } from 'vitest'
import { earthdata } from '../../src/providers/earthdata.ts'
import { planetaryComputer } from '../../src/providers/planetary-computer.ts'
import type { Reply } from '../harness/scripted.ts'
import { put, temporaryFolder } from './folder.ts'
import { itemAt } from './items.ts'
import { run } from './run.ts'

const servers = vi.hoisted(() => ({ answer: (_url: string): unknown => undefined, asked: [] as string[] }))
vi.mock('../../src/cli/request-log.ts', async () => {
  const { script } = await import('../harness/scripted.ts')
  const { send } = script(({ url }) => {
    servers.asked.push(url)
    return (servers.answer(url) as Reply | undefined) ?? { status: 404 }
  })
  return { loggedTransport: async () => ({ transport: send }) }
})

/** Answers requests to the URLs; returns what was asked. */
function serve(answers: Readonly<Record<string, Reply>>): readonly string[] {
  servers.asked.length = 0
  servers.answer = (url) => answers[url.replace(/\?.*$/, '')]
  return servers.asked
}

const folder = await temporaryFolder()
const BLOB = 'https://landsateuwest.blob.core.windows.net/landsat-c2/B4.TIF'
const SIGN = 'https://planetarycomputer.microsoft.com/api/sas/v1/sign'
const LPDAAC = 'https://data.lpdaac.earthdatacloud.nasa.gov/lp-prod-protected/HLS/B04.tif'
const URS = 'https://urs.earthdata.nasa.gov/oauth/authorize'
const PAGE = { headers: { 'content-type': 'text/html' }, body: '<!doctype html><html><title>Login</title></html>' }

const itemOf = (href: string, self?: string) => itemAt({ data: { href, type: 'image/tiff; application=geotiff' } }, self)
const pc = await put(folder, 'pc.json', itemOf(BLOB))
const nasa = await put(folder, 'nasa.json', itemOf(LPDAAC, 'https://cmr.earthdata.nasa.gov/stac/LPCLOUD/x'))
const none = await put(folder, 'none.json', { version: 1, credentials: [] })
const token = await put(folder, 'token.json', { version: 1, credentials: earthdata({ token: { env: 'STAC_AUTH_TEST_KEY' } }) })
const signing = await put(folder, 'signing.json', { version: 1, credentials: planetaryComputer() })

const PC_HINT = 'Microsoft Planetary Computer needs a signature (no account): stac-auth setup planetary-computer'
const NASA_HINT = 'NASA Earthdata needs the user name and password of your account: stac-auth setup earthdata'

/** The last lines of stderr, which are those of the hint. */
async function hintOf(...argv: string[]): Promise<string> {
  const { code, stderr } = await run(argv)
  expect(code).not.toBe(0)
  return stderr
}

const azure = (status: number, code: string): Reply => ({
  status,
  headers: { 'content-type': 'application/xml' },
  body: `<?xml version="1.0" encoding="utf-8"?><Error><Code>${code}</Code><Message>Public access is not permitted on this storage account.</Message></Error>`,
})

describe('without a credential', () => {
  it.each([
    [pc, 'HTTP_409', PC_HINT, { [BLOB]: azure(409, 'PublicAccessNotPermitted') }],
    [pc, 'HTTP_404', PC_HINT, { [BLOB]: azure(404, 'ResourceNotFound') }],
    [pc, 'AUTH_REJECTED', PC_HINT, { [BLOB]: azure(403, 'AuthenticationFailed') }],
    [nasa, 'AUTH_REJECTED', NASA_HINT, { [LPDAAC]: { status: 401 } }],
    [nasa, 'AUTH_REJECTED', NASA_HINT, { [LPDAAC]: { status: 302, headers: { location: URS } }, [URS]: { status: 401 } }],
    [nasa, 'LOGIN_PAGE', NASA_HINT, { [LPDAAC]: { status: 302, headers: { location: URS } }, [URS]: PAGE }],
    [nasa, 'FILE_INTEGRITY', NASA_HINT, { [LPDAAC]: PAGE }],
  ])('fetch and download of %s end after %s with the command', async (document, code, hint, answers: Readonly<Record<string, Reply>>) => {
    for (const argv of [
      ['fetch', document, '--asset', 'data'],
      ['download', document, '-d', folder, '--retries', '0'],
    ]) {
      serve(answers)
      const stderr = await hintOf(...argv, '--credentials', none)
      expect(stderr).toContain(`error ${code}`)
      expect(stderr).toContain(`  ${hint}\n`)
      expect(stderr).not.toMatch(/--by-address|add a credential/)
    }
  })

  it('a URL that the user typed is recognized, too, and a missing file is not', async () => {
    serve({ [LPDAAC]: { status: 401 } })
    expect(await hintOf('fetch', LPDAAC, '--credentials', none)).toContain(NASA_HINT)
    serve({})
    expect(await hintOf('fetch', LPDAAC, '--credentials', none)).not.toContain('stac-auth setup')
  })

  it('a document that its provider refuses names the provider', async () => {
    const url = 'https://api.eumetsat.int/data/browse/1.0.0/x'
    for (const argv of [['lint'], ['download', '-d', folder], ['explain'], ['doctor', '--json']]) {
      serve({ [url]: { status: 401 } })
      const { stdout, stderr } = await run([...argv, url, '--credentials', none])
      expect(stdout + stderr).toContain('stac-auth setup eumetsat')
    }
  })
})

describe('with a credential of the provider', () => {
  it('that was refused, the error names the terms to accept and doctor', async () => {
    vi.stubEnv('STAC_AUTH_TEST_KEY', 'token-of-the-user')
    serve({ [LPDAAC]: { status: 403 } })
    const stderr = await hintOf('fetch', nasa, '--asset', 'data', '--credentials', token)
    vi.unstubAllEnvs()
    expect(stderr).toContain('refused "earthdata" with 403')
    expect(stderr).toMatch(
      /only after their terms were accepted in the profile\.\n {2}the account: https:\/\/urs\.earthdata\.nasa\.gov\/\n {2}stac-auth doctor\n/,
    )
    expect(stderr).not.toContain('stac-auth setup')
  })

  it('a file that is not there is not explained by a missing signature', async () => {
    serve({ [SIGN]: { body: { href: `${BLOB}?sig=x` } }, [BLOB]: azure(404, 'BlobNotFound') })
    const stderr = await hintOf('fetch', pc, '--asset', 'data', '--credentials', signing)
    expect(stderr).toContain('error HTTP_404')
    expect(stderr).not.toContain('stac-auth setup')
  })
})

describe('a redirect', () => {
  const FOREIGN = 'https://data.example/B04.tif'
  const EVIL = 'https://evil.example/B04.tif'

  it('from another host to a login page of a provider does not make the file one of the provider', async () => {
    const path = await put(folder, 'foreign.json', itemOf(FOREIGN, 'https://data.example/x'))
    serve({ [FOREIGN]: { status: 302, headers: { location: LPDAAC } }, [LPDAAC]: PAGE })
    expect(await hintOf('fetch', path, '--asset', 'data', '--credentials', none)).not.toContain('stac-auth setup earthdata')
  })

  it('from a host of a provider brings its credential nowhere else, and no hint proposes that', async () => {
    vi.stubEnv('STAC_AUTH_TEST_KEY', 'token-of-the-user')
    const asked = serve({ [LPDAAC]: { status: 302, headers: { location: EVIL } }, [EVIL]: { status: 401 } })
    const stderr = await hintOf('fetch', nasa, '--asset', 'data', '--credentials', token)
    vi.unstubAllEnvs()
    expect(asked).toEqual([LPDAAC, EVIL])
    expect(stderr).not.toMatch(/add a credential|sendTo|trust|stac-auth setup https:/)
  })

  it('recognition sends nothing', async () => {
    const asked = serve({})
    await run(['explain', pc, '--credentials', none])
    await run(['download', pc, '--dry-run', '--credentials', none])
    await run(['doctor', pc, '--offline', '--credentials', none])
    expect(asked).toEqual([])
  })
})
