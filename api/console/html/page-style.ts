// The style of the server-rendered pages: the dashboard's colours and spacing (Mantine's indigo),
// light and dark, for phones and desktops. It loads no resources.

export const pageStyle = `
:root {
  color-scheme: light dark;
  --ink: #1b1f27; --soft: #5c636d; --line: #ced4da; --paper: #f8f9fa; --card: #fff; --field: #fff; --accent: #4263eb; --accent-dark: #364fc7;
  --on-accent: #fff; --bad: #c92a2a; --bad-shade: #fff5f5; --good-shade: #edf2ff;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e9ecef; --soft: #a6adb5; --line: #55595f; --paper: #1a1b1e; --card: #242424; --field: #2e2e2e; --accent: #91a7ff; --accent-dark: #bac8ff;
    --on-accent: #14182b; --bad: #ffa8a8; --bad-shade: #3b2326; --good-shade: #232a44;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0; min-height: 100vh; min-height: 100dvh; display: grid; grid-template-columns: minmax(0, 26rem); place-content: center; padding: 2rem 1rem;
  color: var(--ink); background: var(--paper); font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
main { padding: 2rem; border: 1px solid var(--line); border-radius: .75rem; background: var(--card); }
.brand { display: flex; align-items: center; gap: .55rem; margin: 0 0 1.25rem; font-size: 1.125rem; font-weight: 700; letter-spacing: -.01em; }
.brand svg { width: 1.6rem; height: 1.6rem; flex: none; }
h1 { margin: 0 0 .25rem; overflow-wrap: anywhere; font-size: 1.5rem; line-height: 1.3; letter-spacing: -.015em; }
p { margin: 0 0 1rem; overflow-wrap: anywhere; }
.lead, .hint { color: var(--soft); }
.lead { overflow-wrap: anywhere; }
.hint { margin: .3rem 0 0; font-size: .875rem; }
a { color: var(--accent); text-underline-offset: .15em; }
.error { margin: 0 0 1rem; padding: .7rem .9rem; border-left: 3px solid var(--bad); border-radius: .35rem; background: var(--bad-shade); color: var(--bad); overflow-wrap: anywhere; }
h1 + .error { margin-top: .75rem; }
.notice { margin: 0 0 1rem; padding: .7rem .9rem; border-left: 3px solid var(--accent); border-radius: .35rem; background: var(--good-shade); }
.field { margin: 0 0 1rem; }
.field label { display: block; margin: 0 0 .3rem; font-size: .9375rem; font-weight: 600; }
.field input, .field select {
  width: 100%; min-height: 2.75rem; padding: .5rem .75rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--field); color: var(--ink); font: inherit;
}
.field input[aria-invalid] { border-color: var(--bad); }
.field .wrong { margin: .3rem 0 0; color: var(--bad); font-size: .875rem; }
.with-button { position: relative; }
.with-button input { padding-right: 4.5rem; }
.with-button button { position: absolute; right: .3rem; top: .3rem; min-height: 2.15rem; padding: 0 .7rem; border: 0; border-radius: .35rem; background: none; color: var(--accent); font: inherit; font-size: .875rem; cursor: pointer; }
.main-button {
  display: block; width: 100%; min-height: 2.75rem; padding: .5rem 1rem; border: 1px solid var(--accent); border-radius: .5rem; background: var(--accent); color: var(--on-accent);
  font: inherit; font-weight: 600; text-align: center; text-decoration: none; cursor: pointer;
}
.main-button:hover { background: var(--accent-dark); border-color: var(--accent-dark); }
.main-button[aria-disabled] { opacity: .6; cursor: default; }
.main-button.quiet { background: none; color: var(--accent); }
.main-button.quiet:hover { background: var(--good-shade); }
.as-link { min-height: 1.5rem; padding: 0; border: 0; background: none; color: var(--accent); font: inherit; text-decoration: underline; text-underline-offset: .15em; cursor: pointer; }
.or { display: flex; align-items: center; gap: .75rem; margin: 1.25rem 0; color: var(--soft); font-size: .875rem; }
.or::before, .or::after { content: ""; flex: 1; border-top: 1px solid var(--line); }
.below { margin: 1.25rem 0 0; font-size: .9375rem; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
@media (max-width: 30em) {
  body { place-content: start stretch; grid-template-columns: minmax(0, 1fr); padding: 0; background: var(--card); }
  main { padding: 1.75rem 1.25rem; border: 0; border-radius: 0; }
}
`;
