/** What tests of token stores share. */

export const KEY = 'a1'.repeat(32)
export const OTHER_KEY = 'b2'.repeat(32)

/** Something to run that ends when the test says so. */
export function gate() {
  let opened = false
  let open = () => {}
  const opening = new Promise<void>((resolve) => {
    open = () => {
      opened = true
      resolve()
    }
  })
  return { run: () => opening, open, isOpen: () => opened }
}

/** Counts how many are inside at once; each stays for a few turns of the event loop. */
export function doorkeeper() {
  let [inside, most, entered] = [0, 0, 0]
  const visit = async () => {
    most = Math.max(most, ++inside)
    entered++
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
    inside--
  }
  return { visit, counts: () => ({ most, entered }) }
}
