// The page's entry: theme, data cache, router; then the shell.
// In a layer, so that our own styles win in whatever order they are loaded.
import '@mantine/core/styles.layer.css';
import '@mantine/notifications/styles.layer.css';
import './theme.css';
import { localStorageColorSchemeManager, MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import { CallFailed } from './session/api.ts';
import { Shell } from './shell/shell.tsx';
import { theme } from './theme.ts';

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // Only what may pass by itself is asked for again.
      retry: (failures, error) =>
        failures < 2 &&
        (!(error instanceof CallFailed) || error.status === 0 || error.status >= 500),
    },
  },
});

const nonce = document.querySelector<HTMLScriptElement>('script[nonce]')?.nonce ?? '';
// The scroll lock of dialogs writes a style element too, and looks for the nonce under this name.
Object.assign(globalThis, { __webpack_nonce__: nonce });
const colorSchemes = localStorageColorSchemeManager({ key: 'pressroom-colors' });

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      colorSchemeManager={colorSchemes}
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={queries}>
        <Router base="/app">
          <Shell />
        </Router>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
