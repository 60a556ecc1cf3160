/** Builds src/admin-ui; `scripts/build-panel.ts` puts the result into place. Tests have vitest.config.ts. */
import { join } from 'node:path'
import { defineConfig, type Plugin } from 'vite'

const root = join(import.meta.dirname, 'src/admin-ui')
/** The running service that `npm run dev` works with. */
const service = process.env.PANEL_URL ?? 'http://panel.localhost:3000/admin'

/** In development the page is ours and what it tells the panel is the service's. */
const bootOfService: Plugin = {
  name: 'boot-of-service',
  apply: 'serve',
  async transformIndexHtml(html) {
    const page = await (await fetch(service)).text()
    const boot = /data-boot="([^"]*)"/.exec(page)?.[1]
    if (boot === undefined) throw new Error(`${service} is no panel: set PANEL_URL`)
    return html.replace('data-boot=""', () => `data-boot="${boot}"`)
  },
}

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
    manifest: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: { input: join(root, 'main.tsx') },
  },
})
