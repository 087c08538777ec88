// The Vite build of the dashboard: dashboard/dist with hashed file names, served under /app/.
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { LICENSES, pagePackages } from './page-packages.ts';

export default defineConfig({
  root: import.meta.dirname,
  base: '/app/',
  plugins: [react(), pagePackages()],
  // The server replaces the nonce in each response. Components add style elements at run time.
  html: { cspNonce: '__NONCE__' },
  build: {
    outDir: 'dist',
    assetsDir: 'assets',
    emptyOutDir: true,
    license: { fileName: LICENSES },
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
    // Browsers with native light-dark(). The fallback for older browsers needs extra markup.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
  },
});
