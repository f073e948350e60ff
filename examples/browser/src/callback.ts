/** The page at the redirect URI. */
import { completeLogin } from 'stac-auth/browser'

const outcome = await completeLogin()
const place = document.querySelector('#outcome')
if (outcome === 'unclaimed' && place) place.textContent = 'Nobody waits for this login any more. Go back and begin it again.'
