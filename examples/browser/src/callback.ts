/** The page at the redirect URI. */
import { completeLogin } from 'stac-auth/browser'

const outcome = await completeLogin()
const place = document.querySelector('#outcome')
if (outcome === 'unclaimed' && place) place.textContent = 'No page is waiting for this login any more. Go back and start it again.'
