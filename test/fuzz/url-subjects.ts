/** URLs, patterns of URLs, paths of the gateway, challenges and file names. */
import fc from 'fast-check'
import { covers, namedOrigin, parseUrlPattern } from '../../src/auth/url-pattern.ts'
import { authParams, parseAuthenticationInfo, parseChallenges } from '../../src/http/challenge.ts'
import { addressOf, hrefProblem, isAddressProblem, isLoopbackHost, urlOfHref } from '../../src/http/url.ts'
import { gatewayPath, readGatewayPath } from '../../src/node/gateway/gateway-url.ts'
import { foldedName, forFileName, numberedName } from '../../src/text/file-name.ts'
import { forTerminal } from '../../src/text/sanitize.ts'
import { type Subject, subject } from './run-cases.ts'

/** Where parsers of URLs go different ways (https://url.spec.whatwg.org/): schemes, slashes, user information, hosts, ports, dots. */
const PIECES = [
  ...['https:', 'http:', 'HTTPS:', 's3:', 'gs:', 'file:', 'javascript:', 'blob:', 'x-y+z:', 'ws:', 'data:', 'C:', 'view-source:'],
  ...['/', '//', '///', '\\', '\\\\', '/\\', '?', '#', '@', ':', '::', ';', '&', '=', '.', '..', '...', './', '/../', '..;', '%', '%%'],
  ...['%2e', '%2E', '%2e%2e', '%2f', '%5c', '%25', '%252e', '%00', '%0a', '%20', '%c0%ae', '%zz', '%', '%u002e', '%3a', '%40', '%23'],
  ...['data.example', 'DATA.Example', 'evil.example', 'data.example.evil.example', 'evildata.example', 'a.b.data.example', 'com', 'co.uk'],
  ...['localhost', 'a.localhost', 'printer.local', 'metadata.internal', '127.0.0.1', '2130706433', '0x7f.1', '0177.0.0.1', '127.1', '0'],
  ...['169.254.169.254', '10.0.0.1', '100.64.0.1', '192.168.0.1', '256.1.1.1', '1.2.3.4.5', '93.184.215.14', '0xffffffff', '4294967296'],
  ...['[::1]', '[::]', '[::ffff:10.0.0.1]', '[64:ff9b::a00:1]', '[2002:a00:1::]', '[fe80::1%25eth0]', '[fd00::1]', '[::1', ']', '[v1.a]'],
  ...['xn--', 'xn--a', 'xn--bcher-kva.example', 'b\u00fccher.example', 'd\u0430ta.example', '\uff44ata.example', 'da\u00adta.example'],
  ...['data\u3002example', 'data\uff0eexample', 'data.example.', '\u200b', '\u202e', '\ufeff', '\u0000', '\u007f', '\t', '\n', '\r', ' '],
  ...['\ud800', '\u{1f600}', '\u212a', '\u017f', '\ufb01', '*', '*.', '|', '^', '<', '>', '"', "'", '`', '{', '}', '~', '!', '$', '(', ','],
  ...['user', 'user:pass', ':443', ':80', ':8443', ':', ':0', ':99999', ':65535', ':4a3', ':-1', 'stac', 'stacked', 'a', 'x=1', 'key'],
]
const piece = fc.constantFrom(...PIECES)
const start = fc.constantFrom('', '', 'https://', 'https://data.example', 'https://data.example/', 's3://eo/', 'http://127.0.0.1:8080/')
const address = fc
  .tuple(start, fc.array(fc.oneof({ weight: 9, arbitrary: piece }, fc.string({ maxLength: 4 })), { maxLength: 7 }))
  .map(([first, rest]) => first + rest.join(''))

const BASE = 'https://base.example/x/'
const NAMED: ReadonlySet<string> = new Set(['http://127.0.0.1:8080'])

const urls = subject('URL is refused or is at a host that its text names, and is the same when it is read again', 0.15, address, (text) => {
  const plain = urlOfHref(text, { base: BASE, objects: true })
  if (hrefProblem(text)?.message !== (plain instanceof URL ? undefined : plain.message)) return 'hrefProblem disagrees with the parser'
  const url = addressOf(text, { base: BASE, secure: true, named: NAMED })
  if (isAddressProblem(url)) return undefined
  if (url.username || url.password) return 'has user information'
  if (!/^(?:https:|s3:)$/.test(url.protocol) && !NAMED.has(url.origin)) return `has the scheme ${url.protocol}`
  if (isLoopbackHost(url.hostname) && !NAMED.has(url.origin)) return 'is at a loopback address that nobody named'
  if (url.protocol === 'https:' && /^(?:(?:127|10|0)\.\d+|192\.168|169\.254)\.\d+\.\d+$|^\[::1?\]$/.test(url.hostname))
    return `is at ${url.hostname}`
  const again = addressOf(url.href, { secure: true, named: NAMED })
  if (isAddressProblem(again)) return `${url.href} is refused when it is read again: ${again.message}`
  return again.href === url.href ? undefined : `${url.href} becomes ${again.href}`
})

