import { join } from 'node:path'
import { expect, it } from 'vitest'
import { put, temporaryFolder } from '../folder.ts'
import { lastError } from '../run.ts'
import { downloaded, eventsIn, itemOf, promised, startArchive, TOKEN } from './fixture.ts'

const server = await startArchive()
const folder = await temporaryFolder()
const item = await put(
  folder,
  'item.json',
  itemOf('one', {
    data: promised(`${server.origin}/private/data-50000.tif`),
    far: {
      href: 'https://far.example/far.tif',
      'auth:refs': ['token'],
      alternate: { near: promised(`${server.origin}/private/far-10.tif`) },
    },
    lost: { href: 'https://far.example/lost.tif', 'auth:refs': ['token'] },
    thumbnail: { href: `${server.origin}/open/thumb-30.png?sig=hidden` },
  }),
)

it('reports what would go where and with which credential, sends nothing and writes nothing', async () => {
  const into = join(folder, 'not-there')
  const { code, stdout, stderr, files } = await downloaded(server, [item, '--dry-run'], { into })
  expect([code, stderr, files, server.asked]).toEqual([4, '', {}, []])
  const lines = stdout.split('\n')
  expect(lines.slice(0, 3)).toEqual([
    `+ one/data-50000.tif  50.0 kB  ${server.origin}/private/data-50000.tif  with "archive"`,
    `+ one/far.tif  ${server.origin}/private/far-10.tif  with "archive"`,
    `+ one/thumb-30.png  ${server.origin}/open/thumb-30.png`,
  ])
  expect(lines[3]).toMatch(/^x one\/lost.tif: CREDENTIAL_TARGET_UNTRUSTED/)
  expect(lines[4]).toContain('stac-auth credentials trust archive https://far.example/')
  expect(stdout).toMatch(/\n4 files, 50.0 kB and 3 of unknown size; 1 cannot be downloaded\n$/)
  expect(stdout).not.toMatch(new RegExp(`${TOKEN}|hidden`))
})

it('reports it to programs, too', async () => {
  const outcome = await downloaded(server, [item, '--dry-run', '--json', '--asset', 'data', '--asset', 'lost'])
  expect(eventsIn(outcome)).toMatchObject([
    { kind: 'planned', file: { name: 'one/data-50000.tif' }, credentials: ['archive'] },
    { kind: 'planned', file: { name: 'one/lost.tif' }, error: { code: 'CREDENTIAL_TARGET_UNTRUSTED' } },
    { kind: 'summary', files: 2 },
  ])
  expect(outcome.code).toBe(4)
})

it('reports which files are there already, and which have no place', async () => {
  const twice = JSON.stringify(
    itemOf('x', { a: { href: `${server.origin}/open/a-8.tif` }, b: { href: `${server.origin}/open/a-8.tif?b` } }),
  )
  const { folder: into } = await downloaded(server, ['-'], { stdin: twice })
  const outcome = await downloaded(server, ['-', '--dry-run'], { stdin: twice, into })
  expect([outcome.code, outcome.stdout]).toEqual([
    6,
    expect.stringMatching(/^\+ x\/a-8.tif .*, exists\nx x\/a-8.tif \(x \/assets\/b\): PATH_COLLISION.*\n {4}use --rename to rename/),
  ])
  const told = await downloaded(server, ['-', '--dry-run', '--json', '--asset', 'none'], { stdin: twice, into })
  expect(lastError(told)).toMatchObject({ code: 'TARGET_NOT_FOUND' })
})

it('shows the URL that a download then requests first, also to programs', async () => {
  const planned = eventsIn(await downloaded(server, [item, '--dry-run', '--json', '--asset', 'far']))
  const first = planned[0] as { file: { url: string } }
  expect(first.file.url).toBe(`${server.origin}/private/far-10.tif`)
  const { files } = await downloaded(server, [item, '--asset', 'far'])
  expect(Object.keys(files)).toEqual(['one/far.tif'])
  expect(`${server.origin}${server.asked.at(-1)?.path}`).toBe(first.file.url)
})

it('reports files with the same reason together, and each of them with --all', async () => {
  const far = Object.fromEntries(
    Array.from({ length: 9 }, (_, index) => [`f${index}`, { href: `https://far.example/${index}.tif`, 'auth:refs': ['token'] }]),
  )
  const stdin = JSON.stringify(itemOf('many', far))
  const { code, stdout } = await downloaded(server, ['-', '--dry-run'], { stdin })
  expect([code, stdout.split('\n').length]).toEqual([4, 4])
  expect(stdout).toMatch(
    /^x 9 files: many\/0.tif, many\/1.tif, many\/2.tif and 6 more files: CREDENTIAL_TARGET_UNTRUSTED: "archive" may be/,
  )
  expect((await downloaded(server, ['-', '--dry-run', '--all'], { stdin })).stdout).toContain('many/7.tif, many/8.tif: CREDENTIAL_')
})
