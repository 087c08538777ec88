// The life of a render on its page, as steps in order. Each owns one thing that is done or waited
// for; the conversation runs them under one deadline.

import { css } from './css.ts';
import { javascript } from './javascript.ts';
import { lazyImages } from './lazy-images.ts';
import { load } from './load.ts';
import type { Page } from './page.ts';
import type { RenderSettings } from './render-settings.ts';
import { delay, expression, fonts, networkIdle, selector } from './waits.ts';

export interface Step {
  /** What the caller reads when the deadline passes here: "it was still waiting for …". */
  waitingFor: string;
  phase: 'load' | 'wait';
  wanted(settings: RenderSettings): boolean;
  run(page: Page): Promise<void>;
}

const always = () => true;

/**
 * The order is the contract's: load event, fonts, css, javascript, lazy images, selector,
 * expression, network idle, delay, then print.
 */
export const STEPS: Step[] = [
  { waitingFor: "the page's load event", phase: 'load', wanted: always, run: load },
  {
    waitingFor: "the page's fonts",
    phase: 'load',
    wanted: settings => !settings.isStatic,
    run: fonts,
  },
  {
    waitingFor: 'css to be loaded and applied',
    phase: 'wait',
    wanted: settings => settings.css !== undefined,
    run: css,
  },
  {
    waitingFor: 'javascript to end, and what it promises',
    phase: 'wait',
    wanted: settings => settings.javascript !== undefined,
    run: javascript,
  },
  {
    waitingFor: 'lazy_load_images to see the whole page',
    phase: 'wait',
    wanted: settings => settings.lazyImages,
    run: lazyImages,
  },
  {
    waitingFor: 'wait_for_selector to match an element',
    phase: 'wait',
    wanted: settings => settings.waits.selector !== undefined,
    run: selector,
  },
  {
    waitingFor: 'wait_for_expression to be truthy',
    phase: 'wait',
    wanted: settings => settings.waits.expression !== undefined,
    run: expression,
  },
  {
    waitingFor: 'the network to be idle (wait_for_network_idle)',
    phase: 'wait',
    wanted: settings => settings.waits.networkIdle,
    run: networkIdle,
  },
  {
    waitingFor: 'wait_delay',
    phase: 'wait',
    wanted: settings => settings.waits.delayMs > 0,
    run: delay,
  },
];
