import type { Command } from 'commander'
import type { CredentialObject } from '../../auth/credential.ts'
import type { Provider, Way } from '../../providers/provider.ts'
import { forJson } from '../../text/sanitize.ts'
import type { Context } from '../context.ts'
import { EXIT, usageError } from '../exit-code.ts'
import { type Style, styleOf, write } from '../io.ts'
import { type CredentialsOption, hasCredentialPath, withCredentialsOption } from '../options.ts'
import { aligned } from '../units.ts'

interface ProvidersOptions extends CredentialsOption {
  readonly json?: boolean
}

/** A known provider, for programs. */
interface Listed {
  /** Its id. */
  readonly id: string
  /** Its name, for people. */
  readonly title: string
  /** Its page for people. */
  readonly homepage: string
  /** Page on which a person gets the secret. */
  readonly account: string
  /** `changed`: set up, and the registry has other values since. */
  readonly state: 'set up' | 'changed' | 'not set up'
  /** Ids of its credentials in the credential file. */
  readonly credentials: readonly string[]
  /** URL patterns of its files, in the syntax of `sendTo`. */
  readonly files: readonly string[]
  /** URL patterns of its catalogs. */
  readonly catalogs: readonly string[]
  /** Its ways in, the best for a person first. */
  readonly ways: readonly ListedWay[]
  /** Limits that users meet. */
  readonly notes: readonly string[]
  /** What describes its files in `auth:schemes` of a catalog. */
  readonly schemes: Readonly<Record<string, object>>
}

/** A way in to a provider, for programs. */
interface ListedWay {
  /** Its id, for `setup --way`. */
  readonly id: string
  /** When to choose it. */
  readonly when: string
  /** Where it works besides a terminal with a person. */
  readonly works: readonly ('page' | 'unattended')[]
  /** What only the user has. */
  readonly needs: readonly ListedHole[]
  /** URLs that get the secret. */
  readonly secretTo: readonly string[]
  /** URL patterns that get the token, the signature, or without an endpoint the secret. */
  readonly sendTo: readonly string[]
  /** Its credentials as in a [credential file](credentials.md). */
  readonly credentials: readonly CredentialObject[]
}

/** What only the user has, for programs. */
interface ListedHole {
  /** Name for people. */
  readonly label: string
  /** Environment variables that `setup` takes where they are set. */
  readonly env: readonly string[]
  /** True for what not every account has. */
  readonly optional: boolean
}

/** `providers [ID]`: lists the providers that the program knows, or shows one. */
export function addProviders(program: Command, context: Context): void {
  const command = program.command('providers [id]').description('list the providers that are known, or show one')
  withCredentialsOption(command)
    .option('--json', 'print JSON')
    .action(context.run((id: string | undefined, options: ProvidersOptions) => show(id, options, context)))
}

async function show(id: string | undefined, options: ProvidersOptions, context: Context): Promise<number> {
  const [{ providers }, { userCredentials }] = await Promise.all([
    import('../../providers/registry.ts'),
    import('../credentials/needed-credentials.ts'),
  ])
  const { stdout } = context.io
  const { credentials } = (await hasCredentialPath(options, context.io)) ? await userCredentials(options, context) : { credentials: [] }
  const chosen = id === undefined ? providers : providers.filter((one) => one.id === id.toLowerCase())
  if (chosen.length === 0) {
    const ids = providers.map((one) => one.id)
    const { nearProvider } = await import('../known-providers.ts')
    const near = nearProvider(id ?? '')
    throw usageError(`unknown provider "${id}"`, near === undefined ? `the providers are: ${ids.join(', ')}` : `did you mean ${near}?`)
  }
  if (options.json) {
    const listed = await Promise.all(chosen.map((one) => listedOf(one, credentials)))
    await write(stdout, `${forJson(id === undefined ? listed : listed[0], 2)}\n`)
  } else {
    const [only] = chosen
    const style = styleOf(context.io, stdout)
    await write(stdout, id !== undefined && only ? await pageOf(only, credentials, style) : await tableOf(chosen, credentials, style))
  }
  return EXIT.done
}

