import { own } from '../../stac/document.ts'
import type { Rule, RuleCase, RuleDocs } from '../rule.ts'
import { isCredentialHeader } from '../secrets.ts'

/** Few parameters need values that clients cannot derive from the asset. */
const parameterNeedsCallback: RuleCase = {
  meta: {
    code: 'parameter-needs-callback',
    severity: { recommended: 'info', strict: 'info', schema: 'off' },
    messages: { value: 'clients cannot derive the parameter "{name}" from the asset: users must supply it' },
  },
  parameter({ name, value, pointer }, report) {
    if (own(value, 'required') === true && !KNOWN.has(name) && !isCredentialHeader(name, value)) report(pointer, 'value', { name })
  },
}

const KNOWN = new Set(['href', 'url', 'bucket', 'key'])

/** Credentials are described by schemes, not by parameters. */
const credentialParameter: RuleCase = {
  meta: {
    code: 'credential-parameter',
    severity: { recommended: 'warn', strict: 'warn', schema: 'off' },
    messages: {
      credential: 'the parameter "{name}" carries a credential, which clients do not fill in: name a scheme in auth:refs (1.2.0)',
    },
  },
  parameter({ name, value, pointer }, report) {
    if (isCredentialHeader(name, value)) report(pointer, 'credential', { name })
  },
}

export const parameterValue: Rule = {
  meta: { id: 'parameter-value', section: 'flows' },
  cases: [parameterNeedsCallback, credentialParameter],
}

export const docs: RuleDocs = {
  'parameter-needs-callback': {
    part: 'parameter-object',
    why: 'Clients take href, url, bucket and key from the URL of the asset. They cannot know the values of other required parameters, so each user has to set them.',
    repair: [
      'Make the parameter optional if the signing API has a default.',
      'Otherwise say in description which value it needs and where users get it.',
    ],
  },
  'credential-parameter': {
    part: 'parameter-object',
    why: 'A parameter such as Authorization does not say which credential it needs, so clients refuse to fill it in.',
    repair: [
      'Define a scheme for the credential of the signing API.',
      'Declare version 1.2.0, and name that scheme in auth:refs of this one.',
      'Remove the parameter.',
    ],
  },
}
