export const noB = {
  enabled: false,
  preset: 'platega',
  merchant_id: '',
  api_url: 'https://app.platega.io',
  has_secret: false,
}

export const listed = (changes: Record<string, object> = {}) =>
  [
    { id: 'provider_a', label: 'YooKassa' },
    { id: 'provider_b', label: 'Platega' },
    { id: 'stars', label: 'Telegram Stars' },
    { id: 'cryptobot', label: 'CryptoBot' },
  ].map((one) => ({ ...one, enabled: false, configured: false, ...changes[one.id] }))
