import { rule } from '../rule.ts'

/** The scopes of a flow are those that its authorization server supports. */
export const scopeUnlisted = rule('scope-unlisted', 'online', {
  'scope-unlisted': {
    levels: ['info', 'warn', 'off'],
    messages: { unlisted: 'the scope "{scope}" is not in scopes_supported of {metadata}' },
  },
})
