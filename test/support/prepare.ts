// Installs what the tests need besides npm packages: Chrome, mongod, the built dashboard, tools of
// poppler, iproute2 and NSS, and fonts.
import { aptInstall } from '../../standalone/apt.ts';
import { findOnPath } from '../../standalone/cache.ts';
import { findOrInstallChrome } from '../../standalone/chrome.ts';
import { buildDashboard } from '../../standalone/dashboard.ts';
import { scriptsWithoutFont } from '../../standalone/fonts.ts';
import { findOrInstallMongod } from '../../standalone/mongod-binary.ts';
import type { Notify } from '../../standalone/run-command.ts';
import { readWorkerConfig } from '../../worker/config.ts';

/** Tests of scripts without an installed font skip themselves. */
async function installFonts(executable: string, notify: Notify): Promise<void> {
  const missing = await scriptsWithoutFont({ ...readWorkerConfig(process.env).chrome, executable });
  const packages = new Set(missing.map(({ fontPackage }) => fontPackage));
  if (packages.size > 0) await aptInstall([...packages], notify);
}

/** Programs that tests run and their Debian packages. */
const TOOLS = { pdftotext: 'poppler-utils', ip: 'iproute2', certutil: 'libnss3-tools' };

/** Returns the executable of Chrome. Throws an Error that names what could not be installed. */
export async function prepareTests(notify: Notify): Promise<string> {
  const chrome = await findOrInstallChrome(
    process.env,
    notify,
    readWorkerConfig(process.env).chrome.uid,
  );
  await findOrInstallMongod(process.env, notify);
  await buildDashboard(notify);
  for (const [program, aptPackage] of Object.entries(TOOLS))
    if (!findOnPath([program], process.env)) await aptInstall([aptPackage], notify);
  await installFonts(chrome, notify).catch(error =>
    notify(`Could not check the fonts: ${error.message}`),
  );
  return chrome;
}
