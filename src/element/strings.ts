/** The texts of the element, in English, and how values are inserted into them. */

/** English texts by name; `{name}` is a value. */
export const english = {
  title: 'Access',
  checking: 'Checking what is needed…',
  open: 'Nothing is needed: the files are public.',
  ready: 'Nothing is missing.',
  needed: 'Some files need a credential.',
  unsupported: 'Some files cannot be opened in a web page.',
  failed: 'The requirements could not be determined.',
  anyOf: 'One of these is enough:',
  'kind.key': 'Key for {hosts}',
  'kind.password': 'User name and password for {hosts}',
  'kind.token': 'Token for {hosts}',
  'kind.login': 'Login at {hosts}',
  'kind.client': 'Client credentials at {hosts}',
  'kind.signed': 'URLs signed by {hosts}',
  'kind.keys': 'Object store keys for {hosts}',
  'kind.other': 'Credential for {hosts}',
  'kind.unknown': 'Other requirement',
  manyHosts: '{count} hosts',
  'state.needed': 'Needed',
  'state.login': 'Login required',
  'state.widen': 'Not allowed yet',
  'state.ready': 'Ready',
  'state.unsupported': 'Unsupported',
  'state.refused': 'Refused',
  files: 'Files: {count}',
  named: 'Name in the catalog: “{name}”',
  'asked.signed':
    'No key is asked for. The URLs of the files are sent to {hosts}, which answers with signed URLs. You name the hosts that these may have.',
  'asked.signedLogin':
    'The login {id} is asked for. Its token and the URLs of the files are sent to {hosts}, which answers with signed URLs.',
  'asked.keys':
    'An access key id and a secret access key are asked for. This page signs requests for the files with them. The id is sent with these requests to {hosts}; the secret access key stays in this page.',
  'asked.keysLogin':
    'The login {id} is asked for. With its token this page gets keys, and signs requests for the files with them. These requests are sent to {hosts}.',
  catalogSays: 'The catalog says:',
  details: 'Details',
  'detail.name': 'Name in the catalog',
  'detail.type': 'Type of the scheme',
  'detail.sendTo': 'Sent to',
  'detail.secretTo': 'Used at',
  'detail.loginAt': 'Login at',
  'detail.carriedIn': 'Sent in',
  'detail.code': 'Code',
  'detail.message': 'Message',
  'carried.header': 'the header “{name}”',
  'carried.query': 'the query parameter “{name}” of the URL',
  'carried.cookie': 'the cookie “{name}”',
  'carried.url': 'the URL',
  'carried.signature': 'a signature; the secret stays in this page',
  'sites.title': 'Different sites',
  'sites.text': 'These hosts belong to different sites. Continue only if you expect them to work together.',
  'sites.catalog': 'Catalog',
  'sites.files': 'Files',
  'sites.provider': 'Provider',
  endpointDiffers: 'You already have a credential for these files, and it uses another provider. The catalog names {host}.',
  enter: 'Enter it',
  again: 'Enter it again',
  without: 'Continue without it',
  keep: 'Keep on this device',
  keepHint: 'Everybody who uses this browser can use it then, and every script of this site can read it.',
  'field.value': 'Key',
  'field.username': 'User name',
  'field.password': 'Password',
  'field.token': 'Access token',
  'field.credentials': 'Credentials',
  'field.privateKey': 'Private key (PEM or JWK)',
  'field.keyId': 'Key identifier',
  'field.clientId': 'Client id',
  'field.clientSecret': 'Client secret',
  'field.scopes': 'Scopes',
  'field.accessKeyId': 'Access key id',
  'field.secretAccessKey': 'Secret access key',
  'field.region': 'Region',
  'field.signedUrlHosts': 'Hosts that signed URLs may have',
  optional: 'optional',
  severalValues: 'Separate several values with spaces.',
  moreFields: 'More settings',
  missing: 'Fill in “{label}”.',
  continue: 'Continue',
  cancel: 'Cancel',
  back: 'Back',
  'consent.title': 'Where may it be sent?',
  'consent.typed': 'What you typed is sent with requests to:',
  'consent.typedFirst': 'What you typed is sent to:',
  'consent.result': 'The result is sent with requests to:',
  'consent.signedTo': 'Signed requests are sent to:',
  'consent.signature': 'Requests are signed for these URLs. The secret itself is not sent:',
  'consent.login': 'You log in at:',
  'consent.token': 'The token of your login is sent with requests to:',
  'consent.signing': 'The URLs of the files are sent to be signed to:',
  'consent.signed': 'Only URLs of files below these are sent there:',
  'consent.choose': 'Select at least one.',
  'consent.allow': 'Allow',
  'widen.text': 'The credential {id} would also be sent to:',
  'widen.start': 'Allow further hosts…',
  'widen.none': 'The URL of the files cannot be allowed.',
  'login.popup': 'Log in in a window',
  'login.redirect': 'Log in on this page',
  'login.waiting': 'Continue in the other window.',
  'login.noLogins': 'This page offers no logins.',
  'login.leaving': 'A login on this page leaves it: keys and passwords typed here are forgotten.',
  loggedIn: 'Logged in with {id}',
  loggedInUntil: 'Logged in with {id} until {time}',
  loggedInAs: 'Logged in as {user} with {id}',
  loggedInAsUntil: 'Logged in as {user} with {id} until {time}',
  inUse: 'In use: {id}',
  extended: 'The login is extended while you use it.',
  logout: 'Log out',
  remove: 'Remove',
  'said.added': 'The credential was added.',
  'said.allowed': 'The hosts were allowed.',
  'said.loggedIn': 'You are logged in.',
  'said.loggedOut': 'You are logged out.',
  'said.removed': 'The credential was removed.',
  'error.unknown': 'This did not work.',
  'error.refused': 'These files are not requested: see the details.',
  'error.NO_CREDENTIAL': 'Some files need a credential.',
  'error.LOGIN_REQUIRED': 'Login required',
  'error.POPUP_BLOCKED': 'The browser blocked the login window. Allow windows for this page.',
  'error.LOGIN_DENIED': 'The login was not completed: it was denied or its window closed.',
  'error.LOGIN_TIMEOUT': 'The login took too long.',
  'error.CORS_OR_NETWORK': 'The server cannot be reached from this page.',
  'error.AUTH_REJECTED': 'The server rejected the credential.',
  'error.CONFIG_INVALID': 'A value is not valid.',
  'error.CREDENTIAL_VALUE_INVALID': 'A value is not valid.',
  'error.UNSUPPORTED_IN_BROWSER': 'Web pages cannot use this. Use a program outside the browser.',
  'error.SCHEME_UNSUPPORTED': 'The catalog uses an unsupported type of authentication.',
  'error.SCHEME_NOT_FOUND': 'The catalog does not say how to authenticate.',
  'error.SCHEME_INVALID': 'The catalog describes authentication in an invalid way.',
  'error.URL_INSECURE': 'The connection would not be encrypted, so nothing is sent.',
  'error.OAUTH_ISSUER_MISMATCH': 'The answer came from another provider, so it was ignored.',
} as const

