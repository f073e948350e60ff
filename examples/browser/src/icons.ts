/** Small drawings beside words that say the same. */

const PATHS = {
  lock: 'M6 11V8a6 6 0 0 1 12 0v3M5 11h14v9H5z',
  open: 'M6 11V8a6 6 0 0 1 11.5-2.4M5 11h14v9H5z',
  check: 'M4 12.5 10 18 20 6.5',
  warning: 'M12 3.5 21.5 20h-19zM12 10v4.5M12 17.2v.4',
  file: 'M6 3h8l4 4v14H6zM14 3v4h4',
  folder: 'M3 6h7l2 2.5h9V19H3z',
} as const

export type Icon = keyof typeof PATHS

const SVG = 'http://www.w3.org/2000/svg'

/** Hidden from screen readers. */
export function icon(name: Icon): SVGElement {
  const svg = document.createElementNS(SVG, 'svg')
  svg.setAttribute('viewBox', '0 0 24 24')
  svg.setAttribute('class', 'icon')
  svg.setAttribute('aria-hidden', 'true')
  const path = document.createElementNS(SVG, 'path')
  path.setAttribute('d', PATHS[name])
  svg.append(path)
  return svg
}
