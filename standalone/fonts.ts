// Which scripts of the world need which fonts. The one list for `doctor`, for what is installed
// with Chrome, for the tests and for the image. Installs nothing.
import { silentLog } from '../common/log.ts';
import { type ChromeConfig, launchChrome } from '../worker/browser/chrome.ts';

export interface Script {
  name: string;
  /** Letters that a font of this script has; all of them must be there. */
  sample: string;
  /** The package of Debian and Ubuntu that brings them. */
  fontPackage: string;
}

const script = (name: string, sample: string, fontPackage = 'fonts-noto-core'): Script => ({
  name,
  sample,
  fontPackage,
});

/**
 * 10 MiB packed for what fonts-noto-core has, 10 for emoji in colour, 54 for Chinese, Japanese and
 * Korean, which are drawn differently with the same characters: a smaller package would have one of
 * the four shapes.
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

/** A letter that no font has is drawn as the same box as one that surely does not exist. */
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
 * Asks Chrome itself, started as it will run, which of SCRIPTS it would print as empty boxes.
 * Rejects as `launchChrome` does.
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
