import { rule } from '../rule.ts'

/** The endpoints of a scheme are those that their authorization server publishes. */
export const endpointMetadata = rule('endpoint-metadata', 'online', {
  'endpoint-metadata': {
    levels: ['warn', 'warn', 'off'],
    messages: { other: '{field} is not the {published} that {metadata} publishes: {value}' },
  },
})
