// The color scheme chosen in the dashboard, set before the page is painted.
try {
  const chosen = localStorage.getItem('mantine-color-scheme-value');
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
} catch {
  // The browser blocks storage: the page follows the system.
}
