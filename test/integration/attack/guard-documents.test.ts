import { type Attack, attacks } from '../../support/pages/attack-pages.ts';

const to = (status: number): Attack => ({
  what: `by a redirect (${status})`,
  serve: { '/': { status, headers: { location: 'http://%V/' } } },
  blocked: true,
});
const page = (what: string, body: string, more: Partial<Attack> = {}): Attack => ({
  what,
  serve: { '/': `<h1>PAGE</h1>${body}` },
  blocked: true,
  options: { wait_for_selector: '#never' },
  ...more,
});
const script = (what: string, code: string, more: Partial<Attack> = {}) =>
  page(`by ${what}`, `<script>${code}</script>`, more);

attacks('a page that navigates to a private address', [
  ...[301, 302, 303, 307, 308].map(to),
  {
    what: 'by a redirect to https',
    serve: { '/': { status: 302, headers: { location: 'https://%V/' } } },
    blocked: true,
  },
  {
    what: 'by the last of several redirects',
    serve: {
      '/': { status: 307, headers: { location: 'http://%O/2' } },
      '/2': { status: 303, headers: { location: '/3' } },
      '/3': { status: 308, headers: { location: '//%V/' } },
    },
    blocked: true,
  },
  {
    what: 'by a redirect with a host as the user name',
    serve: { '/': { status: 302, headers: { location: 'http://127.0.0.1@%V/' } } },
    blocked: true,
  },
  page('by a refresh', '<meta http-equiv=refresh content="0;url=http://%V/">'),
  page('by a delayed refresh', '<meta http-equiv=refresh content="1; url=http://%V/">'),
  page(
    'by a refresh that a script adds',
    `<script>document.head.innerHTML = '<meta http-equiv=refresh content="0;http://%V/">'</script>`,
  ),
  {
    what: 'by a Refresh header',
    serve: { '/': { headers: { refresh: '0;url=http://%V/' }, body: '<h1>PAGE</h1>' } },
    blocked: true,
    options: { wait_for_selector: '#never' },
  },
  script('location', 'location = "http://%V/"'),
  script(
    'location.replace after the load',
    'onload = () => setTimeout(() => location.replace("//%V/"))',
  ),
  script('location.host', 'location.host = "%V"'),
  script('location.assign to https', 'location.assign("https://%V/")'),
  script('the navigation API', 'navigation.navigate("http://%V/")'),
  script('window.open into itself', 'window.open("http://%V/", "_self")'),
  script(
    'the top of a frame',
    'document.write(`<iframe srcdoc="<script>top.location=\'http://%V/\'</scr` + `ipt>"></iframe>`)',
  ),
  script(
    'a click on a link',
    'document.body.innerHTML = "<a href=http://%V/>x</a>"; document.links[0].click()',
  ),
  script(
    'a click on a link in an SVG',
    'document.body.innerHTML = "<svg><a href=http://%V/><text>x</text></a></svg>"; document.querySelector("svg a").dispatchEvent(new MouseEvent("click"))',
  ),
  page(
    'by a download',
    '<a download href="http://%V/">x</a><script>document.links[0].click()</script>',
  ),
  page(
    'by a submitted form (GET)',
    '<form action="http://%V/"></form><script>document.forms[0].submit()</script>',
  ),
  page(
    'by a submitted form (POST)',
    '<form method=post action="http://%V/"><input name=a value=b></form><script>document.forms[0].submit()</script>',
  ),
  page(
    'by a form with a formaction button',
    '<form action=/><button formaction="http://%V/"></button></form><script>document.querySelector("button").click()</script>',
  ),
  page(
    'by a form whose target redirects',
    '<form method=post action="http://%O/307"></form><script>document.forms[0].submit()</script>',
    {
      serve: {
        '/': '<form method=post action="http://%O/307"></form><script>document.forms[0].submit()</script>',
        '/307': { status: 307, headers: { location: 'http://%V/' } },
      },
    },
  ),
  {
    what: 'by a script in html',
    html: '<script>location = "http://%V/"</script>',
    blocked: true,
    options: { wait_for_selector: '#never' },
  },
  {
    what: 'by html that refreshes to a redirect',
    html: '<meta http-equiv=refresh content="0;http://%O/">',
    serve: { '/': { status: 301, headers: { location: 'http://%V/' } } },
    blocked: true,
    options: { wait_for_selector: '#never' },
  },
  {
    what: 'by html with a form',
    html: '<form method=post action="https://%V/"></form><script>document.forms[0].submit()</script>',
    blocked: true,
    options: { wait_for_selector: '#never' },
  },
  {
    what: 'by a service worker that responds with a redirect',
    serve: {
      '/': `<h1>PAGE</h1><script>navigator.serviceWorker.register("/sw.js").then(() => navigator.serviceWorker.ready).then(() => { location = "/next" })</script>`,
      '/sw.js': {
        type: 'text/javascript',
        body: 'onactivate = event => event.waitUntil(clients.claim()); onfetch = event => { if (event.request.url.endsWith("/next")) event.respondWith(Response.redirect("http://%V/")) }',
      },
    },
    blocked: true,
    options: { wait_for_selector: '#never' },
  },
  {
    what: 'with css from a private address',
    html: '<h1>PAGE</h1>',
    options: { css: 'http://%V/' },
    blocked: true,
  },
  {
    what: 'with css from a redirect to a private address',
    html: '<h1>PAGE</h1>',
    serve: { '/css': { status: 302, headers: { location: 'http://%V/' } } },
    options: { css: 'http://%O/css' },
    blocked: true,
  },
  {
    what: 'with javascript from a private address',
    html: '<h1>PAGE</h1>',
    options: { javascript: 'https://%V/' },
    blocked: true,
  },
  {
    what: 'with javascript from a redirect to a private address',
    html: '<h1>PAGE</h1>',
    serve: { '/js': { status: 308, headers: { location: 'http://%V/' } } },
    options: { javascript: 'http://%O/js' },
    blocked: true,
  },
  {
    what: 'with javascript that navigates the page',
    html: '<h1>PAGE</h1>',
    options: { javascript: 'location = "http://%V/"' },
    blocked: true,
  },
  {
    what: 'by a redirect, with extra headers and credentials on every request',
    serve: {
      '/': { status: 302, headers: { location: 'http://%O/next' } },
      '/next': { status: 307, headers: { location: 'http://%V/' } },
    },
    options: { extra_http_headers: { 'X-Own': 'a' }, auth: { username: 'u', password: 'p' } },
    blocked: true,
  },
  {
    what: 'by a name in upper case with a trailing dot',
    html: '<script>const [name, port] = "%V".split(":"); location = "http://" + name.toUpperCase() + ".:" + port + "/"</script>',
    options: { wait_for_selector: '#never' },
    blocked: true,
  },
]);
