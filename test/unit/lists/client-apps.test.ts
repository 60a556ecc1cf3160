import { describe, expect, test } from 'vitest'
import { LIST_FORMATS } from '#src/domain/lists/formats.ts'
import { listFormat, parseListFormat } from '#src/http/client-apps.ts'

const LINKS = 'base64'
/** base64 with the WS and XHTTP entries that only clients built on Xray read. */
const XRAY_LINKS = 'base64 + ws, xhttp'

/** Agents as clients send them: shapes from their sources and recorded requests, versions vary. */
const CLIENTS: [agent: string, expected: string][] = [
  ['v2rayNG/2.3.5', XRAY_LINKS],
  ['v2rayN/7.15.3', XRAY_LINKS],
  ['v2raytun/android', XRAY_LINKS],
  ['v2raytun/ios', XRAY_LINKS],
  ['v2raytun/5.24.76 Windows/10.0', XRAY_LINKS],
  ['V2RayU/4.2.1 CFNetwork/1498 Darwin/23.6.0', XRAY_LINKS],
  ['FoXray/1.9 CFNetwork/1568.100.1 Darwin/24.0.0', XRAY_LINKS],
  ['Xray/26.3.27', XRAY_LINKS],
  ['io.github.saeeddev94.xray/15', XRAY_LINKS],
  ['OneXray/1.4.0', XRAY_LINKS],
  ['AnXray/1.2', XRAY_LINKS],
  ['Happ/3.26.3/Android/12345678901234567890', XRAY_LINKS],
  ['Happ/4.6.0/ios/2603181556604', XRAY_LINKS],
  ['Happ/2.18.3/Windows/2606241603601', XRAY_LINKS],
  ['INCY/3.4.3/android Dalvik/2.1.0', XRAY_LINKS],
  ['Streisand/1.6.4 CFNetwork/1568.200.51 Darwin/24.1.0', XRAY_LINKS],
  ['HiddifyNext/2.5.7 (android) like ClashMeta v2ray sing-box', LINKS],
  ['HiddifyNextX/2.5.7 (windows) like ClashMeta v2ray sing-box xray', LINKS],
  ['Shadowrocket/2592 CFNetwork/1568.100.1 Darwin/24.1.0', LINKS],
  ['V2Box/6.1 CFNetwork/1568.100.1 Darwin/24.0.0', LINKS],
  ['husi/0.10.0 (sing-box)', LINKS],
  ['SFA/1.14.0 (600; sing-box 1.14.0; language ru_RU)', 'singbox 1.14.0'],
  ['SFA/1.11.15 (512; sing-box 1.11.15; language en_US)', 'singbox 1.11.15'],
  ['SFA/1.12.0-beta.3 (540; sing-box 1.12.0-beta.3; language en_US)', 'singbox 1.12.0-beta.3'],
  ['SFI (sing-box 1.14.0; language en)', 'singbox 1.14.0'],
  ['SFI/1.12.12 (1; sing-box 1.12.12; language ru)', 'singbox 1.12.12'],
  ['SFM/1.13.2 (sing-box 1.13.2; language en)', 'singbox 1.13.2'],
  ['SFT/1.13.2 (sing-box 1.13.2; language en)', 'singbox 1.13.2'],
  ['SFA/9 (sing-box)', 'singbox null'],
  ['clash-verge/v2.4.2', 'mihomo'],
  ['FlClash/v0.8.90 clash-verge Platform/android', 'mihomo'],
  ['FlClash X/v0.3.2 Platform/android', 'mihomo'],
  ['ClashMetaForAndroid/2.11.15.Meta', 'mihomo'],
  ['clash.meta/v1.19.2', 'mihomo'],
  ['clash-nyanpasu/v1.6.1', 'mihomo'],
  ['koala-clash/v0.2.8', 'mihomo'],
  ['ClashX Meta/1.4.0', 'mihomo'],
  ['Clash/1.18', 'mihomo'],
  ['Stash/3.1.1 Clash/1.9.0', 'mihomo'],
  ['Stash/2.7.0', 'mihomo'],
  ['mihomo/1.19.28', 'mihomo'],
  ['mihomo.party/v2.0.0 (clash.meta)', 'mihomo'],
  ['Karing/1.2.23.2606 platform/windows;mihomo/1.19.28', 'mihomo'],
  ['Karing/1.1.2', 'mihomo'],
  ['NekoBox/Android/1.4.2 (Prefer ClashMeta Format)', 'mihomo'],
  ['NekoBox/PC/4.0.1 (Prefer ClashMeta Format)', 'mihomo'],
  ['Throne/1.0.13 (Prefer ClashMeta Format)', 'mihomo'],
  ['Throne/1.2.1', 'mihomo'],
  ['prizrak-box/v3.0.4', 'mihomo'],
]

