/** `npm run demo`, and `npm run demo -- --serve`. */
import { runDemo } from './demo.ts'
import { createScreen } from './screen.ts'
import { serveDemo } from './serve.ts'

const screen = createScreen(process.stdout, process.env)
const [option, ...more] = process.argv.slice(2)
if (option === undefined) {
  process.once('SIGINT', () => process.exit(130)).once('SIGTERM', () => process.exit(143))
  process.exitCode = await runDemo(screen)
} else if (option === '--serve' && more.length === 0) await serveDemo(screen)
else {
  process.stderr.write('usage: npm run demo [-- --serve]\n')
  process.exitCode = 2
}
