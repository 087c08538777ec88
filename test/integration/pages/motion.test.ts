import { type RealPage, realPages } from '../../support/pages/real-pages.ts';

/**
 * What pages wait for that only comes with a screen frame, as a promise. These frames are never seen,
 * and none is painted.
 */
const AWAITED: Record<string, string> = {
  'twenty animation frames':
    'new Promise(came => { let left = 20; const next = () => (left-- > 0 ? requestAnimationFrame(next) : came()); next() })',
  'a ResizeObserver': 'new Promise(came => new ResizeObserver(came).observe(box))',
  'an IntersectionObserver': 'new Promise(came => new IntersectionObserver(came).observe(box))',
  'the end of an animation in CSS':
    'new Promise(came => { box.onanimationend = came; box.className = "moves" })',
  'the end of a transition':
    'new Promise(came => { box.ontransitionend = came; requestAnimationFrame(() => requestAnimationFrame(() => { box.style.marginLeft = "90px" })) })',
  'the end of an animation in script':
    'box.animate([{ opacity: 0.5 }, { opacity: 1 }], 100).finished',
  'a view transition': 'document.startViewTransition(() => { box.textContent = "other" }).finished',
  'an image that decodes': `Object.assign(new Image(), { src: 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>' }).decode()`,
  'the end of a smooth scroll':
    'new Promise(came => { onscrollend = came; scrollTo({ top: 900, behavior: "smooth" }) })',
  'a canvas that a worker draws in frames': `new Promise(came => {
    const source = 'onmessage = ({ data }) => { const c = data.getContext("2d"); let n = 0; const next = () => { c.fillRect(n, 0, 1, 9); if (++n < 10) requestAnimationFrame(next); else postMessage(n) }; next() }';
    const worker = new Worker(URL.createObjectURL(new Blob([source])));
    worker.onmessage = came;
    const offscreen = canvas.transferControlToOffscreen();
    worker.postMessage(offscreen, [offscreen]);
  })`,
  'word of the first contentful paint':
    'new Promise(came => new PerformanceObserver(came).observe({ type: "paint", buffered: true }))',
  'word of the largest contentful paint':
    'new Promise(came => new PerformanceObserver(came).observe({ type: "largest-contentful-paint", buffered: true }))',
  'idle time': 'new Promise(came => requestIdleCallback(came))',
};

const page = (awaited: string) => `<!doctype html>
<style>
  #box { width: 50px; height: 50px; background: #f00; transition: margin-left 100ms; will-change: transform }
  .moves { animation: moves 100ms forwards }
  @keyframes moves { to { transform: translateX(90px) } }
</style>
<p id=o>WAITS</p><div id=box></div><canvas id=canvas></canvas><div style="height: 3000px"></div>
<script>onload = () => ${awaited}.then(() => { o.textContent = 'CAME'; document.title = 'over' }, error => { o.textContent = error; document.title = 'over' })</script>`;

const pages = Object.entries(AWAITED).map(
  ([what, awaited]): RealPage => ({
    what,
    at: 'secure',
    serve: { '/': page(awaited) },
    options: { wait_for_expression: 'document.title === "over"' },
    text: ['CAME'],
  }),
);

realPages('a page that waits for a screen frame', pages);
