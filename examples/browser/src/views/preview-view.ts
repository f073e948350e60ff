/** The picture of an item, where it may be shown without asking. */
import type { Target } from 'stac-auth'
import { type Access, accessTo, addressOf } from '../access.ts'
import { pictureFrom } from '../data/picture.ts'
import { button, element, fill } from '../dom.ts'
import { textIn } from '../fields.ts'
import type { SiteSettings } from '../site.ts'
import type { Wallet } from '../wallet.ts'
import { hostOf } from '../words.ts'
import { failureView } from './refusal.ts'

/** Formats that browsers show. */
const SHOWN = /^image\/(?:png|jpeg|webp|gif|avif)\b/
const ROLES = ['thumbnail', 'overview', 'visual']

export interface PreviewView {
  readonly root: HTMLElement
  refresh(): Promise<void>
  close(): void
}

/** A card, or undefined where no asset is a picture. What stands elsewhere and needs nothing is loaded on demand: its host would learn who looks. */
export function previewView(targets: readonly Target[], documentUrl: string, wallet: Wallet, site: SiteSettings): PreviewView | undefined {
  const target = pictureAmong(targets)
  return target && previewOf(target, documentUrl, wallet, site)
}

function previewOf(target: Target, documentUrl: string, wallet: Wallet, site: SiteSettings): PreviewView {
  const place = element('div', { class: 'picture' })
  let free = () => {}
  let shown = false

  async function show({ state }: Access): Promise<void> {
    try {
      const picture = await pictureFrom(target, wallet.auth, state === 'site')
      free()
      free = picture.free
      shown = true
      fill(place, picture.image)
    } catch (error) {
      fill(place, await failureView(error))
    }
  }

  const refresh = async () => {
    const access = await accessTo(target, wallet, site, 'The preview')
    const address = addressOf(target) ?? ''
    const isNear = URL.canParse(address) && new URL(address).origin === new URL(documentUrl).origin
    if (access.state === 'ready' || access.state === 'site' || (access.state === 'open' && isNear)) {
      if (!shown) await show(access)
      return
    }
    shown = false
    free()
    if (access.state === 'open')
      fill(
        place,
        button(`Load the preview from ${hostOf(address)}`, () => show(access)),
      )
    else fill(place, element('p', { class: 'missing' }, access.sentence))
  }
  return {
    root: element('section', { class: 'card', 'aria-labelledby': 'preview' }, element('h2', { id: 'preview' }, 'Preview'), place),
    refresh,
    close: () => free(),
  }
}

function pictureAmong(targets: readonly Target[]): Target | undefined {
  const pictures = targets.filter(({ object }) => SHOWN.test(textIn(object, 'type') ?? ''))
  const hasRole = (role: string) => pictures.find(({ object }) => Array.isArray(object.roles) && object.roles.includes(role))
  return ROLES.map(hasRole).find((found) => found !== undefined) ?? pictures[0]
}
