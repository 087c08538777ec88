// The script of /docs: sends a render from the form of the page and shows the response. Runs in the
// browser without a build step.
{
  const section = document.getElementById('try');
  const form = section.querySelector('form');
  const { path, key, example, body, send, cancel } = form.elements;
  const keyField = document.getElementById('try-key-field');
  const says = document.getElementById('try-says');
  const found = document.getElementById('try-found');
  const headers = document.getElementById('try-headers');
  const preview = document.getElementById('try-preview');
  const [open, save] = found.querySelectorAll('a');
  let running;
  let pdfUrl;

  const needsKey = () => path.selectedOptions[0].dataset.key === 'yes';

  function say(text, kind) {
    says.textContent = text;
    says.className = kind ?? '';
  }

  function problem(field, text) {
    field.setAttribute('aria-invalid', 'true');
    field.focus();
    say(text, 'bad');
  }

  function clear() {
    for (const field of [key, body]) field.removeAttribute('aria-invalid');
    if (pdfUrl) URL.revokeObjectURL(pdfUrl);
    pdfUrl = undefined;
    found.hidden = true;
    preview.removeAttribute('src');
    headers.replaceChildren();
  }

  function showHeaders(answer) {
    for (const [name, value] of answer.headers) {
      const row = headers.insertRow();
      const head = document.createElement('th');
      head.scope = 'row';
      head.textContent = name;
      row.append(head);
      row.insertCell().textContent = value;
    }
  }

  /** As the API encodes it: RFC 6266, with `filename*` for a name that is not ASCII. */
  function filenameOf(disposition) {
    const encoded = /filename\*=UTF-8''([^;]+)/.exec(disposition)?.[1];
    return encoded ? decodeURIComponent(encoded) : /filename="([^"]+)"/.exec(disposition)?.[1];
  }

  const size = bytes =>
    bytes < 1024 * 1024
      ? `${Math.ceil(bytes / 1024)} KiB`
      : `${(bytes / 1024 / 1024).toFixed(1)} MiB`;

  async function show(answer, tookMs) {
    const took = `${Math.round(tookMs)} ms`;
    if (answer.ok) {
      const pdf = await answer.blob();
      const pages = answer.headers.get('x-pdf-pages');
      pdfUrl = URL.createObjectURL(pdf);
      open.href = pdfUrl;
      save.href = pdfUrl;
      save.download = filenameOf(answer.headers.get('content-disposition'));
      preview.src = pdfUrl;
      found.hidden = false;
      say(
        ['200', took, pages && `${pages} ${pages === '1' ? 'page' : 'pages'}`, size(pdf.size)]
          .filter(Boolean)
          .join(' · '),
        'good',
      );
    } else {
      const { error } = await answer.json().catch(() => ({}));
      const why = error
        ? `${error.code}${error.reason ? ` (${error.reason})` : ''}: ${error.message}`
        : answer.statusText;
      say(`${answer.status} · ${took} · ${why}`, 'bad');
    }
    showHeaders(answer);
  }

  async function render() {
    running = new AbortController();
    send.disabled = true;
    cancel.hidden = false;
    say('Rendering…');
    const startMs = performance.now();
    try {
      // Relative to this page, which a reverse proxy may serve under another path.
      const answer = await fetch(new URL(path.value.slice(1), document.baseURI), {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          ...(needsKey() && { Authorization: `Bearer ${key.value.trim()}` }),
        },
        body: body.value,
        signal: running.signal,
      });
      await show(answer, performance.now() - startMs);
    } catch (error) {
      say(
        error.name === 'AbortError' ? 'Canceled.' : `Could not reach the server: ${error.message}`,
        'bad',
      );
    } finally {
      send.disabled = false;
      cancel.hidden = true;
      running = undefined;
    }
  }

  form.addEventListener('submit', event => {
    event.preventDefault();
    if (running) return;
    clear();
    if (needsKey() && key.value.trim() === '') return problem(key, 'Enter an API key first.');
    // Other characters cannot be sent in a header.
    if (needsKey() && /[^\x21-\x7e]/.test(key.value.trim()))
      return problem(key, 'An API key contains only letters, digits and underscores.');
    try {
      JSON.parse(body.value);
    } catch (error) {
      return problem(body, `The body is not valid JSON: ${error.message}`);
    }
    void render();
  });
  body.addEventListener('keydown', event => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  cancel.addEventListener('click', () => running?.abort());
  path.addEventListener('change', () => {
    keyField.hidden = !needsKey();
  });
  example.addEventListener('change', () => {
    body.value = example.value;
  });
  keyField.hidden = !needsKey();
  section.hidden = false;
}
