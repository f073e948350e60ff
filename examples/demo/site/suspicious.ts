/** What a hostile catalog would try. */
import { asset, item, type Json, key, placeOf, portal, type SiteAddresses, TIFF } from './item.ts'

/** The archive's own lock, in front of files of somebody else. */
export function lookAlike({ evil, issuer }: SiteAddresses): Json {
  const assets = {
    visual: asset('True colour', `${evil}/members/lake.tif`, TIFF, ['visual', 'data'], ['portal', 'archive']),
    thumbnail: asset('Preview', `${evil}/members/lake.png`, 'image/png', ['thumbnail'], ['portal']),
    open: asset('Counts who looks', `${evil}/pixel.png`, 'image/png', ['overview']),
  }
  const about = 'Says that files of another host open with the login and the key of the archive.'
  return item('look-alike', 'suspicious', placeOf('lake'), { ...portal(issuer), ...key }, assets, about)
}

/** The archive's own file, behind a login of somebody else. */
export function otherLogin({ archive, evil }: SiteAddresses): Json {
  const assets = { visual: asset('True colour', `${archive}/members/lake.tif`, TIFF, ['visual', 'data'], ['portal']) }
  return item(
    'other-login',
    'suspicious',
    placeOf('lake'),
    portal(evil),
    assets,
    'Wants you to log in at another host than that of the archive.',
  )
}

/** URLs that look like others, and what no page may send. */
export function disguise({ archive, evil, issuer }: SiteAddresses): Json {
  const hidden = `${archive}@${new URL(evil).host}/members/lake.tif`
  const assets = {
    visual: asset('True colour', hidden, TIFF, ['visual', 'data'], ['portal']),
    script: asset('Read more', 'javascript:alert(document.domain)', 'text/html', ['metadata'], ['portal']),
    session: asset('By cookie', `${archive}/keys/coast.tif`, TIFF, ['data'], ['cookie']),
  }
  const schemes = { ...portal(issuer), cookie: { type: 'apiKey', in: 'cookie', name: 'session' } }
  return item(
    'disguise',
    'suspicious',
    placeOf('coast'),
    schemes,
    assets,
    'Addresses that pretend to be of the archive, and what no page may send.',
  )
}
