// Steady load: so many callers who each call again as soon as they are answered, until they are
// told to stop.
import type { Answer, Call } from '../../support/http-call.ts';

export interface Load {
  /** Calls that have been answered so far. */
  answered(): number;
  /** Resolves when so many have been. */
  until(count: number): Promise<void>;
  /**
   * Nobody calls again. Resolves with all answers when the last has come; a connection that broke
   * is its error.
   */
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

/** What went wrong, in words; empty when every answer is a PDF. */
export const failuresOf = (answers: (Answer | Error)[]): string[] =>
  answers
    .filter(answer => answer instanceof Error || answer.status !== 200)
    .map(answer =>
      answer instanceof Error ? `no answer: ${answer.message}` : `${answer.status} ${answer.body}`,
    );