const label = fc.constantFrom('a', 'b', 'tiles', 'evil', 'data')
const host = fc.array(label, { minLength: 1, maxLength: 3 }).map((labels) => [...labels, 'example'].join('.'))
const folder = fc.array(fc.constantFrom('x', 'y', 'stac'), { maxLength: 2 }).map((parts) => `/${parts.map((part) => `${part}/`).join('')}`)
const port = fc.constantFrom('', ':443', ':8443')
const pattern = fc.tuple(fc.boolean(), host, port, folder)
const segment = fc.constantFrom('x', 'y', 'xy', 'stac', 'stacked', 'x%2fy', '%2e%2e', '..', '..;', '.a', '%252e', '')
const near = fc
  .tuple(host, port, fc.array(segment, { maxLength: 4 }))
  .map(([at, number, parts]) => `https://${at}${number}/${parts.join('/')}`)

/** The same decision, written again from its description: host, port and path each by themselves. */
const matching = subject(
  'pattern matches a URL exactly where a naive second implementation does',
  0.08,
  fc.tuple(pattern, near),
  (pair) => {
    const [[wild, allowed, at, below], text] = pair
    const parsed = new URL(text)
    const hostFits = wild ? parsed.hostname.endsWith(`.${allowed}`) : parsed.hostname === allowed
    const portFits = (parsed.port || '443') === (at.slice(1) || '443')
    const isDoubtful = /%(?:25)*2[fe]|%5c|\.\.;/i.test(parsed.pathname)
    const pathFits = below === '/' || (!isDoubtful && `${parsed.pathname}/`.startsWith(below))
    const written = `https://${wild ? '*.' : ''}${allowed}${at}${below}`
    const is = covers(parseUrlPattern(written), parsed)
    return is === (hostFits && portFits && pathFits) ? undefined : `${written} ${is ? 'matches' : 'does not match'} ${text}`
  },
)

const patterns = subject(
  'text is no URL pattern, or one that matches nothing outside its host',
  0.08,
  fc.tuple(address, address),
  ([source, text]) => {
    const parsed = parseUrlPattern(source)
    const url = addressOf(text, { base: BASE, secure: true, named: NAMED })
    if (isAddressProblem(url) || !covers(parsed, url)) return undefined
    const origin = namedOrigin(parsed)
    if (origin !== undefined) return url.origin === origin ? undefined : `${source} matches ${url.href}`
    const isBelow = parsed.scheme === 's3' ? url.host === parsed.host : url.hostname.endsWith(`.${parsed.host}`)
    return isBelow && url.protocol === `${parsed.scheme}:` ? undefined : `${source} matches ${url.href}`
  },
)

