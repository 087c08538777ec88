// The script of all pages under /docs: color scheme, contents on phones, base URL, copy buttons,
// language tabs and search. Runs in the browser without a build step.
{
  const root = document.documentElement;
  const side = document.querySelector('.side');
  const element = (name, properties = {}, ...children) => {
    const created = Object.assign(document.createElement(name), properties);
    created.append(...children);
    return created;
  };

  // Browsers that block storage throw.
  const stored = {
    get(key) {
      try {
        return localStorage.getItem(key);
      } catch {
        return null;
      }
    },
    set(key, value) {
      try {
        localStorage.setItem(key, value);
      } catch {}
    },
  };

  // Color scheme. The dashboard reads the same value.
  const SCHEMES = ['auto', 'light', 'dark'];
  const SCHEME_KEY = 'mantine-color-scheme-value';
  const schemeButton = document.getElementById('scheme-button');
  const scheme = () => root.dataset.theme ?? 'auto';
  const nameScheme = () => {
    schemeButton.textContent = `Theme: ${scheme()}`;
  };
  schemeButton.addEventListener('click', () => {
    const next = SCHEMES[(SCHEMES.indexOf(scheme()) + 1) % SCHEMES.length];
    if (next === 'auto') delete root.dataset.theme;
    else root.dataset.theme = next;
    stored.set(SCHEME_KEY, next);
    nameScheme();
  });
  nameScheme();
  schemeButton.hidden = false;

  // On phones the contents are closed at first.
  const contentsButton = document.getElementById('contents-button');
  const toggleContents = () => {
    const closed = side.classList.toggle('closed');
    contentsButton.setAttribute('aria-expanded', String(!closed));
  };
  contentsButton.addEventListener('click', toggleContents);
  contentsButton.hidden = false;
  toggleContents();
  side.querySelector('.contents').addEventListener('click', event => {
    if (event.target.closest('a') && !side.classList.contains('closed')) toggleContents();
  });

  // The reader may reach this installation at another address than the configured one.
  const base = root.dataset.base;
  const actual = new URL(root.dataset.root, location.href).href.replace(/\/$/, '');
  if (base !== actual) {
    const texts = document.createTreeWalker(
      document.getElementById('content'),
      NodeFilter.SHOW_TEXT,
    );
    while (texts.nextNode())
      texts.currentNode.data = texts.currentNode.data.replaceAll(base, actual);
  }

  // Copy buttons. Without https the clipboard API is missing, so the code is selected and copied.
  async function copy(code) {
    if (navigator.clipboard) return navigator.clipboard.writeText(code.textContent);
    getSelection().selectAllChildren(code);
    document.execCommand('copy');
    getSelection().removeAllRanges();
  }
  for (const pre of document.querySelectorAll('main pre')) {
    const button = element('button', { type: 'button', className: 'copy', textContent: 'Copy' });
    const frame = element('div', { className: 'code' });
    pre.replaceWith(frame);
    frame.append(pre, button);
    button.addEventListener('click', async () => {
      await copy(pre.querySelector('code'));
      button.textContent = 'Copied';
      setTimeout(() => {
        button.textContent = 'Copy';
      }, 2000);
    });
  }

  // Language tabs. All examples show the language that was chosen last.
  const LANGUAGE_KEY = 'pressroom-docs-language';
  const groups = [...document.querySelectorAll('.samples')];
  function showLanguage(language) {
    for (const group of groups) {
      for (const figure of group.querySelectorAll('figure'))
        figure.hidden = figure.dataset.language !== language;
      for (const tab of group.querySelectorAll('[role=tab]')) {
        const selected = tab.dataset.language === language;
        tab.setAttribute('aria-selected', String(selected));
        tab.tabIndex = selected ? 0 : -1;
      }
    }
  }
  function chooseLanguage(tab) {
    const { top } = tab.getBoundingClientRect();
    stored.set(LANGUAGE_KEY, tab.dataset.language);
    showLanguage(tab.dataset.language);
    tab.focus();
    // Examples above may have become longer or shorter.
    scrollBy({ top: tab.getBoundingClientRect().top - top });
  }
  groups.forEach((group, index) => {
    const tabs = element('div', { className: 'tabs', role: 'tablist' });
    tabs.setAttribute('aria-label', 'Language');
    for (const figure of group.querySelectorAll('figure')) {
      const { language } = figure.dataset;
      const caption = figure.querySelector('figcaption');
      const tab = element('button', {
        type: 'button',
        role: 'tab',
        id: `tab-${index}-${language}`,
        textContent: caption.textContent,
      });
      tab.dataset.language = language;
      figure.id = `panel-${index}-${language}`;
      figure.role = 'tabpanel';
      figure.setAttribute('aria-labelledby', tab.id);
      tab.setAttribute('aria-controls', figure.id);
      caption.remove();
      tabs.append(tab);
    }
    tabs.addEventListener('click', event => {
      const tab = event.target.closest('[role=tab]');
      if (tab) chooseLanguage(tab);
    });
    tabs.addEventListener('keydown', event => {
      const all = [...tabs.children];
      const at = all.indexOf(event.target);
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (at >= 0 && step) chooseLanguage(all.at((at + step) % all.length));
    });
    group.prepend(tabs);
  });
  const languages = groups[0]
    ? [...groups[0].querySelectorAll('figure')].map(({ dataset }) => dataset.language)
    : [];
  const remembered = stored.get(LANGUAGE_KEY);
  showLanguage(languages.includes(remembered) ? remembered : languages[0]);

  // Search: every word must occur; a hit in the title counts more than one in the text.
  const MAX_RESULTS = 12;
  const EXCERPT_LENGTH = 110;
  const search = document.getElementById('search');
  const input = search.querySelector('input');
  const status = search.querySelector('.status');
  const results = search.querySelector('ul');
  let entries;
  const load = () => {
    entries ??= fetch(new URL('docs/search.json', new URL(root.dataset.root, location.href)))
      .then(response => {
        if (!response.ok) throw new Error(`status ${response.status}`);
        return response.json();
      })
      .catch(error => {
        entries = undefined;
        throw error;
      });
    return entries;
  };
  const wordsOf = text => text.toLowerCase().split(/\s+/).filter(Boolean);
  function score({ title, text }, words) {
    const inTitle = title.toLowerCase();
    const inText = text.toLowerCase();
    let total = 0;
    for (const word of words) {
      if (inTitle === word) total += 20;
      else if (inTitle.startsWith(word)) total += 10;
      else if (inTitle.includes(word)) total += 6;
      else if (inText.includes(word)) total += 1;
      else return 0;
    }
    return total;
  }
  /** The text around the first hit, with the hit marked. */
  function excerpt(text, words) {
    const lower = text.toLowerCase();
    const hits = words
      .map(word => ({ word, at: lower.indexOf(word) }))
      .filter(({ at }) => at >= 0)
      .sort((a, b) => a.at - b.at);
    const first = hits[0] ?? { word: '', at: 0 };
    const start = Math.max(0, text.lastIndexOf(' ', Math.max(0, first.at - EXCERPT_LENGTH / 3)));
    const end = start + EXCERPT_LENGTH;
    const hitEnd = first.at + first.word.length;
    return [
      `${start > 0 ? '… ' : ''}${text.slice(start, first.at).trimStart()}`,
      element('mark', { textContent: text.slice(first.at, hitEnd) }),
      `${text.slice(hitEnd, Math.max(end, hitEnd))}${end < text.length ? ' …' : ''}`,
    ];
  }
  function showResults(found, words) {
    results.replaceChildren(
      ...found.slice(0, MAX_RESULTS).map(({ title, section, path, text }) => {
        const href = new URL(path.slice(1), new URL(root.dataset.root, location.href)).href;
        const link = element('a', { href }, title, element('small', {}, section));
        if (text) link.append(element('small', {}, ...excerpt(text, words)));
        return element('li', {}, link);
      }),
    );
    status.textContent =
      found.length === 0
        ? 'No results.'
        : found.length === 1
          ? '1 result'
          : `${found.length} results`;
    if (found.length > MAX_RESULTS)
      status.textContent = `${found.length} results, the first ${MAX_RESULTS} are shown`;
  }
  async function find() {
    const query = input.value;
    const words = wordsOf(query);
    if (words.length === 0) {
      results.replaceChildren();
      status.textContent = '';
      return;
    }
    try {
      const scored = (await load())
        .map(entry => ({ entry, points: score(entry, words) }))
        .filter(({ points }) => points > 0)
        .sort((a, b) => b.points - a.points);
      if (input.value === query)
        showResults(
          scored.map(({ entry }) => entry),
          words,
        );
    } catch {
      status.textContent = 'Could not load the search index. Try again.';
    }
  }
  input.addEventListener('focus', () => load().catch(() => undefined), { once: true });
  input.addEventListener('input', find);
  search.addEventListener('keydown', event => {
    const links = [input, ...results.querySelectorAll('a')];
    const at = links.indexOf(document.activeElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && links[at + step]) {
      event.preventDefault();
      links[at + step].focus();
    }
    if (event.key === 'Enter' && document.activeElement === input) links[1]?.click();
    if (event.key === 'Escape') {
      input.value = '';
      input.focus();
      void find();
    }
  });
  document.addEventListener('keydown', event => {
    const typing = event.target.closest('input, textarea, select');
    if (event.key === '/' && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      input.focus();
    }
  });
  search.hidden = false;
}
