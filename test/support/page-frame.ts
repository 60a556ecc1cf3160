/** What pages that are drawn without a service are given alike. */
export const SUB_URL = 'https://sub.example.test/sub/Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MGFiY2RlZmdoaWo'
export const HUE = 270
export const FRAME = {
  helpUrl: null,
  siteUrl: 'https://site.test',
  year: 2026,
  query: '',
  askedLang: null,
  guests: false,
  scriptUrls: {
    cabinet: '/assets/cabinet.0a1b2c3d.js',
    link: '/assets/link.4e5f6071.js',
    paid: '/assets/paid.8293a4b5.js',
  },
}
export const BOT = { botLinkBase: 'https://t.me', botUsername: 'aurora_bot' }
