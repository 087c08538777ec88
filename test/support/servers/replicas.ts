// Two API processes of one installation with one worker, behind a round-robin load balancer at the
// public URL.
import { type ConsoleFixture, consoleFixture } from '../console/console-fixture.ts';
import { type RoundRobin, roundRobin } from './round-robin.ts';

export interface Replicas {
  /** The first API process; gives tests access to the database. */
  fixture: ConsoleFixture;
  front: RoundRobin;
  stop(): Promise<void>;
}

export async function replicas(
  options: Pick<NonNullable<Parameters<typeof consoleFixture>[0]>, 'clientFetch'> = {},
): Promise<Replicas> {
  const front = await roundRobin();
  const env = { PRESSROOM_PUBLIC_URL: front.url };
  const fixtures: ConsoleFixture[] = [];
  const stop = async () => {
    await front.stop();
    for (const fixture of fixtures.toReversed()) await fixture.stop();
  };
  try {
    const fixture = await consoleFixture({ ...options, env });
    fixtures.push(fixture);
    fixtures.push(
      await consoleFixture({
        ...options,
        env: { ...env, PRESSROOM_WORKERS: fixture.worker.address },
        uri: fixture.uri,
        workers: 0,
      }),
    );
    front.setTargets(fixtures.map(({ api }) => api.port()));
    return { fixture, front, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