/** Formats one line for each provider: mark, id, title and what the first way in needs. */
async function tableOf(providers: readonly Provider[], credentials: readonly CredentialObject[], style: Style): Promise<string> {
  const { needsText, waysSetUp } = await import('../setup/provider-state.ts')
  const rows = providers.map((provider) => {
    const { id, title, ways } = provider
    const known = waysSetUp(provider, credentials)
    const [first] = ways
    const more = ways.length > 1 ? `; ${ways.length - 1} other ${ways.length === 2 ? 'way' : 'ways'} in` : ''
    const needs = `needs ${first ? needsText(first) : ''}${more}`
    const state = known.length > 0 ? `set up by ${known.map(({ way }) => way.id).join(', ')}` : needs
    return { mark: known.length > 0 ? style.green(style.tick) : ' ', cells: [id, title, state] }
  })
  const lines = aligned(rows.map(({ cells }) => cells)).map((line, index) => `${rows[index]?.mark} ${line}\n`)
  return `${lines.join('')}stac-auth setup ID sets one up; stac-auth providers ID shows all about it\n`
}

async function pageOf(provider: Provider, credentials: readonly CredentialObject[], style: Style): Promise<string> {
  const { providerText } = await import('../setup/report.ts')
  const { id, title, homepage, account, ways, order } = provider
  const price = order?.costs === undefined ? '' : `. You are asked before that: ${order.costs}`
  const notes = [...(order ? [`download and fetch order its files first, and wait${price}`] : []), ...provider.notes]
  const sections = await Promise.all(ways.map((way) => sectionOf(provider, way)))
  return [
    `${title}  ${homepage}\n`,
    providerText(provider, credentials, style),
    `account: ${account.url}\n  ${account.text}\n`,
    ...sections,
    ...(notes.length > 0 ? [`\n${notes.map((note) => `- ${note}\n`).join('')}`] : []),
    ...(await catalogText(provider)),
    `\nstac-auth setup ${id}${ways.length > 1 ? ' [--way ID]' : ''}\n`,
  ].join('')
}

/** What the author of a catalog writes. */
async function catalogText(provider: Provider): Promise<readonly string[]> {
  const { catalogSchemes } = await import('../setup/provider-state.ts')
  const schemes = Object.entries(await catalogSchemes(provider))
  if (schemes.length === 0) return []
  const members = schemes.map(([name, scheme]) => `    ${JSON.stringify(name)}: ${JSON.stringify(scheme)}`)
  return [`\nin a catalog with its files, with the name in auth:refs of each:\n  "auth:schemes": {\n${members.join(',\n')}\n  }\n`]
}

const WORKS = { page: 'in pages', unattended: 'without a person' }

async function sectionOf(provider: Provider, way: Way): Promise<string> {
  const [{ proposalsOf }, { placeTable }] = await Promise.all([import('../setup/provider-setup.ts'), import('../credentials/question.ts')])
  const holes = Object.values(way.holes).map(({ label, env = [], optional }) => {
    return `  ${optional ? 'optional' : 'needs'}: ${label}${env.length > 0 ? ` (${env.join(', ')})` : ''}\n`
  })
  const works = way.works.length > 0 ? `works ${way.works.map((place) => WORKS[place]).join(' and ')}` : 'needs a person at a terminal'
  const tables = (await proposalsOf(provider, way)).map(placeTable)
  return `\n${way.id}: ${way.when}\n  ${works}\n${holes.join('')}${tables.join('')}`
}

async function listedOf(provider: Provider, present: readonly CredentialObject[]): Promise<Listed> {
  const [{ catalogSchemes, exampleOf, waysSetUp }, { proposalsOf }] = await Promise.all([
    import('../setup/provider-state.ts'),
    import('../setup/provider-setup.ts'),
  ])
  const { id, title, homepage, account, recognizes, ways, notes } = provider
  const known = waysSetUp(provider, present)
  const listedWay = async (way: Way): Promise<ListedWay> => {
    const proposals = await proposalsOf(provider, way)
    return {
      id: way.id,
      when: way.when,
      works: way.works,
      needs: Object.values(way.holes).map(({ label, env = [], optional = false }) => ({ label, env, optional })),
      secretTo: [...new Set(proposals.flatMap(({ secretTo }) => secretTo))],
      sendTo: [...new Set(proposals.flatMap(({ places }) => places.map(({ pattern }) => pattern)))],
      credentials: exampleOf(provider, way),
    }
  }
  const isChanged = known.some(({ changes }) => changes.length > 0)
  return {
    id,
    title,
    homepage,
    account: account.url,
    state: known.length === 0 ? 'not set up' : isChanged ? 'changed' : 'set up',
    credentials: [...new Set(known.flatMap(({ credentials }) => credentials.map((one) => String(one.id))))],
    files: recognizes.files,
    catalogs: recognizes.catalogs,
    ways: await Promise.all(ways.map(listedWay)),
    notes,
    schemes: await catalogSchemes(provider),
  }
}
