// The pages work without this. It takes a link's token out of the address into its field, where nobody else gets to see it, lets a password be looked at, and has a
// consent wait until it was in view for a moment.
const tokenField = document.querySelector('input[name=token]');
function takeToken() {
  const fragment = location.hash.slice(1);
  if (!tokenField || !/^[\w-]{43}$/.test(fragment)) return;
  tokenField.value = fragment;
  tokenField.dispatchEvent(new Event('input'));
  history.replaceState(null, '', location.pathname + location.search);
  if (document.activeElement !== tokenField && document.activeElement !== document.body) return;
  for (const field of document.querySelectorAll('form input:not([type=hidden])')) {
    if (field.value === '') {
      field.focus();
      break;
    }
  }
}
// A field's error describes its previous value: it is removed when the value changes.
for (const field of document.querySelectorAll('input[aria-invalid]')) {
  const error = document.getElementById(`${field.name}-error`);
  const forget = () => {
    error.remove();
    field.removeAttribute('aria-invalid');
    field.setAttribute(
      'aria-describedby',
      field.getAttribute('aria-describedby').replace(error.id, '').trim(),
    );
  };
  field.addEventListener('input', forget, { once: true });
}
takeToken();
// Opening a link in a tab that already shows its page changes only the fragment.
addEventListener('hashchange', takeToken);
for (const field of document.querySelectorAll('input[type=password]')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Show';
  button.setAttribute('aria-label', 'Show the password');
  button.setAttribute('aria-pressed', 'false');
  button.addEventListener('click', () => {
    const hidden = field.type === 'password';
    field.type = hidden ? 'text' : 'password';
    button.textContent = hidden ? 'Hide' : 'Show';
    button.setAttribute('aria-pressed', String(hidden));
  });
  field.parentElement.classList.add('with-button');
  field.after(button);
}
// Another site may have somebody click twice, and have this page stand there in time for the second click: shown or uncovered a moment ago, what gives something away takes none.
const allow = document.querySelector('button[value=allow]');
if (allow) {
  let waiting;
  const wait = () => {
    allow.setAttribute('aria-disabled', 'true');
    clearTimeout(waiting);
    waiting = setTimeout(() => allow.removeAttribute('aria-disabled'), 700);
  };
  wait();
  addEventListener('focus', wait);
  addEventListener('pageshow', wait);
  allow.addEventListener('click', event => {
    if (allow.hasAttribute('aria-disabled')) event.preventDefault();
  });
}
