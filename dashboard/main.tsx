// The page's entry: theme, data cache, router; then the shell.
import '@mantine/core/styles.css';
import { createTheme, MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import { CallFailed } from './api.ts';
import { Shell } from './shell.tsx';

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // Only what may pass by itself is asked for again.
      retry: (failures, error) => failures < 2 && (!(error instanceof CallFailed) || error.status === 0 || error.status >= 500),
    },
  },
});

const theme = createTheme({ primaryColor: 'indigo', defaultRadius: 'md', cursorType: 'pointer' });
const nonce = document.querySelector<HTMLScriptElement>('script[nonce]')?.nonce ?? '';

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={() => nonce}>
      <QueryClientProvider client={queries}>
        <Router base="/app">
          <Shell />
        </Router>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
