// The web fonts of the documents: files of fonts that are installed here, read at run time, since
// the repository brings none along.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const read = new Map<string, Buffer>();

/**
 * A sans serif font of this weight, as fontconfig finds it. Throws when there is none, naming what
 * to install.
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
