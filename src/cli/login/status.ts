/** `status`. */
import type { CredentialStatus } from '../../auth/auth.ts'
import { forJson, forLine } from '../../text/sanitize.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-code.ts'
import { write } from '../io.ts'
import type { CredentialsOption } from '../options.ts'
import { openLogins } from './logins.ts'

export interface StatusOptions extends CredentialsOption {
  readonly json?: boolean
}

/** Says for each entry whether there is a token and until when; never the token, and nothing is asked of a server. */
export async function status(options: StatusOptions, context: Context, open: typeof openLogins = openLogins): Promise<number> {
  const known = await (await open(context, options)).status()
  const { stdout } = context.io
  await write(stdout, options.json ? `${forJson(known, 2)}\n` : textOf(known))
  return EXIT.done
}

function textOf(known: readonly CredentialStatus[]): string {
  if (known.length === 0) return 'no entry of yours has tokens\n'
  const rows = known.map((one) => [one.credential, [one.type, one.flow].filter(Boolean).join(' '), stateText(one)])
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows.map((row) => `${forLine(row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))}\n`).join('')
}

function stateText({ credential, state, expiresAt, renewable, scopes = [] }: CredentialStatus): string {
  if (state === 'none') return renewable ? 'no token yet, obtained when needed' : `not logged in: stac-auth login ${credential}`
  const until = expiresAt === undefined ? '' : state === 'valid' ? ` until ${expiresAt}` : ` since ${expiresAt}`
  return [
    `${state}${until}`,
    ...(renewable ? ['renewed when needed'] : state === 'expired' ? [`stac-auth login ${credential}`] : []),
    ...(scopes.length > 0 ? [`scopes ${scopes.join(' ')}`] : []),
  ].join(', ')
}
