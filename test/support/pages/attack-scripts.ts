// Scripts that use every network API of pages and workers. `%V` and `%Q` as in attack-pages.ts.

/** APIs in pages and in workers. */
export const ANYWHERE = `
  const quiet = work => { try { Promise.resolve(work()).catch(() => {}) } catch {} };
  quiet(() => fetch("http://%V/"));
  quiet(() => fetch("https://%V/", { mode: "no-cors", keepalive: true }));
  quiet(() => fetch("http://%V/", { method: "POST", headers: { "x-a": "b" }, body: "x" }));
  quiet(() => fetch("http://%V/", { redirect: "manual", credentials: "include", referrerPolicy: "no-referrer", priority: "high" }));
  quiet(() => fetch(new Request("http://%Q/", { cache: "only-if-cached", mode: "same-origin" })));
  quiet(() => fetch("http://%Q/", { mode: "cors", targetAddressSpace: "local" }));
  quiet(() => new WebSocket("ws://%V/"));
  quiet(() => new WebSocket("wss://%V/"));
  quiet(() => { new EventSource("http://%V/") });
`;

/** APIs in pages and in workers except service workers. */
export const XHR = `
  quiet(() => { const call = new XMLHttpRequest(); call.open("PUT", "http://%V/"); call.send("x") });
  quiet(() => { const call = new XMLHttpRequest(); call.open("GET", "https://%V/", false); call.send() });
  quiet(() => new WebSocketStream("ws://%V/").opened);
`;

/** APIs in pages only. */
export const PAGE_ONLY = `
  quiet(() => navigator.sendBeacon("http://%V/", new Blob(["x"], { type: "text/plain" })));
  quiet(() => { new Image().src = "http://%V/" });
  quiet(() => { document.head.append(Object.assign(document.createElement("link"), { rel: "stylesheet", href: "http://%V/" })) });
  quiet(() => { document.head.append(Object.assign(document.createElement("script"), { src: "http://%V/" })) });
`;
