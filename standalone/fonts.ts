// The font package of each script. One list for `doctor`, the installation of Chrome, the tests and
// the image.
import { silentLog } from '../common/log.ts';
import { type ChromeConfig, launchChrome } from '../worker/browser/chrome.ts';

export interface Script {
  name: string;
  /** Characters that a font of this script must have. */
  sample: string;
  /** The Debian and Ubuntu package with a font for them. */
  fontPackage: string;
}

const script = (name: string, sample: string, fontPackage = 'fonts-noto-core'): Script => ({
  name,
  sample,
  fontPackage,
});

/**
 * Package sizes: 10 MiB for fonts-noto-core, 10 MiB for colour emoji, 54 MiB for fonts-noto-cjk. A
 * smaller CJK package would have only one of the four regional shapes of the same characters.
 */
export const SCRIPTS: readonly Script[] = [
  script('Latin', 'Größe ñ ł €', 'fonts-liberation'),
  script('Greek', 'Ελληνικά', 'fonts-liberation'),
  script('Cyrillic', 'Русский', 'fonts-liberation'),
  script('symbols', '→✓★☎∑≤█', 'fonts-dejavu-core'),
  script('Arabic', 'العربية'),
  script('Hebrew', 'עברית'),
  script('Armenian', 'Հայերեն'),
  script('Georgian', 'ქართული'),
  script('Devanagari', 'हनद'),
  script('Bengali', 'বল'),
  script('Gurmukhi', 'ਪਜਬ'),
  script('Gujarati', 'ગજરત'),
  script('Tamil', 'தமழ'),
  script('Telugu', 'తలగ'),
  script('Kannada', 'ಕನಡ'),
  script('Malayalam', 'മലയള'),
  script('Sinhala', 'සහල'),
  script('Thai', 'ไทย'),
  script('Lao', 'ລາວ'),
  script('Khmer', 'ខរ'),
  script('Burmese', 'မနမ'),
  script('Ethiopic', 'አማርኛ'),
  script('simplified Chinese', '简体中文', 'fonts-noto-cjk'),
  script('traditional Chinese', '繁體中文', 'fonts-noto-cjk'),
  script('Japanese', 'ひらがなカタカナ漢字', 'fonts-noto-cjk'),
  script('Korean', '한국어', 'fonts-noto-cjk'),
  script('emoji', '😀👍🚀❤', 'fonts-noto-color-emoji'),
];

export const FONT_PACKAGES: readonly string[] = [
  ...new Set(SCRIPTS.map(({ fontPackage }) => fontPackage)),
];

/** A character without a font is drawn as the same box as a code point that is never assigned. */
const WITHOUT_FONT = `samples => {
  const canvas = new OffscreenCanvas(64, 64);
  const context = canvas.getContext('2d', { willReadFrequently: true });
  context.font = '32px serif';
  const picture = letter => {
    context.clearRect(0, 0, 64, 64);
    context.fillText(letter, 8, 44);
    return String(context.getImageData(0, 0, 64, 64).data);
  };
  const box = picture('\\u{10FFFD}');
  return samples.map(sample => [...sample].some(letter => letter.trim() && picture(letter) === box));
}`;

/**
 * Starts Chrome as configured and returns the scripts that it would print as empty boxes. Rejects
 * as `launchChrome` does.
 */
export async function scriptsWithoutFont(config: ChromeConfig): Promise<Script[]> {
  const chrome = await launchChrome(config, silentLog);
  try {
    const { pipe } = chrome;
    const { targetId } = await pipe.command<{ targetId: string }>('Target.createTarget', {
      url: 'about:blank',
    });
    const { sessionId } = await pipe.command<{ sessionId: string }>('Target.attachToTarget', {
      targetId,
      flatten: true,
    });
    const samples = JSON.stringify(SCRIPTS.map(({ sample }) => sample));
    const question = { expression: `(${WITHOUT_FONT})(${samples})`, returnByValue: true };
    const { result } = await pipe.command<{ result: { value: boolean[] } }>(
      'Runtime.evaluate',
      question,
      sessionId,
    );
    return SCRIPTS.filter((_, index) => result.value[index]);
  } finally {
    await chrome.close();
  }
}
