import type { ServiceProfile } from '../clients/service-profile.ts'

/**
 * How the service speaks: forms in, JSON out, three verbs, an item is changed by `POST`. Whether a change may be repeated nobody says, so
 * it is not.
 */
export const TIME_TRACKING: ServiceProfile = {
  verbs: ['GET', 'POST', 'DELETE'],
  update: 'POST',
  body: 'form',
  accept: 'application/json',
  envelope: 'auto',
  paging: { style: 'none' },
}