const gateway = subject('path of the gateway names the URL that a parser reads, or none', 0.1, address, (text) => {
  const path = gatewayPath(text)
  const read = readGatewayPath(path === undefined ? `/capability/${text}` : `/capability/${path}`).url
  if (read === undefined) return undefined
  if (!/^(?:https?|s3):\/\/[^/@%#\\]+\//.test(read)) return `reads ${read}`
  if (!URL.canParse(read)) return hrefProblem(read) ? undefined : `${read} is no URL`
  const parsed = new URL(read)
  if (parsed.username || parsed.password) return `reads user information: ${read}`
  if (parsed.pathname.includes('/../') || /\/(?:\.|%2e){1,2}(?:\/|$)/i.test(parsed.pathname)) return `keeps dots: ${read}`
  // Nothing was resolved away: the program's path is the one that is authorized.
  const [, written = ''] = /^[a-z0-9]+:\/\/[^/]+([^?]*)/.exec(read) ?? []
  return written.split('/').length === parsed.pathname.split('/').length ? undefined : `${read} is read as ${parsed.href}`
})

const fieldPiece = fc.constantFrom(
  ...['Basic', 'Digest', 'Bearer', 'DPoP', 'Negotiate', 'x', ' ', '  ', '\t', ',', ', ', '=', '==', '"', '\\"', '\\', 'realm', 'nonce'],
  ...[
    'realm="a, b"',
    'nonce="',
    'qop="auth"',
    'charset="UTF-8"',
    'YII=',
    'abc/+~._-',
    'stale=true',
    "title*=UTF-8''%e2",
    '\u00e9',
    '\u0100',
  ],
)
const field = fc
  .array(fc.oneof({ weight: 8, arbitrary: fieldPiece }, fc.string({ maxLength: 5 })), { maxLength: 20 })
  .map((all) => all.join(''))

const challenges = subject('field is read as challenges without an error', 0.06, fc.array(field, { maxLength: 3 }), (lines) => {
  parseAuthenticationInfo(lines[0] ?? '')
  const { challenges: read, problems } = parseChallenges(lines)
  if (problems.some((problem) => lines.some((line) => line.length > 12 && problem.includes(line)))) return 'a problem quotes the field'
  if (read.length > 32) return `${read.length} challenges`
  const isSound = read.every(({ scheme, params }) => scheme !== '' && [...params.keys()].every((name) => name === name.toLowerCase()))
  return isSound ? undefined : 'a challenge without a scheme, or with capitals in a name'
})

const token = fc.stringMatching(/^[a-z][a-z0-9-]{0,6}$/)
const value = fc.string({ unit: fc.constantFrom(...[...'aZ9 ,="\\;~\t', '\u00e9', '\u00ff']), maxLength: 8 })
const written = fc.uniqueArray(fc.tuple(token, value), { minLength: 1, maxLength: 4, selector: ([name]) => name })
const challengeLists = fc.uniqueArray(fc.tuple(token, written), { minLength: 1, maxLength: 3, selector: ([scheme]) => scheme })

const readBack = subject('challenge that is written is read as it was', 0.06, challengeLists, (list) => {
  const line = list.map(([name, params]) => `${name} ${authParams(params.map(([one, text]) => [one, text, 'quoted']))}`).join(', ')
  const { challenges: read, problems } = parseChallenges(line)
  if (problems.length > 0) return `${line}: ${problems}`
  const plain = JSON.stringify(read.map(({ scheme, params }) => [scheme, [...params]]))
  return plain === JSON.stringify(list) ? undefined : `${line} is read as ${plain}`
})

const namePiece = fc.constantFrom(
  ...['..', '.', '/', '\\', ':', '*', '?', '"', '<', '>', '|', '\0', '\n', '\u001b', '\u0085', '\u202e', '\u2066', '\ufeff', '\ud800'],
  ...['CON', 'nul', 'COM\u00b9', 'lpt1', 'aux.', '.part', '.bashrc', '-rf', '~', ' ', 'e\u0301', '\u00e4'.repeat(110), 'x'.repeat(210)],
  ...['.tif', '.tar.gz', '%2f', '%2e%2e', '\u{1f600}', '\u0130', '\u1e9e', '\ufb01', 'a', 'B04'],
)
const names = subject(
  'text becomes a file name of one segment, which is its own file name and looks alike on all file systems',
  0.08,
  fc
    .array(fc.oneof({ weight: 5, arbitrary: namePiece }, fc.string({ unit: 'binary', maxLength: 6 })), { maxLength: 8 })
    .map((all) => all.join('')),
  (text) => {
    const name = forFileName(text)
    for (const one of [name, numberedName(name, 2)]) {
      if (one === '' || Buffer.byteLength(one) > 200) return `has ${Buffer.byteLength(one)} bytes`
      if (/[/\\:*?"<>|\0-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|^[. \-~]|[. ]$/.test(one)) return `is ${JSON.stringify(one)}`
      if (/^(?:con|prn|aux|nul|com[1-9\u00b9\u00b2\u00b3]|lpt[1-9\u00b9\u00b2\u00b3])(?:\.|$)/i.test(one)) return `is the device ${one}`
      if (!one.isWellFormed()) return 'is not well-formed'
    }
    if (forFileName(name) !== name) return `${JSON.stringify(name)} becomes ${JSON.stringify(forFileName(name))}`
    if (foldedName(name) !== foldedName(foldedName(name))) return 'its folded form is not final'
    return /[\0-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff]/.test(forTerminal(text))
      ? 'its shown form controls a terminal'
      : undefined
  },
)

export const urlSubjects: readonly Subject[] = [urls, matching, patterns, gateway, challenges, readBack, names]
