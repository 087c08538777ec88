// The "Try it" form of /docs. The form is hidden without JavaScript.
import { Markup, markup } from '../../common/contract/markup.ts';
import { TRY_SCRIPT } from './assets.ts';

export const tryScript = markup`<script>${new Markup(TRY_SCRIPT)}</script>`;

export interface TryEndpoint {
  path: string;
  summary: string;
  needsKey: boolean;
}

/** `examples` are complete request bodies. The form starts with the first one. */
export function tryForm(
  endpoints: readonly TryEndpoint[],
  examples: readonly { summary: string; value: unknown }[],
  /** Where to create a key; undefined without the dashboard. */
  keysUrl: string | undefined,
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
${keysUrl === undefined ? undefined : markup`<p class="hint">No key yet? <a href="${keysUrl}">Create one in the dashboard</a>.</p>`}
<label class="field">Example <select name="example">${bodies.map(({ summary, text }) => markup`<option value="${text}">${summary}</option>`)}</select></label>
<label class="field">Body <textarea name="body" rows="14" spellcheck="false" aria-describedby="try-hint">${bodies[0]?.text}</textarea></label>
<p class="hint" id="try-hint">JSON. Press Ctrl+Enter or ⌘+Enter to send.</p>
<p><button name="send">Render</button> <button name="cancel" type="button" hidden>Cancel</button></p>
</form>
<p id="try-says" role="status"></p>
<div id="try-found" hidden>
<p><a target="_blank" rel="noopener">Open the PDF</a> · <a download>Download</a></p>
<iframe id="try-preview" title="The rendered PDF"></iframe>
</div>
<table id="try-headers" aria-label="Response headers"></table>
</section>`;
}
