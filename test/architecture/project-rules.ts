/** Rules about names, places and words in all files of the project. */

/** Names that say nothing about what is inside. */
const VAGUE = /(?:^|\/)(?:utils?|helpers?|common|misc|shared|managers?|handlers?)(?:[./]|$)/i
const KEBAB_CASE = /^[a-z0-9]+(?:[-.][a-z0-9]+)*$/

/** What is wrong with the name of a source or test file. */
export function nameProblem(path: string): string | undefined {
  if (VAGUE.test(path)) return 'a name that says nothing'
  if (!path.split('/').every((part) => KEBAB_CASE.test(part))) return 'not in kebab-case'
  return undefined
}

/** Words that belong to a workplace and mean nothing to a reader of the project. */
const FOREIGN: readonly RegExp[] = [
  /\.\.\/shared\b/,
  /(?<![\w.-])\/(?:work|farm|root)\//,
  /(?<![\w./-])\/home\/(?!web_user)\w/,
  /\bissue #?\d/i,
  /\bDEVELOPERS\.md\b/,
  /\b(?:trust|lint-rules|acceptance|http-schemes|oauth-oidc|s3-signing|test-peers|client-policy|platform)\.md\b/,
  /\bregistry\.(?:npmjs|yarnpkg|npmmirror)\b/,
  /"resolved": "https?:/,
  // What a merge leaves behind.
  /^(?:<{7}|>{7}) /,
]

/** The first line that speaks of something outside the project. */
export function foreignWords(text: string): string | undefined {
  const line = text.split('\n').findIndex((content) => FOREIGN.some((pattern) => pattern.test(content)))
  return line < 0 ? undefined : `line ${line + 1}: ${text.split('\n')[line]?.trim().slice(0, 80)}`
}
