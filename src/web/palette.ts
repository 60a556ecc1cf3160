/** Accent colours of a brand hue: OKLCH at a fixed lightness, darkened until white text on them is readable (WCAG AA). */

type Rgb = [number, number, number]

export interface Accent {
  accent: string
  accentHover: string
  accentText: string
  accentSoft: string
  accentBorder: string
}

/** A whole number from 0 to 359; 270 when the value is no number. */
export function normalHue(hue: number): number {
  return Number.isFinite(hue) ? ((Math.round(hue) % 360) + 360) % 360 : 270
}

/** The accents on light and on dark surfaces, as #rrggbb. */
export function accentsOf(hue: number): { light: Accent; dark: Accent } {
  return {
    light: {
      accent: solid(0.535, 0.215, hue, 4.8),
      accentHover: solid(0.475, 0.21, hue, 6),
      accentText: oklchHex(0.485, 0.2, hue),
      accentSoft: oklchHex(0.958, 0.026, hue),
      accentBorder: oklchHex(0.87, 0.07, hue),
    },
    dark: {
      accent: solid(0.57, 0.205, hue, 4.8),
      accentHover: solid(0.6, 0.2, hue, 4.55),
      accentText: oklchHex(0.79, 0.115, hue),
      accentSoft: oklchHex(0.285, 0.075, hue),
      accentBorder: oklchHex(0.4, 0.12, hue),
    },
  }
}

/** Contrast ratio of two colours (WCAG 2.2, definition of contrast ratio). */
export function contrast(a: string, b: string): number {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number]
  return (high + 0.05) / (low + 0.05)
}

function solid(lightness: number, chroma: number, hue: number, minContrast: number): string {
  let l = lightness
  let color = oklchHex(l, chroma, hue)
  while (contrast('#ffffff', color) < minContrast && l > 0.3) {
    l -= 0.004
    color = oklchHex(l, chroma, hue)
  }
  return color
}

/** The colour with the most chroma, up to the given one, that sRGB can show. */
function oklchHex(lightness: number, chroma: number, hue: number): string {
  let c = chroma
  let rgb = linearRgb(lightness, c, hue)
  while (c > 0 && rgb.some((value) => value < -0.0005 || value > 1.0005)) {
    c -= 0.002
    rgb = linearRgb(lightness, c, hue)
  }
  return `#${rgb.map(channelHex).join('')}`
}

/** OKLab to linear sRGB, matrices of https://bottosson.github.io/posts/oklab/. */
function linearRgb(lightness: number, chroma: number, hue: number): Rgb {
  const a = chroma * Math.cos((hue * Math.PI) / 180)
  const b = chroma * Math.sin((hue * Math.PI) / 180)
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ]
}

function channelHex(linear: number): string {
  const value = Math.min(1, Math.max(0, linear))
  const encoded = value <= 0.0031308 ? 12.92 * value : 1.055 * value ** (1 / 2.4) - 0.055
  return Math.round(encoded * 255)
    .toString(16)
    .padStart(2, '0')
}

function luminance(color: string): number {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  }) as Rgb
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}
