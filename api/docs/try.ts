// The "Try it" form of /docs and its script. The form is hidden without JavaScript.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Markup, markup } from '../../common/contract/markup.ts';

const script = readFileSync(new URL('try.js', import.meta.url), 'utf8');

/** The `script-src` of the Content-Security-Policy: allows only this script. */
export const docsScriptSource = `'sha256-${createHash('sha256').update(script).digest('base64')}'`;

export const docsScript = markup`<script>${new Markup(script)}</script>`;

export interface TryEndpoint {
  path: string;
  summary: string;
  needsKey: boolean;
}

/** `examples` are complete request bodies. The form starts with the first one. */
export function tryForm(
  endpoints: readonly TryEndpoint[],
  examples: readonly { summary: string; value: unknown }[],
): Markup {
  const bodies = examples.map(({ summary, value }) => ({
    summary,
    text: JSON.stringify(value, null, 2),
  }));
  return markup`<section id="try" hidden>
<h2 id="try-it">Try it</h2>
<p>Sends a render to this installation and shows the response. Nothing is stored in your browser.</p>
<form autocomplete="off">
<label class="field">Endpoint <select name="path">${endpoints.map(
    ({ path, summary, needsKey }) =>
      markup`<option value="${path}" data-key="${needsKey ? 'yes' : 'no'}">POST ${path}: ${summary}</option>`,
  )}</select></label>
<label class="field" id="try-key-field">API key <input name="key" type="password" autocomplete="off" spellcheck="false" placeholder="pressroom_live_…"></label>
<label class="field">Example <select name="example">${bodies.map(({ summary, text }) => markup`<option value="${text}">${summary}</option>`)}</select></label>
<label class="field">Body <textarea name="body" rows="14" spellcheck="false" aria-describedby="try-hint">${bodies[0]?.text}</textarea></label>
<p class="hint" id="try-hint">JSON. Press Ctrl+Enter or ⌘+Enter to send.</p>
<p><button name="send">Render</button> <button name="cancel" type="button" hidden>Cancel</button></p>
</form>
<p id="try-says" role="status"></p>
<div id="try-found" hidden>
<p><a target="_blank" rel="noopener">Open the PDF</a> · <a download="render.pdf">Download</a></p>
<iframe id="try-preview" title="The rendered PDF"></iframe>
</div>
<table id="try-headers" aria-label="Response headers"></table>
</section>`;
}
