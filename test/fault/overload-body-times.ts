// Preloaded into an API process (`node --import`): shortens the timeout of a silent body from 10 s
// to 3 s.
import { BODY_TIMES } from '../../api/http/body.ts';

Object.assign(BODY_TIMES, { silentMs: 3_000 });
