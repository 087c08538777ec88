// The type of hostile pages, for tests of noisy neighbours. The pages are in hostile-pages.ts (HTML
// only) and hostile-sites.ts (pages that need an origin or a server).

/** The allowed outcomes of a hostile render. */
export type Outcome = 'ok' | 'page_crash' | 'page_timeout' | 'output_limit';

/** The load of the hostile renders, as growth over the idle worker. */
export interface Footprint {
  /** Maximum CPU seconds of one renderer process. */
  cpuS: number;
  /** Memory of all processes of Chrome. */
  memoryMib: number;
  processes: number;
  threads: number;
  /** Requests and WebSocket messages to the server of the scenario. */
  requests: number;
}

export interface HostilePage {
  name: string;
  /** `base` is the server of the scenario, as `http://127.0.0.1:port`. */
  html(base: string): string;
  /** The path on the server for a render of a `url`. Without it, the render is of the HTML. */
  path?: string;
  /** Further fields of the request. */
  fields: object;
  outcomes: readonly Outcome[];
  /** The minimum load without limits. With less, the page is not an attack. */
  takes: Partial<Footprint>;
}

const ENDS: readonly Outcome[] = ['page_crash', 'page_timeout', 'output_limit'];
const MAY_RENDER: readonly Outcome[] = ['ok', ...ENDS];
/** Low, because two hostile pages and five other accounts share the machine. */
const BURN = { cpuS: 0.2 };

const at = (base: string, text: string) =>
  text.replaceAll('$BASE', base).replaceAll('$PORT', new URL(base).port);

/** A page with a script. The render waits forever and ends at a limit. */
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

/** A page that is printed as soon as it has loaded. */
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

/** A script that repeats `body` forever and lets other tasks run in between. */
export const forever = (body: string): string => `const { port1, port2 } = new MessageChannel();
port1.onmessage = () => { port2.postMessage(0); ${body} };
port2.postMessage(0);`;
