// The web fonts of the documents: installed font files, because the repository contains none.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const read = new Map<string, Buffer>();

/**
 * Finds a sans serif font of this weight with fontconfig. Throws with the package to install if
 * there is none.
 */
export function webFont(weight: 'regular' | 'bold'): Buffer {
  const known = read.get(weight);
  if (known) return known;
  const file = execFileSync('fc-match', ['--format=%{file}', `Liberation Sans:${weight}`], {
    encoding: 'utf8',
  });
  if (!/\.(ttf|otf)$/i.test(file))
    throw new Error(
      `fontconfig has no TrueType or OpenType font for the bench (it named \`${file}\`): install fonts-liberation`,
    );
  const font = readFileSync(file);
  read.set(weight, font);
  return font;
}
