// The stylesheet of /docs. System fonts and no external resources.
import { createHash } from 'node:crypto';

export const docsStyle = `
:root {
  color-scheme: light dark;
  --ink: #1b1f27; --soft: #5a6372; --line: #e2e5ea; --paper: #fff; --shade: #f6f7f9; --accent: #b3261e; --accent-shade: #fdf1f0;
  --code-ink: #dfe3ea; --code-paper: #171a21; --good: #17663a; --good-shade: #e8f5ed; --warn: #8a4b00; --warn-shade: #fdf3e3;
  --mono: ui-monospace, "SF Mono", SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e4e7ec; --soft: #98a2b3; --line: #2b303a; --paper: #12141a; --shade: #1a1d25; --accent: #ff8a80; --accent-shade: #2a1a1b;
    --code-ink: #dfe3ea; --code-paper: #0b0d11; --good: #7bd8a3; --good-shade: #14281d; --warn: #f2bd6b; --warn-shade: #2c2212;
  }
}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; scroll-padding-top: 1.5rem; -webkit-text-size-adjust: 100%; }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
body { margin: 0; color: var(--ink); background: var(--paper); font: 16px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
a { color: var(--accent); text-underline-offset: .15em; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; top: 1rem; padding: .4rem .8rem; background: var(--paper); }
.page { display: grid; grid-template-columns: 15rem minmax(0, 1fr); max-width: 74rem; margin: 0 auto; }
nav { position: sticky; top: 0; align-self: start; max-height: 100vh; overflow-y: auto; padding: 2.5rem 1.5rem 2.5rem 1.25rem; font-size: .875rem; }
nav .brand { display: block; margin-bottom: 1.75rem; font-size: 1.125rem; font-weight: 700; letter-spacing: -.01em; color: var(--ink); text-decoration: none; }
nav .brand span { color: var(--soft); font-weight: 400; font-size: .8125rem; letter-spacing: 0; }
nav b { display: block; margin: 1.25rem 0 .35rem; font-weight: 600; }
nav ul { margin: 0; padding: 0; list-style: none; }
nav li a { display: block; overflow-wrap: anywhere; padding: .15rem 0 .15rem .75rem; border-left: 2px solid var(--line); color: var(--soft); text-decoration: none; }
nav li a:hover, nav li a:focus { color: var(--accent); border-color: var(--accent); }
nav li a code { padding: 0; background: none; color: inherit; font-size: .8125rem; }
main { padding: 2.5rem 1.5rem 5rem 2.5rem; border-left: 1px solid var(--line); min-width: 0; }
h1 { margin: 0 0 .5rem; font-size: 2.125rem; line-height: 1.15; letter-spacing: -.025em; }
h1, h2, h3 { overflow-wrap: anywhere; }
h2 { margin: 3.5rem 0 1rem; padding-top: 1.75rem; border-top: 1px solid var(--line); font-size: 1.5rem; line-height: 1.25; letter-spacing: -.015em; }
h3 { margin: 2.25rem 0 .5rem; font-size: 1.0625rem; }
h4, .row h3 { margin: 0; font: 600 .9375rem/1.5 var(--mono); overflow-wrap: anywhere; }
p { margin: .5rem 0; max-width: 44rem; }
.lead { font-size: 1.125rem; color: var(--soft); }
code { padding: .1em .35em; border-radius: 4px; background: var(--shade); font-family: var(--mono); font-size: .875em; overflow-wrap: anywhere; }
pre { margin: 1rem 0; padding: 1rem 1.25rem; overflow-x: auto; border: 1px solid var(--line); border-radius: 8px; background: var(--code-paper); color: var(--code-ink); font: .8125rem/1.6 var(--mono); tab-size: 2; }
pre code { padding: 0; background: none; font-size: inherit; overflow-wrap: normal; }
.endpoint { display: flex; flex-wrap: wrap; align-items: baseline; gap: .5rem .75rem; margin: .75rem 0 1rem; font: 600 .9375rem/1.5 var(--mono); }
.method { padding: .1rem .5rem; border-radius: 4px; background: var(--good-shade); color: var(--good); font-size: .8125rem; text-transform: uppercase; }
.endpoint span:last-child { overflow-wrap: anywhere; }
.rows { border-top: 1px solid var(--line); }
.row { display: grid; grid-template-columns: 13rem minmax(0, 1fr); gap: .25rem 1.5rem; padding: 1rem 0; border-bottom: 1px solid var(--line); }
.row p { margin: 0; }
.row p + p { margin-top: .4rem; }
.row .facts { margin: 0; color: var(--soft); font-size: .8125rem; }
.row .examples { color: var(--soft); font-size: .875rem; }
.inner { grid-column: 2; margin-top: .5rem; padding-left: 1rem; border-left: 2px solid var(--line); font-size: .9375rem; }
.inner .row { grid-template-columns: 9rem minmax(0, 1fr); padding: .6rem 0; }
.inner .row:last-child { border-bottom: 0; }
.status { display: inline-block; min-width: 2.75rem; margin-right: .5rem; padding: 0 .4rem; border-radius: 4px; background: var(--warn-shade); color: var(--warn); text-align: center; }
.status.ok { background: var(--good-shade); color: var(--good); }
.note { margin: 1.25rem 0; padding: .75rem 1rem; border-left: 3px solid var(--accent); border-radius: 0 6px 6px 0; background: var(--accent-shade); max-width: 44rem; }
details { margin-top: .5rem; }
summary { cursor: pointer; color: var(--soft); font-size: .875rem; }
details pre { margin: .5rem 0 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.field { display: block; max-width: 44rem; margin: .9rem 0; font-size: .875rem; font-weight: 600; }
.field[hidden] { display: none; }
.field select, .field input, .field textarea { display: block; width: 100%; margin-top: .3rem; padding: .5rem .65rem; border: 1px solid var(--soft); border-radius: 6px; background: var(--paper); color: var(--ink); font: .875rem/1.5 var(--mono); }
.field textarea { resize: vertical; tab-size: 2; }
.field [aria-invalid] { border-color: var(--accent); outline: 1px solid var(--accent); }
.hint { margin-top: -.5rem; color: var(--soft); font-size: .8125rem; }
button { padding: .5rem 1.1rem; border: 1px solid var(--accent); border-radius: 6px; background: var(--accent); color: var(--paper); font: 600 .9375rem/1.4 inherit; font-family: inherit; cursor: pointer; }
button[type=button] { background: none; color: var(--accent); }
button:disabled { opacity: .55; cursor: default; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
#try-says { min-height: 1.6em; font-size: .9375rem; overflow-wrap: anywhere; }
#try-says.good { color: var(--good); }
#try-says.bad { color: var(--accent); }
#try-preview { width: 100%; max-width: 44rem; height: 40rem; border: 1px solid var(--line); border-radius: 6px; background: var(--shade); }
#try-headers { max-width: 100%; border-collapse: collapse; font: .8125rem/1.5 var(--mono); }
#try-headers th, #try-headers td { padding: .2rem 1rem .2rem 0; text-align: left; vertical-align: top; overflow-wrap: anywhere; }
#try-headers th { color: var(--soft); font-weight: 400; white-space: nowrap; }
.wide { overflow-x: auto; }
.wide table { border-collapse: collapse; font-size: .875rem; line-height: 1.45; }
.wide th, .wide td { min-width: 11rem; padding: .5rem .75rem .5rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
footer { margin-top: 4rem; padding-top: 1rem; border-top: 1px solid var(--line); color: var(--soft); font-size: .875rem; }
@media (max-width: 56rem) {
  .page { display: block; }
  nav { position: static; max-height: none; padding: 1.5rem 1.25rem 1rem; border-bottom: 1px solid var(--line); }
  nav .brand { margin-bottom: .5rem; }
  nav .fields { display: none; }
  nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1rem; }
  nav li a { padding: .15rem 0; border: 0; }
  main { padding: 1.75rem 1.25rem 4rem; border: 0; }
  h1 { font-size: 1.75rem; }
  .row, .inner .row { grid-template-columns: minmax(0, 1fr); }
  .inner { grid-column: 1; }
}
@media print { nav, .skip { display: none; } .page { display: block; } main { border: 0; padding: 0; } pre { white-space: pre-wrap; } }
`;

/** For a Content-Security-Policy's `style-src`: the page's one style, and no other, is allowed. */
export const docsStyleSource = `'sha256-${createHash('sha256').update(docsStyle).digest('base64')}'`;
