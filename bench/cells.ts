// The cells of a run, each one document with a number of callers, and the options that select them.
// Pure.
import { parseArgs } from 'node:util';
import { type By, DOCUMENTS, type DocumentName, documents } from './documents.ts';
import { ENGINES } from './engine.ts';

export const SIDES = ['bare', 'pressroom', ...ENGINES.filter(engine => engine !== 'bare')] as const;
export type SideName = (typeof SIDES)[number];

export interface Cell {
  document: DocumentName;
  by: By;
  callers: number;
  /** With the watermark, which only Pressroom draws. */
  stamped: boolean;
  sides: readonly SideName[];
  rounds: number;
}

export interface Options {
  rounds: number;
  renders: number;
  callers: readonly number[];
  documents: readonly DocumentName[];
  sides: readonly SideName[];
}

/** All documents are compared with this number of callers. */
const USUAL_CALLERS = 2;
const USUAL_DOCUMENT = 'invoice';
/** Documents that are also compared by URL and with the watermark. */
const IN_ALL_WAYS: readonly DocumentName[] = ['invoice', 'report'];
/** Peers take part in every third round: they are slow, and their figures need less precision. */
const PEERS_EVERY = 3;
const DEFAULT_CALLERS = [1, 2, 4, 8, 32];

const words = (text: string) => text.split(',').map(word => word.trim());

function chosen<T extends string>(
  option: string,
  text: string | undefined,
  known: readonly T[],
): readonly T[] {
  if (text === undefined) return known;
  const names = words(text);
  for (const word of names)
    if (!known.includes(word as T))
      throw new Error(`--${option} ${text}: \`${word}\` is not one of ${known.join(', ')}`);
  return known.filter(each => names.includes(each));
}

function wholeNumber(option: string, text: string, most: number): number {
  const number = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > most)
    throw new Error(`--${option} ${text}: must be a whole number from 1 to ${most}`);
  return number;
}

/** Parses the command line. Throws an Error with the option and its accepted values. */
export function readOptions(args: string[]): Options {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args,
    options: { rounds: text, renders: text, callers: text, documents: text, sides: text },
  });
  return {
    rounds: wholeNumber('rounds', values.rounds ?? '6', 1_000),
    renders: wholeNumber('renders', values.renders ?? '48', 10_000),
    callers:
      values.callers === undefined
        ? DEFAULT_CALLERS
        : [...new Set(words(values.callers).map(each => wholeNumber('callers', each, 32)))],
    documents: chosen('documents', values.documents, DOCUMENTS),
    sides: chosen('sides', values.sides, SIDES),
  };
}

/**
 * Not all combinations: the invoice with all numbers of callers, other documents with two callers
 * in half of the rounds.
 */
export function cellsOf({ rounds, callers, documents: names, sides }: Options): Cell[] {
  const fewer = Math.ceil(rounds / 2);
  const least = Math.ceil(rounds / 3);
  const usual = callers.includes(USUAL_CALLERS) ? USUAL_CALLERS : callers[0]!;
  const plain = { by: 'html', stamped: false, sides } as const;
  const inAllWays = IN_ALL_WAYS.filter(name => names.includes(name));
  return [
    ...(names.includes(USUAL_DOCUMENT)
      ? callers.map(count => ({
          ...plain,
          document: USUAL_DOCUMENT as DocumentName,
          callers: count,
          rounds,
        }))
      : []),
    ...names
      .filter(name => name !== USUAL_DOCUMENT)
      .map(document => ({
        ...plain,
        document,
        callers: usual,
        rounds: documents[document].share < 0.1 ? least : fewer,
      })),
    ...inAllWays.map(document => ({
      ...plain,
      document,
      by: 'url' as const,
      callers: usual,
      rounds: fewer,
    })),
    ...(sides.includes('pressroom')
      ? inAllWays.map(document => ({
          ...plain,
          document,
          callers: usual,
          rounds: fewer,
          stamped: true,
          sides: sides.filter(side => side === 'bare' || side === 'pressroom'),
        }))
      : []),
  ];
}

/**
 * The sides of a round in order. The first side rotates, so that changes of the machine affect all
 * sides equally.
 */
export function turnOf({ sides }: Cell, round: number): SideName[] {
  const present = sides.filter(
    side => side === 'bare' || side === 'pressroom' || round % PEERS_EVERY === 0,
  );
  return [...present.slice(round % present.length), ...present.slice(0, round % present.length)];
}

/**
 * Renders per round: a quarter for puppeteer and half for puppeteer-cluster, because they are
 * slower.
 */
export function rendersOf({ document }: Cell, side: SideName, renders: number): number {
  const bySide = { bare: 1, pressroom: 1, puppeteer: 1 / 4, 'puppeteer-cluster': 1 / 2 }[side];
  return Math.max(2, Math.round(renders * documents[document].share * bySide));
}

export const nameOf = ({ document, by, stamped, callers }: Cell) =>
  `${document}${by === 'url' ? ' by URL' : ''}${stamped ? ', watermark' : ''}, ${callers} caller${callers > 1 ? 's' : ''}`;
