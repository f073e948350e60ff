/** Options with which a user says beforehand what a new entry shall be. */
import type { Command } from 'commander'
import type { Wishes } from './proposal.ts'

export interface WishOptions {
  readonly id?: string
  readonly scope?: readonly string[]
}

/** Adds `--id` and `--scope`. */
export function withWishOptions(command: Command): Command {
  return command
    .option('--id <id>', 'the id of a new entry')
    .option(
      '--scope <scope>',
      'a scope that a new entry asks for; those of the catalog are never taken over (repeatable)',
      (scope, scopes: readonly string[] = []) => [...scopes, scope],
    )
}

export function wishesOf({ id, scope = [] }: WishOptions): Wishes {
  return { ...(id !== undefined && { id }), scopes: scope }
}
