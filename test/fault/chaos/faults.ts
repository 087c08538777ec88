// The faults of a chaos run. Each breaks one part of a deployment for a random time and then
// repairs it.
import { setTimeout as sleep } from 'node:timers/promises';
import { chromeProcesses } from '../harness/chrome-processes.ts';
import type { ApiReplica, Deployment, Replica } from '../harness/deployment.ts';
import { commandOf } from '../harness/frames.ts';
import type { FrameRule, Link } from '../harness/link.ts';
import type { Chance } from '../harness/random.ts';

export interface Fault {
  name: string;
  /** The parts that it breaks: two faults never break the same part at the same time. */
  targets: string[];
  run(): Promise<void>;
}

/** What the faults did, for the judgement at the end. */
export interface Harm {
  /** Processes that were killed before they could write pending data. */
  killed: Set<number>;
  /** Broken promises that a fault observed itself. */
  violations: string[];
}

const killQuietly = (pid: number, signal: NodeJS.Signals) => {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended meanwhile.
  }
};

/** All faults that this deployment allows, with their own random numbers. */
export function faultsOf(deployment: Deployment, chance: Chance, harm: Harm): Fault[] {
  const lasting = (from: number, to: number) => sleep(chance.int(from, to));

  const killed = async (replica: Replica) => {
    harm.killed.add(replica.process.pid);
    await replica.process.kill();
    await lasting(0, 3_000);
    await replica.start();
  };
  const drained = async (replica: Replica) => {
    const { name } = replica.process;
    const code = await replica.process.kill('SIGTERM');
    if (code !== 0) harm.violations.push(`${name} was asked to stop and ended with ${code}`);
    await lasting(0, 1_000);
    await replica.start();
  };
  const frozen = async (replica: Replica, longestMs: number) => {
    await replica.process.freeze();
    await lasting(500, longestMs);
    replica.process.thaw();
  };
  const chrome = async (replica: Replica, kinds: string[], act: (pid: number) => Promise<void>) => {
    const found = chromeProcesses(replica.process.pid).filter(({ kind }) => kinds.includes(kind));
    if (found.length > 0) await act(chance.pick(found).pid);
  };
  const link = async (which: Link, harmIt: () => void, longestMs: number) => {
    harmIt();
    await lasting(200, longestMs);
    which.heal();
  };
  const answers =
    (name: string): FrameRule['matches'] =>
    (_frame, { before }) =>
      before !== undefined && commandOf(before) === name;

  const ofApi = (api: ApiReplica, index: number): Fault[] => {
    const name = `api ${index + 1}`;
    const whole = (what: string, run: () => Promise<void>): Fault => ({
      name: `${what} ${name}`,
      targets: [name],
      run,
    });
    return [
      whole('kill', () => killed(api)),
      whole('drain', () => drained(api)),
      // Longer than a lease lives.
      whole('freeze', () => frozen(api, 20_000)),
      ...api.toWorkers.flatMap((each, worker) => {
        const path = `${name} to worker ${worker + 1}`;
        const fault = (what: string, harmIt: () => void, longestMs: number): Fault => ({
          name: `${what} ${path}`,
          targets: [path],
          run: () => link(each, harmIt, longestMs),
        });
        return [
          fault('swallow', () => each.swallow(chance.pick(['up', 'down', 'both'])), 15_000),
          fault('cut', () => each.cut(), 300),
          fault('refuse', () => each.refuse(), 5_000),
          fault('delay', () => each.delay(chance.int(20, 800)), 5_000),
        ];
      }),
      ...(api.toMongod ? ofMongodLink(api.toMongod, `${name} to mongod`) : []),
    ];
  };

  const ofMongodLink = (each: Link, path: string): Fault[] => {
    const fault = (what: string, harmIt: () => void, longestMs: number): Fault => ({
      name: `${what} ${path}`,
      targets: [path],
      run: () => link(each, harmIt, longestMs),
    });
    const onAnswers = (what: string, action: FrameRule['do']) =>
      fault(
        `${what} answers,`,
        () =>
          each.onFrame({
            direction: 'down',
            matches: answers(chance.pick(['findAndModify', 'update'])),
            do: action,
            times: chance.int(1, 5),
          }),
        3_000,
      );
    return [
      fault('swallow', () => each.swallow(chance.pick(['up', 'down', 'both'])), 15_000),
      fault('cut', () => each.cut(), 300),
      fault('refuse', () => each.refuse(), 5_000),
      fault('delay', () => each.delay(chance.int(20, 1_500)), 5_000),
      onAnswers('cut', 'cut'),
      onAnswers('lose', 'lose'),
      onAnswers('delay', { delayMs: chance.int(100, 3_000) }),
    ];
  };

  const ofWorker = (worker: Replica, index: number): Fault[] => {
    const name = `worker ${index + 1}`;
    const fault = (what: string, run: () => Promise<void>): Fault => ({
      name: `${what} ${name}`,
      targets: [name],
      run,
    });
    return [
      fault('kill', () => killed(worker)),
      fault('drain', () => drained(worker)),
      // Shorter than the silence after which its renders start elsewhere: no process can end a page
      // that a standing process holds.
      fault('freeze', () => frozen(worker, 5_000)),
      fault('kill the browser of', () =>
        chrome(worker, ['browser'], async pid => killQuietly(pid, 'SIGKILL')),
      ),
      fault('kill a renderer of', () =>
        chrome(worker, ['renderer'], async pid => killQuietly(pid, 'SIGKILL')),
      ),
      fault('kill a helper of', () =>
        chrome(worker, ['gpu-process', 'utility', 'zygote'], async pid =>
          killQuietly(pid, 'SIGKILL'),
        ),
      ),
      fault('freeze a Chrome process of', () =>
        chrome(worker, ['browser', 'renderer'], async pid => {
          killQuietly(pid, 'SIGSTOP');
          await lasting(500, 6_000);
          killQuietly(pid, 'SIGCONT');
        }),
      ),
    ];
  };

  const mongod = (what: string, run: () => Promise<void>): Fault => ({
    name: `${what} mongod`,
    targets: ['mongod'],
    run,
  });
  const ofMongod: Fault[] = [
    mongod('freeze', async () => {
      const member = chance.pick(deployment.cluster.members);
      await member.freeze();
      await lasting(500, 8_000);
      member.thaw();
    }),
    mongod('kill', async () => {
      const member = chance.pick(deployment.cluster.members);
      await member.kill();
      await lasting(0, 5_000);
      await member.start();
    }),
    mongod('fail in', async () => {
      const data = chance.pick([
        { closeConnection: true },
        { writeConcernError: { code: 64, errmsg: 'waiting for replication timed out' } },
        { errorCode: 11602, errorLabels: ['RetryableWriteError'] },
        { blockConnection: true, blockTimeMS: chance.int(200, 3_000) },
      ]);
      await deployment.cluster.fail(
        chance.pick([['findAndModify'], ['update'], ['findAndModify', 'update', 'find']]),
        data,
        {
          times: chance.int(1, 10),
        },
      );
      await lasting(500, 3_000);
      await deployment.cluster.working();
    }),
    ...(deployment.cluster.members.length > 1
      ? [mongod('step down in', () => deployment.cluster.stepDown())]
      : []),
  ];

  return [...deployment.apis.flatMap(ofApi), ...deployment.workers.flatMap(ofWorker), ...ofMongod];
}
