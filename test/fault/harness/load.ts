// Steady load: a number of callers, each with one call after another, until they are stopped.
import type { Answer, Call } from '../../support/http-call.ts';

export interface Load {
  /** Number of responses so far. */
  answered(): number;
  /** Resolves after this number of responses. */
  until(count: number): Promise<void>;
  /** Stops new calls. Resolves with all responses, or the error of a broken connection. */
  stop(): Promise<(Answer | Error)[]>;
}

export function startLoad(callers: number, call: () => Call): Load {
  const answers: (Answer | Error)[] = [];
  let stopped = false;
  let onAnswer: (() => void)[] = [];

  async function caller(): Promise<void> {
    while (!stopped) {
      answers.push(await call().catch((error: Error) => error));
      for (const look of onAnswer) look();
    }
  }
  const all = Array.from({ length: callers }, caller);

  return {
    answered: () => answers.length,
    until: count =>
      new Promise(resolve => {
        const look = () => {
          if (answers.length < count) return;
          onAnswer = onAnswer.filter(each => each !== look);
          resolve();
        };
        onAnswer.push(look);
        look();
      }),
    stop: async () => {
      stopped = true;
      await Promise.all(all);
      return answers;
    },
  };
}

/** The failures as sentences; empty when every response is a PDF. */
export const failuresOf = (answers: (Answer | Error)[]): string[] =>
  answers
    .filter(answer => answer instanceof Error || answer.status !== 200)
    .map(answer =>
      answer instanceof Error ? `no answer: ${answer.message}` : `${answer.status} ${answer.body}`,
    );
