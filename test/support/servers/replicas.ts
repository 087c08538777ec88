// Two API processes of one installation with one worker, behind a round-robin front whose address
// is the installation's own.
import { type ConsoleRig, consoleRig } from '../console/console-rig.ts';
import { type RoundRobin, roundRobin } from './round-robin.ts';

export interface Replicas {
  /** The first of them, by which the test looks at what is stored. */
  rig: ConsoleRig;
  front: RoundRobin;
  stop(): Promise<void>;
}

export async function replicas(
  options: Pick<NonNullable<Parameters<typeof consoleRig>[0]>, 'clientFetch'> = {},
): Promise<Replicas> {
  const front = await roundRobin();
  const env = { PRESSROOM_PUBLIC_URL: front.url };
  const rigs: ConsoleRig[] = [];
  const stop = async () => {
    await front.stop();
    for (const rig of rigs.toReversed()) await rig.stop();
  };
  try {
    const rig = await consoleRig({ ...options, env });
    rigs.push(rig);
    rigs.push(
      await consoleRig({
        ...options,
        env: { ...env, PRESSROOM_WORKERS: rig.worker.address },
        uri: rig.uri,
        workers: 0,
      }),
    );
    front.leadTo(rigs.map(({ api }) => api.port()));
    return { rig, front, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
