// What a hostile page is: data for the suites of hostile neighbours. The pages themselves are in
// hostile-pages.ts (html alone) and hostile-sites.ts (those that need an origin or a server).

/** How a hostile render may end. */
export type Outcome = 'ok' | 'page_crash' | 'page_timeout' | 'output_limit';

/** What is seen of the hostile renders from the outside, as growth over the worker at rest. */
export interface Footprint {
  /** The most CPU seconds of one renderer. */
  cpuS: number;
  /** Of all of Chrome's processes together. */
  memoryMib: number;
  processes: number;
  threads: number;
  /** Requests and WebSocket messages that came to the scenario's server. */
  requests: number;
}

export interface HostilePage {
  name: string;
  /** `base` is the scenario's server, as `http://127.0.0.1:port`. */
  html(base: string): string;
  /** Where the server serves it; then the render is of this `url`. Else it is of the html. */
  path?: string;
  /** Other fields of the request. */
  fields: object;
  outcomes: readonly Outcome[];
  /** The least it takes when it meets no bound. Less, and the page attacks nothing. */
  takes: Partial<Footprint>;
}

const ENDS: readonly Outcome[] = ['page_crash', 'page_timeout', 'output_limit'];
const MAY_RENDER: readonly Outcome[] = ['ok', ...ENDS];
/** Little, since the machine is shared by two such pages and five innocent accounts. */
const BURN = { cpuS: 0.2 };

const at = (base: string, text: string) =>
  text.replaceAll('$BASE', base).replaceAll('$PORT', new URL(base).port);

/** A page that is its script. The render waits for what never comes, so it ends by a bound. */
export const endless = (
  name: string,
  script: string,
  takes: Partial<Footprint> = BURN,
): HostilePage => ({
  name,
  html: base => `<!doctype html><body><p>x</p><script>${at(base, script)}</script>`,
  fields: { wait_for_expression: 'window.never' },
  outcomes: ENDS,
  takes,
});

/** A page that is printed as soon as it is loaded, if it ever is. */
export const printed = (
  name: string,
  html: string,
  takes: Partial<Footprint> = BURN,
): HostilePage => ({
  name,
  html: base => `<!doctype html><body>${at(base, html)}`,
  fields: {},
  outcomes: MAY_RENDER,
  takes,
});

export const printedScript = (
  name: string,
  script: string,
  takes: Partial<Footprint> = BURN,
): HostilePage => printed(name, `<p>x</p><script>${script}</script>`, takes);

/** A script that calls `body` without end and gives all other tasks their turn. */
export const forever = (body: string): string => `const { port1, port2 } = new MessageChannel();
port1.onmessage = () => { port2.postMessage(0); ${body} };
port2.postMessage(0);`;
