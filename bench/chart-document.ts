// A document with four canvas charts that are animated with requestAnimationFrame. The promise
// `drawn` resolves when they are complete.

const STEPS = 20;

const script = (seed: number) => `
const charts = [...document.querySelectorAll('canvas')];
const value = (chart, n) => 30 + ((n * 37 + chart * 53 + ${seed} * 11) % 65);
function draw(canvas, chart, share) {
  const g = canvas.getContext('2d');
  g.clearRect(0, 0, canvas.width, canvas.height);
  g.strokeStyle = '#ccd'; g.fillStyle = '#445'; g.font = '11px sans-serif';
  for (let y = 0; y <= 5; y++) {
    g.beginPath(); g.moveTo(40, 20 + y * 40); g.lineTo(640, 20 + y * 40); g.stroke();
    g.fillText(String(100 - y * 20), 12, 24 + y * 40);
  }
  for (let n = 0; n < 24; n++) {
    const height = value(chart, n) * 2 * share;
    g.fillStyle = 'hsl(' + (200 + chart * 40) + ' 60% ' + (40 + (n % 3) * 8) + '%)';
    g.fillRect(46 + n * 25, 220 - height, 18, height);
  }
  g.strokeStyle = '#b5472f'; g.lineWidth = 2; g.beginPath();
  for (let n = 0; n < 24 * share; n++) g.lineTo(55 + n * 25, 220 - value(chart, n + 7) * 2);
  g.stroke(); g.lineWidth = 1;
}
window.drawn = new Promise(done => {
  let step = 0;
  requestAnimationFrame(function next() {
    step += 1;
    charts.forEach((canvas, chart) => draw(canvas, chart, step / ${STEPS}));
    if (step < ${STEPS}) requestAnimationFrame(next);
    else done(true);
  });
});`;

/** Returns a complete HTML document. */
export const chart = (
  seed: number,
): string => `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Charts ${seed}</title>
<style>body { font: 13px/1.4 Arial, sans-serif; margin: 0 } canvas { display: block; width: 660px; height: 210px } h2 { font-size: 15px; margin: 4px 0 }</style></head>
<body>${['North', 'South', 'East', 'West'].map(region => `<h2>${region}</h2><canvas width="660" height="240"></canvas>`).join('')}<script>${script(seed)}</script></body></html>`;
