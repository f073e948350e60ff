/** The field `repository` of a package.json. */
export type Repository = string | { readonly url?: string }

/** Returns `owner/name` of a repository on GitHub from each form that npm reads. */
export function repositoryName(repository: Repository | undefined): string | undefined {
  const text = typeof repository === 'string' ? repository : (repository?.url ?? '')
  return /^(?:github:|(?:git\+)?(?:https|ssh|git):\/\/(?:git@)?github\.com\/)([\w.-]+\/[\w.-]+?)(?:\.git)?$/.exec(text)?.[1]
}
