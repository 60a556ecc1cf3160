import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadConfig } from '#src/config.ts'
import { legalTokens } from '#src/domain/installation/legal.ts'
import { GATEWAYS } from '#src/integrations/payments/index.ts'
import { fillTemplate } from '#src/web/legal-page.ts'

const tokens = new Map([
  ['BRAND_NAME', `A & <b>"B"</b> 'c'`],
  ['LEGAL_NAME', '{{BOT_USERNAME}} {{{x}}}'],
  ['LEGAL_INN', ''],
  ['SITE_DOMAIN', 'site.test'],
])
const fill = (template: string) => fillTemplate(template, tokens, 'en')
const BADGE = '<span class="not-set">not set yet</span>'

describe('a template', () => {
  test.each([
    ['plain {x} text $& $1', 'plain {x} text $& $1'],
    ['<p>{{SITE_DOMAIN}}</p>', '<p>site.test</p>'],
    ['{{ SITE_DOMAIN }}{{SITE_DOMAIN}}', 'site.testsite.test'],
    ['{{BRAND_NAME}}', 'A &amp; &lt;b&gt;&quot;B&quot;&lt;/b&gt; &#39;c&#39;'],
    ['{{LEGAL_INN}}', BADGE],
    ['{{UNKNOWN}}', BADGE],
    ['{{BOT_TOKEN}}', BADGE],
    ['{{}}', BADGE],
    ['{{toString}}{{__proto__}}', BADGE + BADGE],
    ['{{site_domain}}', BADGE],
    ['a {{NOT A TOKEN}} b', `a ${BADGE} b`],
    ['a {{ИМЯ}} b', `a ${BADGE} b`],
    ['{{LEGAL_INN} and more', `${BADGE} and more`],
    ['<a href="https://{{SITE_DOMAIN}}">x</a>', '<a href="https://site.test">x</a>'],
    ['<a href="mailto:{{LEGAL_INN}}">x</a>', '<a href="mailto:not set yet">x</a>'],
    ['{{LEGAL_NAME}}', '&#123;&#123;BOT_USERNAME}} &#123;&#123;&#123;x}}}'],
  ])('%j becomes %j', (template, text) => {
    expect(fill(template)).toBe(text)
  })

  test('never keeps two opening braces, whatever stands in it', () => {
    const parts = ['{', '{{', '}', '}}', 'A', '_', ' ', '\n', 'SITE_DOMAIN', '<', '>', 'LEGAL_NAME']
    let seed = 7
    const next = () => {
      seed = (seed * 1103515245 + 12345) % 2147483648
      return parts[seed % parts.length]
    }
    for (let i = 0; i < 3000; i++) {
      const template = Array.from({ length: 1 + (i % 12) }, next).join('')
      expect(fill(template), JSON.stringify(template)).not.toMatch(/\{\{/)
    }
  })

  test('says that nothing is set in the language of the page', () => {
    expect(fillTemplate('{{X}}', tokens, 'ru')).toBe(
      '<span class="not-set">ещё не задано (not set yet)</span>',
    )
  })
})

describe('the templates that come with the service', () => {
  const folder = join(import.meta.dirname, '../../../templates')
  const names = readdirSync(folder).filter((name) => name.endsWith('.html'))
  const config = loadConfig({}, '/nonexistent', GATEWAYS)
  const settings = {
    text: () => 'x',
    flag: () => true,
    int: () => 1,
    gateways: [],
    ofGateway: () => '',
    live: {},
  }
  const known = legalTokens(config, settings)

  test('are two in two languages', () => {
    expect(names.sort()).toEqual([
      'offer.en.html',
      'offer.ru.html',
      'privacy.en.html',
      'privacy.ru.html',
    ])
  })

  test.each(names)('%s has known tokens, ids that differ, and nothing that runs', (name) => {
    const text = readFileSync(join(folder, name), 'utf8')
    const used = [...text.matchAll(/\{\{(.*?)\}\}/g)].map(([, token]) => token as string)
    expect(used.length).toBeGreaterThan(5)
    for (const token of used) expect(known.has(token), token).toBe(true)
    const ids = [...text.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids).toHaveLength(text.match(/<h2/g)?.length ?? 0)
    expect(text).not.toMatch(/<script|style=|\son\w+=|javascript:|https?:/i)
    for (const tag of ['p', 'ul', 'li', 'dl', 'dt', 'dd', 'h1', 'h2']) {
      const opened = text.match(new RegExp(`<${tag}[ >]`, 'g'))?.length
      expect(text.match(new RegExp(`</${tag}>`, 'g'))?.length, tag).toBe(opened)
    }
  })

  test('say the same in both languages: the same sections with the same tokens', () => {
    for (const document of ['offer', 'privacy']) {
      const [en, ru] = ['en', 'ru'].map((lang) => {
        const text = readFileSync(join(folder, `${document}.${lang}.html`), 'utf8')
        return text.split('<h2 ').map((section) => ({
          id: /^id="(\w[\w-]*)"/.exec(section)?.[1],
          items: section.match(/<(p|li|dd)[ >]/g)?.length,
          tokens: [...section.matchAll(/\{\{(\w+)\}\}/g)].map(([, token]) => token),
        }))
      })
      expect(en).toEqual(ru)
    }
  })
})