/** The names of the texts of the element. */
export type StringName = keyof typeof english

/** All texts of one language. */
export type Strings = Readonly<Record<StringName, string>>

type Values = Readonly<Record<string, string | number>>

/** Inserts values into a text. */
export function filled(text: string, values: Values = {}): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => (Object.hasOwn(values, name) ? String(values[name]) : whole))
}

/** Loads the texts for a language tag: German, else English. Returns them with their language. */
export async function stringsFor(locale: string): Promise<{ readonly lang: string; readonly strings: Strings }> {
  if (/^de\b/i.test(locale)) return { lang: 'de', strings: (await import('./strings-de.ts')).german }
  return { lang: 'en', strings: english }
}

/** Returns the text of that name, if the language has one: for names that are only known at run time, such as error codes. */
export function textFor(strings: Strings, name: string): string | undefined {
  return Object.hasOwn(strings, name) ? strings[name as StringName] : undefined
}

/** Returns a point in time as text: `14:05`, or with its day unless that is today. */
export function timeInWords(time: Date, now: Date, lang: string): string {
  const isToday = time.toDateString() === now.toDateString()
  return new Intl.DateTimeFormat(lang, { timeStyle: 'short', ...(!isToday && { dateStyle: 'long' }) }).format(time)
}

/** Returns up to three names as a list for a sentence, or the number of names. */
export function listInWords(names: readonly string[], lang: string, strings: Strings): string {
  if (names.length > 3) return filled(strings.manyHosts, { count: names.length })
  return new Intl.ListFormat(lang, { type: 'conjunction' }).format(names)
}
