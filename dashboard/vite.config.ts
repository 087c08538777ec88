// How the page is built: into dashboard/dist, with hashed names, for /app/.
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { LICENSES, pagePackages } from './page-packages.ts';

export default defineConfig({
  root: import.meta.dirname,
  base: '/app/',
  plugins: [react(), pagePackages()],
  // Replaced in each answer: the page's components put style elements into the document.
  html: { cspNonce: '__NONCE__' },
  build: {
    outDir: 'dist',
    assetsDir: 'assets',
    emptyOutDir: true,
    license: { fileName: LICENSES },
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
    // Browsers with light-dark(): written out for older ones it would need the colour scheme to be
    // set beside it.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
  },
});
