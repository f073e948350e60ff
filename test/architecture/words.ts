/** Words that the glossary of CONTRIBUTING.md replaces, and where each of them is still the right one. */
import ts from 'typescript'
import { nodesOf } from './imports.ts'

interface ReplacedWord {
  readonly use: string
  /** Identifiers in which the word means what a standard or a platform means by it. */
  readonly right?: RegExp
  /** Files in which it is the word of the subject. */
  readonly files?: RegExp
  /** Identifiers from before the glossary: take one off the list when it is renamed, and add none. */
  readonly left?: readonly string[]
}

const REPLACED: Readonly<Record<string, ReplacedWord>> = {
  leg: { use: 'step' },
  legs: { use: 'steps' },
  governor: { use: 'service limits' },
  lane: { use: 'limits' },
  hindrance: { use: 'login required' },
  judgement: { use: 'match' },
  judge: { use: 'match, or check' },
  chooser: { use: 'credential selector' },
  gate: { use: 'limiter' },
  world: { use: 'context' },
  patience: { use: 'timeout, or retry policy' },
  pace: { use: 'rate limit' },
  turn: { use: 'mutex, or attempt', left: ['turn', 'Turn'] },
  turns: { use: 'mutex, or queue' },
  mend: { use: 'fix' },
  mends: { use: 'fixes' },
  mended: { use: 'fixed' },
  renew: { use: 'refresh', left: ['renew', 'renewTokens', 'refreshKeys'] },
  renews: { use: 'refreshes' },
  renewed: { use: 'refreshed' },
  renewable: { use: 'refreshable', left: ['isRenewable'] },
  renewal: { use: 'refresh', left: ['renewalOf'] },
  // Of keys (RFC 5705, RFC 9729).
  material: { use: 'secret', files: /^src\/(?:(?:crypto|http|node\/transport|services\/client|auth)\/|strategies\/http\/concealed\.ts)/ },
  swallow: { use: 'what it does' },
  stray: { use: 'what it is' },
  strays: { use: 'what they are' },
  lasting: { use: 'persistent' },
  passing: { use: 'in memory, or temporary' },
  draft: { use: 'request, or proposal', left: ['Draft', 'draftOf', 'DraftRules'] },
  grant: {
    use: 'URL pattern',
    // Of OAuth (RFC 6749 §1.3).
    files: /^src\/strategies\/oauth2\//,
    right: /^allowPasswordGrant$/,
    left: ['grant'],
  },
  // Of OAuth, too.
  granted: {
    use: 'allowed',
    right: /^SCOPE_NOT_GRANTED$/,
    files: /^src\/strategies\/oauth2\//,
  },
  entry: {
    use: 'credential',
    // Of caches, manifests, archives, keyrings (`AsyncEntry` of their package) and glossaries, and a name of `node:fs`.
    right: /^(?:CacheEntry|ManifestEntry|KeyringEntry|Entry|AsyncEntry|throwIfNoEntry|entry_count)$/,
    files: /^src\/(?:services\/translation|node\/download|node\/tokens|net)\//,
    left: ['entry', 'readEntry', 'entryFor'],
  },
  entries: {
    use: 'credentials',
    right: /^(?:entries|fromEntries|MAX_ENTRIES)$/,
    files: /^src\/(?:services\/translation|cli\/translate|node\/download|node\/tokens)\//,
  },
}

/** Right in tests, whose servers play the other side of OAuth, TLS and archives. */
const RIGHT_IN_TESTS = new Set(['draft', 'entry', 'entries', 'gate', 'grant', 'granted', 'material', 'passing', 'turns'])

/** Identifiers of a module with a word that the glossary replaces, with the word to use. */
export function replacedWords(path: string, text: string): readonly string[] {
  const problems = (identifier: string) => problemsOf(path, identifier)
  // Few modules have such a word at all, and parsing is slow.
  const names = [...new Set(text.match(/[\p{ID_Continue}$]+/gu))]
  if (!text.includes('\\u') && !names.some((name) => problems(name).length > 0)) return []
  return [...new Set(nodesOf(text).flatMap((node) => (ts.isIdentifier(node) ? problems(node.text) : [])))]
}

function problemsOf(path: string, identifier: string): readonly string[] {
  return wordsOf(identifier).flatMap((word) => {
    const replaced = Object.hasOwn(REPLACED, word) ? REPLACED[word] : undefined
    if (path.startsWith('test/') && RIGHT_IN_TESTS.has(word)) return []
    if (!replaced || replaced.files?.test(path) || replaced.right?.test(identifier) || replaced.left?.includes(identifier)) return []
    return [`${identifier}: say ${replaced.use} instead of ${word}`]
  })
}

/** What the name of a file or of a folder of `src` should say instead; undefined when it has no such word. */
export function replacedName(path: string): string | undefined {
  const word = path.split(/[/.-]/).find((part) => Object.hasOwn(REPLACED, part) && !REPLACED[part]?.files?.test(path))
  return word && `say ${REPLACED[word]?.use} instead of ${word}`
}

/** Words and phrases that no text of the project uses for what a standard word says. */
const TEXTS: Readonly<Record<string, RegExp>> = {
  step: /(?<!`)\blegs?\b(?!`)/i,
  'missing login': /\bhindrances?\b/i,
  'service limits': /\bgovernors?\b(?!`)/i,
}

/** The lines of a text with a phrase that a standard one replaces. */
export function replacedPhrases(text: string): readonly string[] {
  return text.split('\n').flatMap((line, index) =>
    Object.entries(TEXTS)
      .filter(([, pattern]) => pattern.test(line))
      .map(([use]) => `line ${index + 1}: say ${use} in "${line.trim().slice(0, 80)}"`),
  )
}

/** The parts of an identifier, in lower case: `sendToOf`, `MAX_LINES`. */
function wordsOf(identifier: string): readonly string[] {
  return identifier.split(/(?<=[a-z\d])(?=[A-Z])|[_$]/).map((word) => word.toLowerCase())
}
