const roundMs = 2;

let waiting = 0;
let endsAtMs = 0;
let isNew = true;

/**
 * Bounds what requests take in one turn of the event loop, because libuv accepts one connection a turn
 * (libuv/libuv#3696): a newcomer waited for as many rounds of all busy clients as connections were ahead of its own.
 *
 * @returns `undefined` if a request may begin; otherwise it may once this resolves, first come, first served
 */
export function shortRound(): Promise<void> | undefined {
  if (waiting === 0 && hasTime()) return undefined;
  waiting++;
  return new Promise((begin) => setImmediate(goOn, begin));
}

function goOn(begin: () => void): void {
  if (!hasTime()) {
    setImmediate(goOn, begin);
    return;
  }
  waiting--;
  begin();
}

function hasTime(): boolean {
  const nowMs = performance.now();
  if (isNew) {
    isNew = false;
    endsAtMs = nowMs + roundMs;
    setImmediate(() => {
      isNew = true;
    });
  }
  return nowMs < endsAtMs;
}
