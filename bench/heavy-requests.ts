// Requests with large bodies or PDFs, for their effect on the API's event loop. Pure.

const ROW =
  '<tr class="line"><td>Hosting, dedicated machine</td>\n<td style="text-align:right">12.50</td></tr>\n';
/**
 * A character that makes a string two bytes per character in memory, and takes three bytes in
 * UTF-8.
 */
const EURO = '€';

/** HTML of about the given size that prints as one short page, because its content is hidden. */
function largeHtml(bytes: number, row: string): string {
  const rows = row.repeat(Math.ceil(bytes / Buffer.byteLength(row)));
  return `<!doctype html><meta charset="utf-8"><title>Large</title><style>table{display:none}</style><p>Large</p><table>${rows}</table>`;
}

/** A request body just below the given size. `wide` adds characters beyond Latin-1. */
export function largeBody(bytes: number, wide = false): string {
  const row = wide ? ROW + EURO : ROW;
  const growth = Buffer.byteLength(JSON.stringify(row)) / Buffer.byteLength(row);
  return JSON.stringify({ html: largeHtml(Math.floor((bytes - 1_000) / growth), row) });
}

/** Canvases with incompressible noise, one per page. `sides` are their sizes in pixels. */
export function noisePages(sides: readonly number[], more: Record<string, unknown> = {}): string {
  const canvases = sides.map(side => `<canvas width="${side}" height="${side}"></canvas>`).join('');
  const html = `<!doctype html><title>Noise</title><style>canvas{display:block;width:100%;break-after:page}</style>${canvases}<script>
let seed = 1;
for (const canvas of document.querySelectorAll('canvas')) {
  const context = canvas.getContext('2d');
  const image = context.createImageData(canvas.width, canvas.height);
  const pixels = new Uint32Array(image.data.buffer);
  for (let i = 0; i < pixels.length; i++) {
    seed ^= seed << 13; seed ^= seed >>> 17; seed ^= seed << 5;
    pixels[i] = seed | 0xff000000;
  }
  context.putImageData(image, 0, 0);
}
</script>`;
  return JSON.stringify({ html, ...more });
}

/** A4 pages with a table on each. */
export function tablePages(pages: number, more: Record<string, unknown> = {}): string {
  const row = (nth: number) =>
    `<tr><td>${nth + 1}</td><td>Support contract, level two</td><td>${(nth * 137) % 9_500}.00</td></tr>`;
  const table = (page: number) =>
    `<table>${Array.from({ length: 35 }, (_, nth) => row(page * 35 + nth)).join('')}</table>`;
  const tables = Array.from({ length: pages }, (_, page) => table(page)).join('');
  const style = 'td{font:11px/20px Arial,sans-serif;padding:0 6px}table{break-after:page}';
  return JSON.stringify({
    html: `<!doctype html><title>Tables</title><style>${style}</style>${tables}`,
    ...more,
  });
}
