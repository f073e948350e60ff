import { SelectionError } from '../errors.ts'
import type { AuthScheme } from '../stac/scheme.ts'
import { refPointer, type Target } from '../stac/target.ts'
import type { CredentialForm, Field } from './credential.ts'
import { patternFor } from './need.ts'
import type { Strategy } from './strategy.ts'

/** `NO_CREDENTIAL`, with the entry that would help ready to paste. */
export function missingCredential(
  target: Target,
  ref: string,
  scheme: AuthScheme,
  strategy: Strategy | undefined,
  url: URL,
): SelectionError {
  const place = url.protocol === 's3:' ? `s3://${url.host}` : url.origin
  const entry = strategy && entryFor(strategy.describe(scheme, { url: url.href, target }), ref, patternFor(url) ?? `${place}/`)
  return new SelectionError('NO_CREDENTIAL', `no credential for ${place} (scheme "${ref}", type ${scheme.type})`, {
    pointer: refPointer(target, ref),
    ref,
    ...(entry && { hint: `if you trust ${place}, add this entry to the credential file: ${JSON.stringify(entry)}` }),
  })
}

/** An entry with every field a user must fill in, secrets as the environment variables to set. */
function entryFor({ entry, fields }: CredentialForm, ref: string, sendTo: string): Record<string, unknown> {
  const id = ref.replace(/[^A-Za-z0-9._-]+/g, '-').slice(0, 64) || 'credential'
  const filled: Record<string, unknown> = { id, ...entry }
  for (const [name, field] of Object.entries(fields))
    if (field.required && filled[name] === undefined) filled[name] = placeholder(id, name, field)
  return { ...filled, sendTo: [sendTo] }
}

/** What stands in an entry for a field that only its user knows; for a secret the environment variable to set. */
export function placeholder(id: string, name: string, { kind }: Field): unknown {
  if (kind === 'secret') return { env: variableFor(id, name) }
  if (kind === 'signed-url-patterns' || kind === 'patterns') return ['https://…/']
  return '…'
}

/** The environment variable in which a secret of an entry is expected unless its user says otherwise. */
export function variableFor(id: string, field: string): string {
  return `${id}_${field}`
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .toUpperCase()
}
