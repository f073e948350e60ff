/**
 * Claim: of 50 mistakes planted in 500 Items all are found, at least 1.5 times as fast as by `stac-node-validator`.
 *
 * Each mistake stands in an Item of its own; they are those of published catalogs: fields left out, misspelt, of the wrong type or in
 * the wrong place, references to nothing, addresses that lead nowhere, secrets. Whole processes are measured by the clock, by turns,
 * start included. One of ours is found when an error or a warning is told at its place; one of theirs when the Item is called invalid,
 * for whatever reason. The validators have every schema as a file and never ask the network.
 *
 * What each program finds does not depend on the machine.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { item } from './lint.mjs'
import { schemas } from './schemas/index.mjs'
import { cost, mapped, OURS, THEIRS } from './validator.mjs'

const ITEMS = 500
const ROUNDS = 5
const SCHEMES = '/properties/auth:schemes'
const LOGIN = `${SCHEMES}/login/flows/authorizationCode`
const SIGN = `${SCHEMES}/sign/flows/authorizationCode`
const DISCOVERY = '.well-known/openid-configuration'

/** Where each mistake stands and what stands there; what is undefined is left out. */
const MISTAKES = [
  [SCHEMES, undefined],
  [SCHEMES, []],
  ['/auth:schemes', { key: { type: 'apiKey', name: 'x-api-key', in: 'header' } }],
  ['/auth:refs', ['key']],
  ['/stac_extensions', []],
  ['/stac_extensions/9', 'https://stac-extensions.github.io/authentication/v1.9.0/schema.json'],
  [`${SCHEMES}/oidc`, 'openIdConnect'],
  [`${SCHEMES}/oidc/type`, undefined],
  [`${SCHEMES}/oidc/type`, 'oidc'],
  [`${SCHEMES}/oidc/openIdConnectUrl`, undefined],
  [`${SCHEMES}/oidc/openIdConnectUrl`, 'see our wiki'],
  [`${SCHEMES}/oidc/openIdConnectUrl`, 'https://identity.example/'],
  [`${SCHEMES}/oidc/openIdConnectUrl`, `http://identity.example/${DISCOVERY}`],
  [`${SCHEMES}/key/type`, 'apikey'],
  [`${SCHEMES}/key/in`, undefined],
  [`${SCHEMES}/key/in`, 'headers'],
  [`${SCHEMES}/key/name`, undefined],
  [`${SCHEMES}/key/name`, 'x api key'],
  [`${SCHEMES}/key/flows`, {}],
  [`${SCHEMES}/basic`, { type: 'http' }],
  [`${SCHEMES}/basic`, { type: 'http', scheme: 'bearrer' }],
  [`${SCHEMES}/login/type`, 'OAuth2'],
  [`${SCHEMES}/login/flows`, undefined],
  [`${SCHEMES}/login/flows`, {}],
  [`${SCHEMES}/login/flows`, { tokenUrl: 'https://identity.example/token', scopes: {} }],
  [`${SCHEMES}/login/flows`, { authorization_code: { tokenUrl: 'https://identity.example/token', scopes: {} } }],
  [`${SCHEMES}/login/client_secret`, 'q8Zt4vXc1LmR7sWb'],
  [`${LOGIN}/tokenUrl`, undefined],
  [`${LOGIN}/tokenUrl`, 'ftp://identity.example/token'],
  [`${LOGIN}/tokenUrl`, 'https://agency:q8Zt4vXc1LmR@identity.example/token'],
  [`${LOGIN}/authorizationUrl`, '/authorize'],
  [`${LOGIN}/scopes`, undefined],
  [`${LOGIN}/scopes`, ['read']],
  [`${SIGN}/method`, undefined],
  [`${SIGN}/method`, 'PUT'],
  [`${SIGN}/authorizationApi`, '<sign-url>'],
  [`${SIGN}/parameters/bucket/in`, 'path'],
  [`${SIGN}/parameters/bucket/required`, 'true'],
  [`${SIGN}/parameters/bucket/schema`, { type: 'text' }],
  ['/assets/B02/auth:ref', ['key']],
  ['/assets/B02/auth:refs', 'oidc'],
  ['/assets/B03/auth:refs', ['odic']],
  ['/assets/B03/auth:refs', ['oidc', 'oidc']],
  ['/assets/B04/href', 'https://data.example/scene.tif?X-Amz-Credential=a&X-Amz-Signature=0f3a9c'],
  ['/assets/B04/alternate/s3/auth:refs', ['s3']],
  ['/assets/B08/alternate/auth:refs', ['store']],
  ['/assets/visual/alternate/signed/auth:refs', 'sign'],
  ['/links/0/auth:refs', [1]],
  ['/links/1/auth:refs', ['apikey']],
  ['/links/4', { rel: 'license', href: 'https://creativecommons.org/licenses/by/4.0/', 'auth:refs': ['key'] }],
]

/** Arguments of `run` for the smallest measurement, which only shows that it works. */
export const smallest = [{ items: 50, rounds: 1 }]

const require = createRequire(import.meta.url)
const AJV = fileURLToPath(new URL('peers/ajv.mjs', import.meta.url))

