/** Builds src/admin-ui; `scripts/build.ts` puts the result into place, with the scripts of the pages. Tests have vitest.config.ts. */
import { join } from 'node:path'
import { defineConfig, type Plugin } from 'vite'

const root = join(import.meta.dirname, 'src/admin-ui')
/** The running service that `npm run dev` works with. */
const service = process.env.PANEL_URL ?? 'http://panel.localhost:3000/admin'

/** In development the page is ours and what it tells the panel is the service's, which `?lang=ru` asks for another language. */
const bootOfService: Plugin = {
  name: 'boot-of-service',
  apply: 'serve',
  async transformIndexHtml(html, { originalUrl }) {
    const { search } = new URL(originalUrl ?? '/', service)
    const page = await (await fetch(service + search)).text()
    const boot = /data-boot="([^"]*)"/.exec(page)?.[1]
    if (boot === undefined) throw new Error(`${service} is no panel: set PANEL_URL`)
    return html.replace('data-boot=""', () => `data-boot="${boot}"`)
  },
}

/**
 * Screens that lie near each other are one chunk, with their texts: together they compress better, and on the way from one to the
 * next nothing is loaded. A screen that is not listed has a chunk of its own.
 */
const AREAS = {
  overview: 'overview',
  customers: 'users|user-card|subscriptions|access|payments|gifts',
  service: 'nodes|plans|packs|traffic|log|settings|accounts|admins|security|backup|api',
}

/** What screens share and the frame around them does not need. */
const PARTS =
  /admin-ui[\\/](?:kit[\\/](?:table|list|filter|form|reorder|tabs|checklist|copy-line|qr|download)|charts[\\/](?!plot)|core-missing|days-left|list|live|live-told|node-groups|payment-check|quotas|sales|states|i18n[\\/](?:states|quotas)|upload|zone)/

const groups = [
  { name: 'parts', test: PARTS },
  ...Object.entries(AREAS).map(([name, screens]) => ({
    name,
    test: new RegExp(`admin-ui[\\\\/](?:screens|i18n)[\\\\/](?:${screens})(?:[-.\\\\/]|$)`),
  })),
]

export default defineConfig({
  root,
  base: './',
  publicDir: false,
  plugins: [bootOfService],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  server: {
    proxy: {
      '/admin/api': { target: new URL(service).origin, changeOrigin: true },
      '/healthz': { target: new URL(service).origin, changeOrigin: true },
    },
  },
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      input: join(root, 'main.tsx'),
      output: { codeSplitting: { groups, includeDependenciesRecursively: false } },
    },
  },
})
