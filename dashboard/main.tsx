// Entry point of the dashboard: theme, query cache and router around the shell.
// Layered style sheets: unlayered styles of the dashboard override them in any load order.
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
    // A server at localhost or in the intranet also answers a browser that calls itself offline.
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      staleTime: 5_000,
      // Retries only network errors and server errors.
      retry: (failures, error) =>
        failures < 2 &&
        (!(error instanceof CallFailed) || error.status === 0 || error.status >= 500),
    },
  },
});

const nonce = document.querySelector<HTMLScriptElement>('script[nonce]')?.nonce ?? '';
// The dialogs' scroll lock adds a style element and reads its nonce from this global.
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
