// Set-up of a suite of HTTP tests: one lease fixture for the suite, one HTTP server for each test.
import { type HttpFixture, type HttpFixtureOptions, httpFixture } from './http-fixture.ts';
import { type LeaseFixture, leaseFixture } from './lease-fixture.ts';

export interface HttpSuite {
  readonly fixture: LeaseFixture;
  /** The server of the running test. Available after `serve`. */
  readonly http: HttpFixture;
  /** Starts the server of the running test. It stops after the test. */
  serve(options?: HttpFixtureOptions): Promise<HttpFixture>;
  /** Starts the server and opens a connection to it. */
  connect(options?: HttpFixtureOptions): ReturnType<HttpFixture['open']>;
}

/** Call inside `describe`. */
export function httpSuite(): HttpSuite {
  let fixture: LeaseFixture;
  let http: HttpFixture | undefined;
  const serve = async (options?: HttpFixtureOptions) => {
    http = await httpFixture(fixture, options);
    return http;
  };
  before(async () => {
    fixture = await leaseFixture();
  });
  afterEach(async () => {
    await http?.close();
    await fixture.reset();
  });
  after(() => fixture?.close());
  return {
    get fixture() {
      return fixture;
    },
    get http() {
      return http!;
    },
    serve,
    connect: async options => (await serve(options)).open(),
  };
}
