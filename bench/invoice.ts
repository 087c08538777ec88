// The main benchmark document: an A4 invoice of 40 rows with typical CSS, without images or
// external files.

const rows = (seed: number) =>
  Array.from({ length: 40 }, (_, i) => {
    const quantity = ((i * 7 + seed) % 12) + 1;
    const price = 480 + ((i * 137 + seed * 31) % 9_500);
    return {
      article: `PR-${1_000 + i * 3}`,
      text: articles[(i + seed) % articles.length]!,
      quantity,
      price,
      total: quantity * price,
    };
  });

const articles = [
  'Hosting, dedicated machine, monthly fee',
  'Support contract, level two, answer within four hours',
  'Licence for one further workplace',
  'Consulting on site, per hour begun',
  'Travel to the customer, flat rate',
  'Back-up storage, per 100 GB',
  'Training, half a day, up to eight people',
];

const euros = new Intl.NumberFormat('en-GB', { style: 'currency', currency: 'EUR' });
const money = (cents: number) => euros.format(cents / 100);

const style = `
@page { size: A4 }
* { box-sizing: border-box }
body { font: 10px/1.45 "Helvetica Neue", Arial, sans-serif; color: #223; margin: 0 }
header { display: flex; justify-content: space-between; border-bottom: 3px solid #1f6feb; padding-bottom: 12px; margin-bottom: 18px }
h1 { font-size: 22px; margin: 0; letter-spacing: -.02em }
address { font-style: normal; white-space: pre-line }
.facts { display: grid; grid-template-columns: repeat(4, 1fr); gap: 8px; margin-bottom: 16px }
.facts div { background: #f3f6fb; border-radius: 4px; padding: 6px 8px }
.facts b { display: block; color: #667; font-size: 8px; text-transform: uppercase }
table { width: 100%; border-collapse: collapse }
thead { display: table-header-group }
th { text-align: left; background: #1f6feb; color: #fff; padding: 5px 6px; font-weight: 600 }
td { padding: 4px 6px; border-bottom: 1px solid #e3e8f0; break-inside: avoid }
tbody tr:nth-child(even) td { background: #f9fbfe }
.number { text-align: right; font-variant-numeric: tabular-nums }
.sums td { font-weight: 700; border-bottom: 0 }
footer { margin-top: 18px; color: #778; font-size: 9px }`;

/**
 * Returns a complete HTML document. Different seeds have different numbers, so that no two renders
 * are equal.
 */
export function invoice(seed: number): string {
  const lines = rows(seed);
  const net = lines.reduce((sum, { total }) => sum + total, 0);
  const body = lines
    .map(
      ({ article, text, quantity, price, total }, i) =>
        `<tr><td>${i + 1}</td><td>${article}</td><td>${text}</td><td class="number">${quantity}</td><td class="number">${money(price)}</td><td class="number">${money(total)}</td></tr>`,
    )
    .join('\n');
  const sums = [
    ['Net', net],
    ['VAT 19 %', net * 0.19],
    ['To pay', net * 1.19],
  ] as const;
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Invoice ${seed}</title><style>${style}</style></head><body>
<header><h1>Invoice ${seed}</h1><address>Example Trading Ltd
12 Sample Street
EX1 2MP Exampleton</address></header>
<section class="facts"><div><b>Customer</b>C-${4_000 + (seed % 500)}</div><div><b>Date</b>21 November 2026</div><div><b>Due</b>5 December 2026</div><div><b>Order</b>${seed}-B</div></section>
<table><thead><tr><th>#</th><th>Article</th><th>Description</th><th class="number">Qty</th><th class="number">Price</th><th class="number">Total</th></tr></thead>
<tbody>
${body}
</tbody><tbody class="sums">${sums.map(([name, cents]) => `<tr><td colspan="5" class="number">${name}</td><td class="number">${money(cents)}</td></tr>`).join('')}</tbody></table>
<footer>Payable within 14 days without deduction. Goods remain ours until paid in full.</footer></body></html>`;
}
