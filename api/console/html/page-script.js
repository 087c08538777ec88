// The pages work without this script. It moves the token of a link from the URL into its field, adds
// a button that shows the password, and delays the button that allows a consent.
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
  const removeError = () => {
    error.remove();
    field.removeAttribute('aria-invalid');
    field.setAttribute(
      'aria-describedby',
      field.getAttribute('aria-describedby').replace(error.id, '').trim(),
    );
  };
  field.addEventListener('input', removeError, { once: true });
}
takeToken();
// Opening a link in a tab that already shows its page changes only the fragment.
addEventListener('hashchange', takeToken);
for (const field of document.querySelectorAll('input[type=password]')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Show';
  button.setAttribute('aria-label', 'Show password');
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
// Clickjacking by double click: another site may show this page just before the second click. The
// button therefore ignores clicks for a moment after the page appears or gets the focus.
const allow = document.querySelector('button[value=allow]');
if (allow) {
  let timer;
  const disableBriefly = () => {
    allow.setAttribute('aria-disabled', 'true');
    clearTimeout(timer);
    timer = setTimeout(() => allow.removeAttribute('aria-disabled'), 700);
  };
  disableBriefly();
  addEventListener('focus', disableBriefly);
  addEventListener('pageshow', disableBriefly);
  allow.addEventListener('click', event => {
    if (allow.hasAttribute('aria-disabled')) event.preventDefault();
  });
}
