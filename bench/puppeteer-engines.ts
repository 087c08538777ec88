// Engines based on npm packages: puppeteer with a new Chrome per render, and puppeteer-cluster with
// a context per render. Written as in their documentation, with the same Chrome, sandbox, paper
// size and waits as the other sides.
import { availableParallelism } from 'node:os';
import puppeteer, { type LaunchOptions, type Page } from 'puppeteer';
import { findChrome } from '../worker/browser/find-chrome.ts';
import { readWorkerConfig } from '../worker/config.ts';
import type { Job } from './documents.ts';
import type { Engine } from './engine.ts';

const MARGIN = '0.4in';
const PAPER = {
  width: '210mm',
  height: '297mm',
  margin: { top: MARGIN, right: MARGIN, bottom: MARGIN, left: MARGIN },
};

/** page.pdf waits for fonts. */
async function print(page: Page, { source, until }: Job): Promise<Buffer> {
  if ('url' in source) await page.goto(source.url, { waitUntil: 'load' });
  else await page.setContent(source.html, { waitUntil: 'load' });
  if (until) await page.evaluate(until);
  return Buffer.from(
    await page.pdf({ ...PAPER, printBackground: true, scale: 1, tagged: false, outline: false }),
  );
}

function launchOptions(env: NodeJS.ProcessEnv): LaunchOptions {
  const { executable, sandbox } = readWorkerConfig(env).chrome;
  return {
    executablePath: findChrome(executable),
    headless: 'shell',
    args: sandbox ? [] : ['--no-sandbox'],
  };
}

async function versionOf(options: LaunchOptions): Promise<string> {
  const browser = await puppeteer.launch(options);
  try {
    return await browser.version();
  } finally {
    await browser.close();
  }
}

export async function openPuppeteer(env: NodeJS.ProcessEnv): Promise<Engine> {
  const options = launchOptions(env);
  return {
    version: await versionOf(options),
    render: async job => {
      const browser = await puppeteer.launch(options);
      try {
        return await print(await browser.newPage(), job);
      } finally {
        await browser.close();
      }
    },
    close: async () => {},
  };
}

export async function openPuppeteerCluster(env: NodeJS.ProcessEnv): Promise<Engine> {
  const { Cluster } = await import('puppeteer-cluster');
  const puppeteerOptions = launchOptions(env);
  const cluster = await Cluster.launch({
    concurrency: Cluster.CONCURRENCY_CONTEXT,
    maxConcurrency: availableParallelism(),
    timeout: 120_000,
    puppeteer,
    puppeteerOptions,
  });
  await cluster.task(({ page, data }: { page: Page; data: Job }) => print(page, data));
  return {
    version: await versionOf(puppeteerOptions),
    render: job => cluster.execute(job),
    close: async () => {
      await cluster.idle();
      await cluster.close();
    },
  };
}