/** The programs, in the order of the table. `finds` is true when the program tells of the mistake, `blames` when of anything in the file. */
const PROGRAMS = [
  {
    name: 'stac-auth',
    version: require('../package.json').version,
    command: ({ files }) => [OURS, 'lint', files, '--format', 'json'],
    finds: tells,
    blames: (report, file) => tells(report, { file, pointer: '' }),
  },
  {
    name: 'stac-node-validator',
    version: versionOf('stac-node-validator'),
    command: ({ files, map }) => [THEIRS, files, '--all', '--schemaMap', map],
    finds: (said, { file }) => refuses(said, file),
    blames: refuses,
  },
  {
    name: 'ajv',
    version: versionOf('ajv'),
    command: ({ files, folder }) => [AJV, files, join(folder, 'schemas')],
    finds: (said, { file }) => said.includes(`${file}: invalid`),
    blames: (said, file) => said.includes(`${file}: invalid`),
  },
]

function versionOf(name) {
  return require(`${name}/package.json`).version
}

/** Measures and returns the ratio with the figures of all programs, and what each finds; `items` and `rounds` may be made smaller for a quick look, but no mistake is left out. */
export async function run({ items = ITEMS, rounds = ROUNDS } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'stac-auth-bench-'))
  try {
    const files = join(folder, 'items')
    const planted = await plant(files, items)
    const map = await mapped(folder, 'schemas', schemas)
    const measured = PROGRAMS.map(() => [])
    for (let round = 0; round < rounds; round++)
      for (const [index, { command }] of PROGRAMS.entries()) measured[index].push(await cost(folder, command({ files, folder, map })))
    const rows = PROGRAMS.map(({ name, version, finds, blames }, index) => {
      const [said] = measured[index].map((one) => one.said)
      const found = planted.filter((mistake) => finds(said, mistake)).length
      const wrong = new Set(planted.map(({ file }) => file))
      const clean = Array.from({ length: items }, (_, number) => join(files, `${number}.json`)).filter((file) => !wrong.has(file))
      const figures = { found, missed: planted.length - found, alarms: clean.filter((file) => blames(said, file)).length }
      return { name, version, ...figures, ...medians(measured[index]) }
    })
    const [ours, theirs, ajv] = rows
    if (ours.missed > 0) {
      const missed = planted.filter((mistake) => !tells(measured[0][0].said, mistake))
      throw new Error(`not found: ${missed.map(({ pointer, file }) => `${pointer} of ${file}`).join(', ')}`)
    }
    const ratio = theirs.seconds / ours.seconds
    const details = {
      found: ours.found,
      'found by the validator': theirs.found,
      'found by ajv': ajv.found,
      seconds: ours.seconds,
      'of the validator': theirs.seconds,
      'of ajv': ajv.seconds,
      'times per CPU second': theirs.cpu / ours.cpu,
    }
    return [
      {
        name: `50 mistakes in ${items} Items, by the clock`,
        ratio,
        target: 1.5,
        unit: 'times stac-node-validator',
        better: 'higher',
        programs: rows.map(({ seconds, cpu, memory, ...row }) => {
          return { ...row, seconds: Number(seconds.toFixed(2)), cpu: Number(cpu.toFixed(2)), memory: Math.round(memory) }
        }),
        details,
      },
      ...rows.map(({ name, found }) => {
        return { name: `mistakes that ${name} finds`, ratio: found, unit: `of ${planted.length}`, better: 'higher', exact: true }
      }),
    ]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Of each figure the one in the middle. */
function medians(measured) {
  const middle = (name) => measured.map((one) => one[name]).sort((one, other) => one - other)[measured.length >> 1]
  return { seconds: middle('wall'), cpu: middle('cpu'), memory: middle('memory') }
}

/** Writes the Items, and returns in which files the mistakes stand. */
async function plant(folder, items) {
  await mkdir(folder)
  const every = Math.floor(items / MISTAKES.length)
  const planted = []
  for (let index = 0; index < items; index++) {
    const document = item(index, 0)
    const mistake = index % every === 0 ? MISTAKES[index / every] : undefined
    const file = join(folder, `${index}.json`)
    if (mistake) {
      place(document, ...mistake)
      planted.push({ file, pointer: mistake[0] })
    }
    await writeFile(file, JSON.stringify(document))
  }
  if (planted.length !== MISTAKES.length) throw new Error('not every mistake was planted')
  return planted
}

function place(document, pointer, value) {
  const names = pointer.split('/').slice(1)
  const name = names.pop()
  const holder = names.reduce((inner, step) => inner[step], document)
  if (value === undefined) delete holder[name]
  else holder[name] = value
}

/** True when an error or a warning stands at the place, within it, or at what lacks it. */
function tells(report, { file, pointer }) {
  const { problems } = JSON.parse(report)
  return problems.some(
    (problem) =>
      problem.document === file &&
      problem.severity !== 'info' &&
      // A scheme with a mistake differs from those without, which says nothing about the mistake.
      problem.code !== 'conflicting-scheme' &&
      (problem.pointer === pointer ||
        problem.pointer.startsWith(`${pointer}/`) ||
        pointer.slice(0, pointer.lastIndexOf('/')) === problem.pointer),
  )
}

/** True when the validator counts the file as invalid: then a line follows its name, which is empty for a schema that it cannot get. */
function refuses(said, file) {
  const [, below] = said.split(`\n- ${file}\n`)
  if (below === undefined) throw new Error(`the validator does not name ${file}`)
  return !/^(?:- |Files: )/.test(below)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) console.log(await run())
