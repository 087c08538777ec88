// The watermark's drawing: the word SANDBOX as strokes, in PDF's path operators, laid diagonally
// over a page of any size. Pure. The letters are lines of our own and no text: nothing has to be
// embedded, and no font is missing anywhere.

/**
 * Width of each letter and its middle line, 100 units high: M and L take a point, C three, h
 * closes.
 */
const LETTERS: [number, string][] = [
  [
    62,
    'M 60 82 C 55 94 45 100 31 100 C 13 100 3 90 3 76 C 3 60 16 55 31 51 C 48 47 62 41 62 25 C 62 9 50 0 31 0 C 15 0 4 7 0 20',
  ],
  [72, 'M 0 0 L 36 100 L 72 0 M 12 33 L 60 33'],
  [66, 'M 0 0 L 0 100 L 66 0 L 66 100'],
  [66, 'M 0 0 L 0 100 L 28 100 C 54 100 66 80 66 50 C 66 20 54 0 28 0 h'],
  [
    60,
    'M 0 0 L 0 100 L 32 100 C 48 100 56 91 56 77 C 56 62 47 53 32 53 L 0 53 M 32 53 C 49 53 60 44 60 27 C 60 9 49 0 32 0 L 0 0',
  ],
  [76, 'M 38 100 C 62 100 76 80 76 50 C 76 20 62 0 38 0 C 14 0 0 20 0 50 C 0 80 14 100 38 100 h'],
  [64, 'M 0 0 L 64 100 M 0 100 L 64 0'],
];
const GAP = 34;
const WIDTH = LETTERS.reduce((sum, [width]) => sum + width, GAP * (LETTERS.length - 1));
const HEIGHT = 100;
/** Of the letters; the light edge, wider than it, keeps them visible on what is dark. */
const STROKE = 16;
const EDGE = 24;
/** How much of its cell the word may take in either direction. */
const FILL = 0.9;
/** The longer side of A4 and a rounding: no stretch of that length is without the word. */
const CELL_PT = (298 / 25.4) * 72;

const round = (value: number) => Number(value.toFixed(3));

/** The word around the origin as path operators, the longer way along x. */
function wordPath(): string {
  let left = -WIDTH / 2;
  const letters = LETTERS.map(([width, path]) => {
    let isX = true;
    const moved: string[] = [];
    for (const part of path.split(/ (?=[MLCh])/)) {
      const [operator, ...numbers] = part.split(' ');
      const points = numbers.map(number => {
        const at = Number(number) + (isX ? left : -HEIGHT / 2);
        isX = !isX;
        return round(at);
      });
      moved.push([...points, operator!.toLowerCase()].join(' '));
    }
    left += width + GAP;
    return moved.join('\n');
  });
  return letters.join('\n');
}

const PATH = wordPath();

/** One word, as large as its cell lets it be. */
function word(widthPt: number, heightPt: number): string {
  const angle = Math.atan2(heightPt, widthPt);
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  const [long, high] = [WIDTH + EDGE, HEIGHT + EDGE];
  const scale =
    FILL * Math.min(widthPt / (long * cos + high * sin), heightPt / (long * sin + high * cos));
  const matrix = [cos * scale, sin * scale, -sin * scale, cos * scale].map(round).join(' ');
  const stroked = (colour: string, width: number) => `${colour} RG ${width} w\n${PATH}\nS`;
  return `${matrix} 0 0 cm\n${stroked('1 1 1', EDGE)}\n${stroked('0.75 0.1 0.1', STROKE)}`;
}

/**
 * Operators for a whole page, to be painted with a translucent stroke; round ends and corners
 * included. The origin is the page's lower left corner.
 */
export function watermarkDrawing(widthPt: number, heightPt: number): string {
  const [columns, rows] = [Math.ceil(widthPt / CELL_PT), Math.ceil(heightPt / CELL_PT)];
  const [cellWidth, cellHeight] = [widthPt / columns, heightPt / rows];
  const drawing = word(cellWidth, cellHeight);
  const drawings: string[] = [];
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++)
      drawings.push(
        `q 1 0 0 1 ${round((column + 0.5) * cellWidth)} ${round((row + 0.5) * cellHeight)} cm\n${drawing}\nQ`,
      );
  return ['1 J 1 j', ...drawings].join('\n');
}