const NOT_CLIENTS = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 YaBrowser/25.10.0.0 Safari/537.36',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Safari/605.1.15',
  'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36 EdgA/142.0.0.0',
  'Mozilla/5.0 (Linux; Android 14; SM-S911B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) GSA/390.0 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [FBAN/FBIOS;FBAV/530.0;FBDV/iPhone15,2]',
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  'Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)',
  'Mozilla/5.0 (compatible; vkShare; +http://vk.com/dev/Share)',
  'Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)',
  'TelegramBot (like TwitterBot)',
  'Twitterbot/1.0',
  'WhatsApp/2.25.30.74 A',
  'WhatsApp/2.2547.3 W',
  'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
  'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
  'Viber/25.0 CFNetwork/1568',
  'SkypeUriPreview Preview/0.5',
  'curl/8.14.1',
  'Wget/1.25.0',
  'okhttp/5.1.0',
  'ktor-client',
  'Go-http-client/2.0',
  'python-requests/2.32.5',
  'Dalvik/2.1.0 (Linux; U; Android 15)',
  'Surge iOS/3300',
  'Loon/900 CFNetwork/1568',
  'Outline/1.16',
  'SFMOMA/1.0 (iPhone)',
  '',
]

function chosen(agent: string, format?: string): string | null {
  const choice = listFormat(agent, format)
  if (!choice) return null
  if (choice.format === 'singbox') return `singbox ${choice.singboxVersion}`
  return choice.format + (choice.wsAndXhttp ? ' + ws, xhttp' : '')
}

describe('a client app', () => {
  test.each(CLIENTS)('%s reads %s', (agent, expected) => {
    expect(chosen(agent)).toBe(expected)
    expect(listFormat(agent.toUpperCase(), undefined)).not.toBeNull()
  })
})

describe('no client app', () => {
  test.each(NOT_CLIENTS)('%s', (agent) => {
    expect(listFormat(agent, undefined)).toBeNull()
  })

  test('no agent at all', () => {
    expect(listFormat(undefined, undefined)).toBeNull()
    expect(listFormat(null, null)).toBeNull()
  })

  test('a name after the 512th character is not seen', () => {
    expect(listFormat(`${'x'.repeat(507)}happ`, undefined)).not.toBeNull()
    expect(listFormat(`${'x'.repeat(509)}happ`, undefined)).toBeNull()
  })
})

describe('an explicit format', () => {
  const others = LIST_FORMATS.filter((format) => format !== 'singbox')
  test.each(others)('%s makes any agent a client', (format) => {
    for (const agent of ['', 'curl/8.14.1', 'clash-verge/v2.4.2', 'HiddifyNext/2.5.7']) {
      expect(chosen(agent, format)).toBe(`${format} + ws, xhttp`)
    }
  })

  test('singbox takes the core version of an agent that names it', () => {
    expect(chosen('curl/8.14.1', 'singbox')).toBe('singbox null')
    expect(chosen('SFA/1.11.15 (512; sing-box 1.11.15)', 'singbox')).toBe('singbox 1.11.15')
    expect(chosen('sing-box 1.14.1', 'singbox')).toBe('singbox 1.14.1')
  })

  test('an unknown one counts as not given', () => {
    for (const format of ['', 'BASE64', 'clash', '__proto__', 'toString']) {
      expect(parseListFormat(format)).toBeUndefined()
      expect(listFormat('curl/8.14.1', format)).toBeNull()
      expect(chosen('v2rayNG/2.3.5', format)).toBe(XRAY_LINKS)
    }
  })
})
